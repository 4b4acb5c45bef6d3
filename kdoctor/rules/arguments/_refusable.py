"""Where in a glimpse of a source a value may be passed that is refused."""

from __future__ import annotations

import ast
from typing import Final

from kdoctor.kinds import Kind
from kdoctor.rules.arguments._callees import Callee, callee_of, passes
from kdoctor.rules.arguments._ints import may_be_int, may_be_ints_by_name
from kdoctor.rules.arguments._short_names import CONSTRAINTS, LOSSES, METRICS, OF_KERAS_1
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import Trigger
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.nodes import nodes_in

_KINDS: Final = frozenset({Kind.LAYER, Kind.LOSS})
_FUNCTIONS: Final = frozenset({"BatchNormalization", "Input"})
_METHODS: Final = frozenset({"compile", "fit"})


def _may_refuse(callee: Callee) -> bool:
    return (
        callee.kind in _KINDS
        or callee.leaf in _FUNCTIONS
        or (callee.method and callee.leaf in _METHODS)
    )


def _has_a_slash(called: Called) -> bool:
    """Say whether the name that is passed may be one that is refused."""
    return any("/" in each for each in _texts(called.argument("name")))


def _may_be_refused(_: Facts, callee: Callee, called: Called) -> bool:
    """Say whether the rule could find something, by the form of what is passed."""
    if callee.leaf == "Input" and may_be_int(called.argument("shape", 0)):
        return True
    if callee.leaf == "BatchNormalization" and isinstance(
        called.argument("axis", 0), ast.Tuple | ast.List
    ):
        return True
    if callee.kind is Kind.LOSS:
        reduction = called.argument("reduction")
        return reduction is not None and (
            not isinstance(reduction, ast.Constant) or reduction.value == "auto"
        )
    if callee.method and callee.leaf == "compile":
        named = {*LOSSES, *METRICS, *OF_KERAS_1}
        metrics = called.argument("metrics")
        return isinstance(metrics, ast.Constant) or any(named & _texts(e) for e in called.values)
    if callee.method and callee.leaf == "fit":
        return bool(_texts(called.argument("class_weight")))
    return callee.kind is Kind.LAYER and any(
        (each.arg or "").endswith(("_constraint", "_regularizer"))
        and _texts(each.value) & {*CONSTRAINTS, "l1_l2"}
        for each in called.node.keywords
    )


def _may_be_shaped_by_an_int(glimpse: Glimpse, facts: Facts) -> bool:
    shapes = (
        called.argument("shape", 0)
        for name, calls in glimpse.calls_by_meaning.items()
        if (callee := callee_of(name, facts)) is not None and callee.leaf == "Input"
        for called in calls
    )
    return may_be_ints_by_name(glimpse, [each for each in shapes if isinstance(each, ast.Name)])


def _texts(given: ast.expr | None) -> frozenset[str]:
    """Return the strings in what is passed."""
    return frozenset(
        each.value
        for each in (nodes_in(given) if given is not None else ())
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


MAY_BE_REFUSED: Final[Trigger] = (
    passes(_may_be_refused, of=_may_refuse)
    | Trigger(lambda glimpse, _: any(map(_has_a_slash, glimpse.calls_with("name"))))
    & passes(lambda _, __, called: _has_a_slash(called), of=lambda _: True)
    | Trigger(_may_be_shaped_by_an_int)
)
