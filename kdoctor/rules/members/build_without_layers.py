"""`Sequential().build(shape)`: a model without layers can no longer be built."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import binding_of
from kdoctor.analysis.dataflow.statements import remove_statement
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

BUILDS = calls("build", on=Instance(Kind.MODEL, cls="Sequential"))


@rule("KD245", severity=Severity.ERROR, since="3.0", look_for=BUILDS)
def check(build: Call) -> Finding | None:
    """Report each call of `build` right after the model was made without layers."""
    model = build.node.func.value if isinstance(build.node.func, cst.Attribute) else None
    if not isinstance(model, cst.Name) or not _has_no_layers_yet(build.module, model):
        return None
    return build.finding(
        "the model has no layers yet: ValueError: Sequential model cannot be built because it has "
        "no layers",
        help="Leave it out. `model.add(keras.Input(shape))` before the layers builds the model as "
        "they are added; without it, the first call does.",
        fix=_fix(build, model),
    )


def _has_no_layers_yet(module: Module, model: cst.Name) -> bool:
    """Say whether it is read here first, in the block that made it of nothing."""
    binding = binding_of(module, model)
    made = None if binding is None or binding.path else binding.value
    if binding is None or not isinstance(made, cst.Call):
        return False
    named = all(each.keyword is not None and each.keyword.value == "name" for each in made.args)
    first = min(reads_of(module, binding.node), key=module.span, default=None)
    blocks = {_block(module, each) for each in (binding.node, model)}
    return named and first is model and len(blocks) == 1


def _block(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    lines = (each for each in module.ancestors(node) if isinstance(each, cst.SimpleStatementLine))
    line = next(lines, None)
    return None if line is None else module.parent(line)


def _fix(build: Call, model: cst.Name) -> Fix | NoFix:
    module, binding = build.module, binding_of(build.module, model)
    uses = [] if binding is None else [*reads_of(module, binding.node)]
    members = {
        above.attr.value for each in uses if isinstance(above := module.parent(each), cst.Attribute)
    }
    if members & {"add", "pop", "built"}:
        return NoFix("which layers are built by it, and when, is for you to say")
    if not isinstance(module.parent(build.node), cst.Expr):
        return NoFix("it is no statement of its own")
    return build.fix(
        "Leave it out",
        remove_statement(module, build.node),
        unsafe_because="Keras 2 called the model built from here on",
    )
