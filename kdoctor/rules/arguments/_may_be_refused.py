"""Where in a glimpse of a source a value may be passed that is refused."""

from __future__ import annotations

import ast
from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.callables import Callee, callee_of, passes
from kdoctor.analysis.triggers import Trigger, keyword, may_be_of, string
from kdoctor.rewrite.dtypes import SHORT_DTYPES
from kdoctor.rules.arguments._int_expressions import may_be_int, may_be_ints_by_name
from kdoctor.rules.arguments._layer_name_parts import may_be_handed_on, may_hold_a_slash
from kdoctor.rules.arguments._padding_case import KNOWN, PLACES
from kdoctor.rules.arguments._short_names import (
    CONSTANT,
    CONSTRAINTS,
    CROSSENTROPIES,
    LOSSES,
    METRICS,
    OF_KERAS_1,
)
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind

_FUNCTIONS: Final = frozenset({"BatchNormalization", "Input"})
_OF_LAYERS: Final = ("_constraint", "_initializer", "_regularizer")
_SHORT_NAMES: Final = frozenset({*LOSSES, *METRICS, *OF_KERAS_1, *CROSSENTROPIES})
_PADDINGS: Final = frozenset({*KNOWN, "causal"})
_OF_WEIGHTS: Final = frozenset({*CONSTANT, *CONSTRAINTS, "l1_l2"})


def _may_refuse(callee: Callee) -> bool:
    return callee.leaf in _FUNCTIONS or (callee.method and callee.leaf == "compile")


def _may_name_with_a_slash(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a name that is passed may be one that is refused."""
    named = (each.argument("name") for each in quick.calls_with("name"))
    return may_hold_a_slash(quick, named) or may_be_handed_on(quick)


def _may_be_refused(_: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    """Say whether the rule could find something, by the form of what is passed."""
    if callee.leaf == "Input" and may_be_int(called.argument("shape", 0)):
        return True
    if callee.leaf == "BatchNormalization" and isinstance(
        called.argument("axis", 0), ast.Tuple | ast.List
    ):
        return True
    return (
        callee.method
        and callee.leaf == "compile"
        and (
            isinstance(called.argument("metrics"), ast.Constant)
            or any(_SHORT_NAMES & _texts(each) for each in called.values)
        )
    )


def _may_reduce(_: TargetFacts, __: Callee, called: QuickCall) -> bool:
    reduction = called.argument("reduction")
    return reduction is not None and (
        not isinstance(reduction, ast.Constant) or reduction.value == "auto"
    )


def _may_weigh(_: TargetFacts, __: Callee, called: QuickCall) -> bool:
    return bool(_texts(called.argument("class_weight")))


def _may_be_held(_: TargetFacts, __: Callee, called: QuickCall) -> bool:
    return any(
        (each.arg or "").endswith(_OF_LAYERS) and not _OF_WEIGHTS.isdisjoint(_texts(each.value))
        for each in called.node.keywords
    )


def _may_be_a_dtype(_: TargetFacts, __: Callee, called: QuickCall) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value in SHORT_DTYPES for each in called.values
    )


def _may_be_shaped_by_an_int(quick: QuickFacts, facts: TargetFacts) -> bool:
    shapes = (
        called.argument("shape", 0)
        for name, calls in quick.calls_by_meaning.items()
        if (callee := callee_of(name, facts)) is not None and callee.leaf == "Input"
        for called in calls
    )
    return may_be_ints_by_name(quick, [each for each in shapes if isinstance(each, ast.Name)])


def _may_hand_on_a_slash(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether an object of the user's own class may get such a name."""
    made = ((each.node, each.node) for each in quick.calls_with("name"))
    return may_be_of(quick, facts, made, {Kind.LAYER, Kind.MODEL})


def _texts(given: ast.expr | None) -> frozenset[str]:
    """Return the strings in what is passed."""
    return frozenset(
        each.value
        for each in (nodes_in(given) if given is not None else ())
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def _may_be_padded(_: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    given = called.argument("padding", PLACES[callee.leaf])
    return given is not None and not (isinstance(given, ast.Constant) and given.value in KNOWN)


def _may_be_padded_by_name(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether some text is none that pooling takes, but one that may be meant."""
    return any(each not in KNOWN and each.lower() in _PADDINGS for each in quick.strings)


# By hand: a slash and an int are followed through names, which no query does.
MAY_BE_REFUSED: Final[Trigger] = (
    passes(_may_be_refused, of=_may_refuse)
    | string(*SHORT_DTYPES) & passes(_may_be_a_dtype, of=lambda _: True)
    | keyword("reduction") & passes(_may_reduce, of=lambda each: each.kind is Kind.LOSS)
    | keyword("class_weight")
    & passes(_may_weigh, of=lambda each: each.method and each.leaf == "fit")
    | Trigger(lambda quick, _: any(each.endswith(_OF_LAYERS) for each in quick.keywords))
    & passes(_may_be_held, of=lambda each: each.kind is Kind.LAYER)
    | Trigger(_may_name_with_a_slash)
    & (
        passes(lambda _, __, called: called.argument("name") is not None, of=lambda _: True)
        | Trigger(_may_hand_on_a_slash)
    )
    | Trigger(_may_be_shaped_by_an_int)
    | passes(_may_be_padded, of=lambda each: each.leaf in PLACES) & Trigger(_may_be_padded_by_name)
)
