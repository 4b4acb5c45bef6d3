"""``self.params["metrics"]`` in a callback: only `epochs`, `steps` and `verbose` remain."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.fallback_helpers import conditions
from kdoctor.value_types import Kind

_HELP = {
    "metrics": "The metrics are the keys of `logs`.",
    "do_validation": "Whether there is validation shows in `logs`: `'val_loss' in logs`.",
    "nb_epoch": "It is now `epochs`.",
}
_OTHERS = ("samples", "nb_sample", "batch_size")
_ALWAYS_THERE = frozenset({"epochs", "steps", "verbose"})


@rule("KD219", severity=Severity.ERROR, since="3.0", look_for=reads("params", on=Kind.CALLBACK))
def check(params: Read) -> Finding | None:
    """Report each key that is not there."""
    key = _key(params)
    if key not in {*_HELP, *_OTHERS} or _is_asked_for(params, key):
        return None
    return params.finding(
        f"the params of a callback no longer have `{key}`: KeyError: '{key}'",
        symbol=f"Callback.params[{key}]",
        help=_HELP.get(key, "`steps` counts batches; pass the rest to the callback itself."),
        fix=NoFix("the callback must get it from somewhere else"),
    )


def _key(params: Read) -> str:
    match params.module.parent(params.node):
        case cst.Subscript(
            value=value,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
        ) if value is params.node:
            return str(key.raw_value)
    return ""


def _is_asked_for(read: Read, key: str) -> bool:
    """Say whether a test around the use tells that the key is there, or never comes out so."""
    module, params = read.module, read.source(read.node)
    child: cst.CSTNode = read.node
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
