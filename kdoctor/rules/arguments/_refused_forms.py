"""Which values are refused, by their form: for the query of the rule about values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import imported_calls
from kdoctor.analysis.queries.bound_calls import Bound, Passed, bound_calls
from kdoctor.analysis.queries.conditions import keyword, string, text
from kdoctor.analysis.queries.followed import keyword_made_of
from kdoctor.analysis.queries.forms import Expression, elements_of
from kdoctor.keras_api import split_root
from kdoctor.rewrite.dtypes import SHORT_DTYPES
from kdoctor.rules.arguments._int_expressions import is_int_form
from kdoctor.rules.arguments._padding_case import KNOWN, PLACES
from kdoctor.rules.arguments._short_names import (
    CONSTANT,
    CONSTRAINTS,
    CROSSENTROPIES,
    LOSSES,
    METRICS,
    OF_KERAS_1,
)
from kdoctor.value_types import Kind

_OF_LAYERS: Final = ("_constraint", "_initializer", "_regularizer")
_SHORT_NAMES: Final = frozenset({*LOSSES, *METRICS, *OF_KERAS_1, *CROSSENTROPIES})
_PADDINGS: Final = frozenset({*KNOWN, "causal"})
_OF_WEIGHTS: Final = frozenset({*CONSTANT, *CONSTRAINTS, "l1_l2"})


def _is_normalized(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    return isinstance(passed.form("axis", 0), list | tuple)


def _is_compiled(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    metrics = passed.form("metrics")
    named = (*elements_of(metrics), *elements_of(passed.form("loss", 1)))
    return isinstance(metrics, str) or any(_is_among(_SHORT_NAMES, each) for each in named)


def _is_reduced(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    reduction = passed.form("reduction")
    return reduction == "auto" or isinstance(reduction, Expression)


def _is_weighed(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    return isinstance(passed.form("class_weight"), str)


def _is_held(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    held = (each for each in passed.keywords if each.endswith(_OF_LAYERS))
    return any(_is_among(_OF_WEIGHTS, passed.form(each)) for each in held)


def _is_typed(_: TargetFacts, __: Bound, passed: Passed) -> bool:
    named = map(passed.form, ("dtype", "name", "policy"))
    return any(_is_among(SHORT_DTYPES.keys(), each) for each in (*named, *passed.forms))


def _is_padded(_: TargetFacts, callee: Bound, passed: Passed) -> bool:
    return not _is_among(KNOWN, passed.form("padding", PLACES[callee.leaf]))


def _is_another_padding(written: str) -> bool:
    return written not in KNOWN and written.lower() in _PADDINGS


def _has_a_slash(form: object) -> bool:
    return isinstance(form, str) and "/" in form


def _is_input(_: TargetFacts, name: str) -> bool:
    split = split_root(name)
    return split is not None and split[1].rpartition(".")[2] == "Input"


def _is_among(names: Collection[str], form: object) -> bool:
    return isinstance(form, str) and form in names


_INPUTS: Final = imported_calls(_is_input, "Input").even(hidden=True)

REFUSED: Final = (
    _INPUTS.passing("shape", place=0, where=is_int_form, followed=True).trigger
    | bound_calls(lambda each: each.leaf == "BatchNormalization", _is_normalized).trigger
    | bound_calls(lambda each: each.method and each.leaf == "compile", _is_compiled).trigger
    | string(*SHORT_DTYPES) & bound_calls(lambda _: True, _is_typed).trigger
    | keyword("reduction") & bound_calls(lambda each: each.kind is Kind.LOSS, _is_reduced).trigger
    | keyword("class_weight")
    & bound_calls(lambda each: each.method and each.leaf == "fit", _is_weighed).trigger
    | string(*_OF_WEIGHTS) & bound_calls(lambda each: each.kind is Kind.LAYER, _is_held).trigger
    # What layer of the user's own, or what function of the file gets the name, is left open.
    | keyword_made_of("name", _has_a_slash)
    | bound_calls(lambda each: each.leaf in PLACES, _is_padded).trigger & text(_is_another_padding)
)
"""A file may pass a value that is refused."""
