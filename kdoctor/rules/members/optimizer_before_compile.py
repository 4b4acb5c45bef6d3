"""`model.optimizer is None`: before `compile` a Keras 3 model has no such attribute."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.fallback_helpers import handles_only_attribute_error
from kdoctor.value_types import Kind


@rule(
    "KD235",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads("optimizer", on=Kind.MODEL, tested=True),
)
def check(read: Read) -> Finding | None:
    """Report each such question."""
    module, node = read.module, read.node
    if not isinstance(node.value, cst.Name) or _is_caught(module, node):
        return None
    if _is_trained_meanwhile(module, node):
        return None
    return None if _is_compiled_above(read, node.value.value) else _finding(read)


def _is_trained_meanwhile(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is of the object that a method is called on."""
    points_to = points_to_of(module)
    function = points_to.function_around(node)
    if function is None or points_to.class_around(function) is None:
        return False
    return member_of_self(node, function) is not None


def _is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a handler around it waits for attributes that are lacking."""
    return any(
        isinstance(each, cst.Try) and any(map(handles_only_attribute_error, each.handlers))
        for each in module.ancestors(node)
    )


def _is_compiled_above(read: Read, name: str) -> bool:
    """Say whether a model of that name is, or may be, compiled above it in the same function."""
    module = read.module
    place, around = module.span(read.node).start, points_to_of(module).function_around
    return any(
        isinstance(each.node.value, cst.Name)
        and each.node.value.value == name
        and module.span(each.node).start < place
        and around(each.node) is around(read.node)
        for each in module.members_named("compile")
    )


def _finding(read: Read) -> Finding:
    module = read.module
    model = Hole(module.span(read.node.value))
    edit = Edit(module.outer_span(read.node), ("getattr(", model, ', "optimizer", None)'))
    cls = read.owner.cls or "Functional"  # as models of inputs and outputs are
    return read.finding(
        "before `compile` a model has no optimizer, not even None: AttributeError: "
        f"'{cls}' object has no attribute 'optimizer'",
        symbol="Model.optimizer",
        help='Write `getattr(model, "optimizer", None)`.',
        fix=read.fix("Read the optimizer with `getattr`", edit)
        if has_builtin(module, read.node, "getattr")
        else NoFix(hidden_builtin("getattr")),
    )
