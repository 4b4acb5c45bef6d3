"""`model.load_weights(path).expect_partial()`: `load_weights` returns None on Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

STATUS_METHODS = frozenset({
    "assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match",
    "expect_partial", "initialize_or_restore", "run_restore_ops",
})  # fmt: skip
"""What the status of a load can be asked in TensorFlow."""


@rule(
    "KD221",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls("load_weights", on=Kind.MODEL)
    .even(hidden=True, guarded=True)
    .beside(attribute(*sorted(STATUS_METHODS))),
)
def check(load: Call) -> Iterator[Finding]:
    """Report each method that a status is asked for."""
    module = load.module
    for asked in module.attributes:
        if asked.attr.value not in STATUS_METHODS or _is_asked_about(module, asked):
            continue
        if value_of(module, asked.value) is load.call:
            yield load.finding(
                "`load_weights` returns None: AttributeError: 'NoneType' object has no attribute "
                f"'{asked.attr.value}'",
                at=asked.attr,
                symbol=f"{load.cls or 'Model'}.load_weights",
                confidence=Confidence.LIKELY,
                help="Remove it: Keras 3 raises if a layer gets no weights.",
                fix=_left_out(load, asked),
            )


def _is_asked_about(module: Module, asked: cst.Attribute) -> bool:
    """Say whether the code looks first whether there is a status."""
    if module.is_guarded(asked):
        return True
    name = asked.value.value if isinstance(asked.value, cst.Name) else None
    return name is not None and any(
        isinstance(node, cst.Name) and node.value == name
        for each in module.ancestors(asked)
        if isinstance(each, cst.If | cst.IfExp)
        for node in (each.test, *descendants(each.test))
    )


def _left_out(load: Call, asked: cst.Attribute) -> Fix | NoFix:
    """Cut `.expect_partial()` off, where nothing is done with what that gives."""
    module, why_not = load.module, NoFix("the status is used for more than this line")
    call = module.parent(asked)
    if asked.value is not load.call or not isinstance(call, cst.Call) or call.func is not asked:
        return why_not
    if not isinstance(module.parent(call), cst.Expr) or load.call.lpar or asked.lpar:
        return why_not
    start, end = module.span(load.call).end, module.span(call).end
    return load.fix(
        f"Leave `.{asked.attr.value}()` out",
        Edit(Span(start, end), ("",)),
        unsafe_because="Keras 2 loaded a checkpoint with only some of the weights; Keras 3 raises "
        "if a layer gets none",
    )
