"""`model.build()` of a `Sequential` that begins with `Embedding`: it makes no weights."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, value_of
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_TELL_A_SHAPE: Final = frozenset(
    {"batch_input_shape", "batch_shape", "input_length", "input_shape"}
)


@rule(
    "KD250",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls("build", on=Instance(Kind.MODEL, "Sequential")),
)
def check(build: Call) -> Finding | None:
    """Report each such call without a shape."""
    module = build.module
    if build.node.args or build.use is None or not _begins_with_embedding(module, build.node):
        return None
    end = module.span(build.node).end - 1
    return build.finding(
        "without a shape this makes no weights: `Embedding` no longer says that its input has two "
        "axes. They are made by the first batch, in `fit` while the training step is traced",
        symbol="Sequential.build",
        help="Write `model.build((None, None))`, or `keras.Input((None,))` as the first layer.",
        fix=build.fix("Build it for inputs with two axes", Edit(Span(end, end), ("(None, None)",))),
    )


def _begins_with_embedding(module: Module, build: cst.Call) -> bool:
    """Say whether the first layer of what is built is an `Embedding` that is told no shape."""
    assert isinstance(build.func, cst.Attribute)
    owner = build.func.value
    made = value_of(module, owner)
    if not isinstance(owner, cst.Name) or not isinstance(made, cst.Call) or is_hidden(made):
        return False
    first = _listed(made) if made.args else _added(module, owner, build)
    layer = None if first is None else value_of(module, first)
    if not isinstance(layer, cst.Call) or is_hidden(layer):
        return False
    split = split_root(module.qualified(layer.func) or "")
    told = {each.keyword.value for each in layer.args if each.keyword is not None}
    is_one = split is not None and split[1] == "layers.Embedding"
    return is_one and _TELL_A_SHAPE.isdisjoint(told)


def _listed(made: cst.Call) -> cst.BaseExpression | None:
    """Return the first layer of ``Sequential([…])``."""
    match made.args[0]:
        case cst.Arg(value=cst.List(elements=[cst.Element(value=first), *_])):
            return first
    return None


def _added(module: Module, model: cst.Name, build: cst.Call) -> cst.BaseExpression | None:
    """Return what the first ``model.add`` above the call adds, in the same function."""
    scope = module.scope_of(build)
    added = [
        use.called
        for use in module.members_named("add")
        if use.called is not None
        and use.called.args
        and module.source(use.node.value) == model.value
        and module.scope_of(use.node) is scope
        and module.span(use.called) < module.span(build)
    ]
    return min(added, key=module.span).args[0].value if added else None
