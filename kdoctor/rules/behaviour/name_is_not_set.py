"""`layer._name = …` no longer renames a layer."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.overridden import has_own
from kdoctor.analysis.queries import Store, stores
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_OWNERS = (Kind.LAYER, Kind.MODEL)


@rule(
    "KD416",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=stores("_name", on=_OWNERS, overridden=True),
)
def check(found: Store) -> Finding | None:
    """Report each assignment to ``_name``."""
    if not found.store.is_plain or found.store.owner_overrides:
        return None
    fixable = _is_outside_init(found) or _is_after_super(found)
    return found.finding(
        "the name does not change: `_name` is an ordinary attribute in Keras 3",
        symbol=f"{found.owner.cls or 'Layer'}._name",
        help="Write `.name = …`.",
        fix=_fix(found)
        if fixable
        else NoFix("`super().__init__()` sets the name afterwards: pass `name=` to it"),
    )


def _fix(found: Store) -> Fix | NoFix:
    """Rename the attribute also where the same object is asked for it, which it lacks then."""
    module, written = found.module, found.source(found.node.value)
    if has_own(module, found.node.value, "name"):
        return NoFix("the class has a `name` of its own")
    spans = {module.span(found.node.attr)}
    for use in module.members_named("_name"):
        if use.owner.kind in _OWNERS and module.source(use.node.value) == written:
            spans.add(module.span(use.node.attr))
    edits = (Edit(span, ("name",)) for span in sorted(spans))
    return found.fix("Write `name` instead of `_name`", *edits)


def _function(found: Store) -> cst.FunctionDef | None:
    around = found.module.ancestors(found.node)
    return next((each for each in around if isinstance(each, cst.FunctionDef)), None)


def _is_outside_init(found: Store) -> bool:
    function = _function(found)
    return function is None or function.name.value != "__init__"


def _is_after_super(found: Store) -> bool:
    function, span = _function(found), found.module.span
    assert function is not None
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value == "__init__"
        and span(each) < span(found.node)
        for each in descendants(function.body)
    )
