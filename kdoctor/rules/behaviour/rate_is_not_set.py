"""`optimizer.lr = …` sets an attribute that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import changes_of, string, word
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_OLD, _NEW = "lr", "learning_rate"
_OTHERS = (BindingKind.AUGMENT, BindingKind.DELETE)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each assignment to ``lr``."""
    renamed = _renamed(module)
    for store in module.member_stores:
        if store.owner.kind is not Kind.OPTIMIZER or store.member != _OLD or store.owner_defines:
            continue
        # An update (`*=`) reads the attribute first, and fails there: KD206.
        if store.how in _OTHERS or module.is_guarded(store.node):
            continue
        cls = store.owner.cls or "Optimizer"
        yield rule.finding(
            module.place(store.node),
            "this sets a new attribute `lr`; the learning rate does not change",
            symbol=f"{cls}.lr",
            confidence=store.confidence,
            help="Write `learning_rate`.",
            fix=Fix(
                "Write `learning_rate` instead of `lr`",
                renamed[module.source(store.node.value)],
                _proven(facts),
            ),
        )
    yield from _set_by_name(module, facts)


def _renamed(module: Module) -> dict[str, tuple[Edit, ...]]:
    """Return how the attribute is renamed at all places, by how the optimizer is written there."""
    spans: dict[str, set[Span]] = {}
    places: list[MemberUse | MemberStore] = [*module.members, *module.member_stores]
    for each in places:
        if each.member == _OLD and each.owner.kind is Kind.OPTIMIZER:
            written = module.source(each.node.value)
            spans.setdefault(written, set()).add(module.span(each.node.attr))
    return {
        written: tuple(Edit(span, (_NEW,)) for span in sorted(found))
        for written, found in spans.items()
    }


def _set_by_name(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report ``setattr(optimizer, "lr", …)``."""
    for call, name, kind in _setattrs(module):
        if kind.kind is not Kind.OPTIMIZER or name.raw_value != _OLD or module.is_guarded(call):
            continue
        text = f"{name.quote}{_NEW}{name.quote}"
        yield rule.finding(
            module.place(call),
            "this sets a new attribute `lr`; the learning rate does not change",
            symbol=f"{kind.cls or 'Optimizer'}.lr",
            confidence=Confidence.LIKELY,
            help="Write `learning_rate`.",
            fix=Fix(
                "Write `learning_rate` instead of `lr`",
                (Edit(module.span(name), (text,)),),
                _proven(facts),
            ),
        )


def _setattrs(
    module: Module,
) -> Iterator[tuple[cst.Call, cst.SimpleString, Type]]:
    if "setattr" not in module.text:
        return
    for node in module.nodes(cst.Call):
        match node:
            case cst.Call(
                func=cst.Name(value="setattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), _],
            ) if (kind := module.type_of(owner)) is not None:
                yield node, name, kind


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after))


rule = Rule(
    code="KD406",
    name="rate-is-not-set",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=changes_of({Kind.OPTIMIZER}, _OLD) | (word("setattr") & string(_OLD)),
    since="3.0",
)
