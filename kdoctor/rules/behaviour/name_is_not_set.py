"""`layer._name = …` no longer renames a layer."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import changes_of
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each assignment to ``_name``."""
    for store in module.member_stores:
        if store.owner.kind not in (Kind.LAYER, Kind.MODEL) or store.member != "_name":
            continue
        if not store.is_plain or store.owner_overrides or module.is_guarded(store.node):
            continue
        fixable = _is_outside_init(module, store.node) or _is_after_super(module, store)
        yield rule.finding(
            module.place(store.node),
            "the name does not change: `_name` is an ordinary attribute in Keras 3",
            symbol=f"{store.owner.cls or 'Layer'}._name",
            confidence=store.confidence,
            help="Write `.name = …`.",
            fix=_fix(module, facts, store)
            if fixable
            else NoFix("`super().__init__()` sets the name afterwards: pass `name=` to it"),
        )


def _fix(module: Module, facts: TargetFacts, store: MemberStore) -> Fix:
    """Rename the attribute also where the same object is asked for it, which it lacks then."""
    written = module.source(store.node.value)
    spans = {module.span(store.node.attr)}
    for use in module.members:
        is_one = use.member == "_name" and use.owner.kind in (Kind.LAYER, Kind.MODEL)
        if is_one and module.source(use.node.value) == written:
            spans.add(module.span(use.node.attr))
    edits = tuple(Edit(span, ("name",)) for span in sorted(spans))
    proven = facts.applicability(*(each for each in rule.invalid if each.after))
    return Fix("Write `name` instead of `_name`", edits, proven)


def _function(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    found = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return next(found, None)


def _is_outside_init(module: Module, node: cst.CSTNode) -> bool:
    function = _function(module, node)
    return function is None or function.name.value != "__init__"


def _is_after_super(module: Module, store: MemberStore) -> bool:
    function = _function(module, store.node)
    assert function is not None
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value == "__init__"
        and module.span(each) < module.span(store.node)
        for each in descendants(function.body)
    )


rule = Rule(
    code="KD416",
    name="name-is-not-set",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=changes_of({Kind.LAYER, Kind.MODEL}, "_name"),
    since="3.0",
)
