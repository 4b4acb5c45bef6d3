"""``self.params["metrics"]`` in a callback: only `epochs`, `steps` and `verbose` remain."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.fallback_helpers import conditions
from kdoctor.value_types import Kind

_HELP = {
    "metrics": "The metrics are the keys of `logs`.",
    "do_validation": "Whether there is validation shows in `logs`: `'val_loss' in logs`.",
    "nb_epoch": "It is now `epochs`.",
}
_OTHERS = ("samples", "nb_sample", "batch_size")
_ALWAYS_THERE = frozenset({"epochs", "steps", "verbose"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each key that is not there."""
    for use in module.members:
        if use.owner.kind is not Kind.CALLBACK or use.member != "params" or use.owner_defines:
            continue
        key = _key(module, use)
        if key is None or key not in {*_HELP, *_OTHERS} or module.is_guarded(use.node):
            continue
        if _is_asked_for(module, use, key):
            continue
        yield rule.finding(
            module.place(use.node),
            f"the params of a callback no longer have `{key}`: KeyError: '{key}'",
            symbol=f"Callback.params[{key}]",
            confidence=use.confidence,
            help=_HELP.get(key, "`steps` counts batches; pass the rest to the callback itself."),
            fix=NoFix("the callback must get it from somewhere else"),
        )


def _key(module: Module, use: MemberUse) -> str | None:
    match module.parent(use.node):
        case cst.Subscript(
            value=value,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
        ) if value is use.node:
            return key.raw_value
    return None


def _is_asked_for(module: Module, use: MemberUse, key: str) -> bool:
    """Say whether a test around the use tells that the key is there, or never comes out so."""
    params = module.source(use.node)
    child: cst.CSTNode = use.node
    while (parent := module.parent(child)) is not None:
        for test, holds in conditions(parent, child, lambda _: None):
            asked = _keys_asked(module, test, params)
            if key in asked if holds else _ALWAYS_THERE & asked:
                return True
        child = parent
    return False


def _keys_asked(module: Module, test: cst.BaseExpression, params: str) -> set[str]:
    """Return the keys that ``params`` surely has where the test holds: ``'epochs' in params``."""
    match test:
        case cst.BooleanOperation(operator=cst.And()):
            left, right = (_keys_asked(module, each, params) for each in (test.left, test.right))
            return left | right
        case cst.Comparison(
            left=cst.SimpleString() as key,
            comparisons=[cst.ComparisonTarget(operator=cst.In(), comparator=asked)],
        ) if module.source(asked) in {params, f"{params}.keys()"}:
            return {str(key.raw_value)}
    return set()


rule = Rule(
    code="KD219",
    name="callback-params",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.CALLBACK}, "params"),
    since="3.0",
)
