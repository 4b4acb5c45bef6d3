"""`model.load_weights(path).expect_partial()`: `load_weights` returns None on Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import attribute
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

STATUS_METHODS = frozenset({
    "assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match",
    "expect_partial", "initialize_or_restore", "run_restore_ops",
})  # fmt: skip
"""What the status of a load can be asked in TensorFlow."""


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each method that a status is asked for."""
    loads = {
        use.called: use
        for use in module.members
        if use.member == "load_weights" and use.owner.kind is Kind.MODEL and not use.owner_defines
    }
    for asked in module.attributes if loads else ():
        if asked.attr.value not in STATUS_METHODS or _is_asked_about(module, asked):
            continue
        given = value_of(module, asked.value)
        use = loads.get(given) if isinstance(given, cst.Call) else None
        if use is None or use.called is None:
            continue
        fix = _fix(module, use.called, asked)
        yield rule.finding(
            module.place(asked.attr),
            "`load_weights` returns None: AttributeError: 'NoneType' object has no attribute "
            f"'{asked.attr.value}'",
            symbol=f"{use.owner.cls or 'Model'}.load_weights",
            confidence=Confidence.LIKELY,
            help="Remove it: Keras 3 raises if a layer gets no weights.",
            fix=fix or NoFix("the status is used for more than this line"),
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


def _fix(module: Module, load: cst.Call, asked: cst.Attribute) -> Fix | None:
    """Cut `.expect_partial()` off, where nothing is done with what that gives."""
    call = module.parent(asked)
    if asked.value is not load or not isinstance(call, cst.Call) or call.func is not asked:
        return None
    if not isinstance(module.parent(call), cst.Expr) or load.lpar or asked.lpar:
        return None
    start, end = module.span(load).end, module.span(call).end
    return Fix(
        f"Leave `.{asked.attr.value}()` out",
        (Edit(Span(start, end), ("",)),),
        Applicability.UNSAFE,
        unsafe_because="Keras 2 loaded a checkpoint with only some of the weights; Keras 3 raises "
        "if a layer gets none",
    )


rule = Rule(
    code="KD221",
    name="load-status",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("load_weights") & attribute(*sorted(STATUS_METHODS)),
    since="3.0",
)
