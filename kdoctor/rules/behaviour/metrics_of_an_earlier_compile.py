"""`model.compile("sgd", "mse")` of a compiled model keeps the metrics of the earlier `compile`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, is_hidden, value_of
from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.conditions import together
from kdoctor.analysis.queries.forms import Given
from kdoctor.analysis.training.freezing import COMPILE, Freezing, Use
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal

_METRICS: Final = ("metrics", "weighted_metrics")
_BEFORE_METRICS: Final = 2  # arguments of `compile` by position
_COMPILED: Final = called("compile")
_MAX_CALLS: Final = 60  # pairs of them are compared


def _passes_none(given: Given) -> bool:
    return len(given.by_position) <= _BEFORE_METRICS and given.keywords.keys().isdisjoint(_METRICS)


def _are_two(one: Given, other: Given) -> bool:
    return _passes_none(one) and not _passes_none(other)


@rule(
    "KD492",
    severity=Severity.CHANGE,
    since="3.6",
    look_for=files(together(_COMPILED, _COMPILED, _are_two)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each `compile` without metrics after one with metrics."""
    freezing = Freezing(file.module)
    compiled = freezing.uses(COMPILE)
    if len(compiled) > _MAX_CALLS or _defines_it(file):
        return
    with_metrics = [use for use in compiled if _has_metrics(file, use)]
    for use in compiled:
        if not _is_without(use) or file.module.is_guarded(use.call):
            continue
        if freezing.is_model(use.model) and _is_second(freezing, use, with_metrics):
            yield _finding(file, use)


def _defines_it(file: File) -> bool:
    """Say whether a class of the file has a `compile` of its own, which may do anything."""
    return any(each.name.value == "compile" for each in file.module.nodes(cst.FunctionDef))


def _is_without(use: Use) -> bool:
    given = use.call.args
    by_position = [each for each in given if each.keyword is None]
    named = {each.keyword.value for each in given if each.keyword is not None}
    is_plain = len(by_position) <= _BEFORE_METRICS and not is_hidden(use.call)
    return is_plain and bool(given) and named.isdisjoint(_METRICS)


def _has_metrics(file: File, use: Use) -> bool:
    """Say whether a call surely passes metrics: a list, or a dict, with something in it."""
    for each in use.call.args:
        if each.keyword is not None and each.keyword.value in _METRICS:
            match value_of(file.module, each.value):
                case (
                    cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts)
                ):
                    return bool(parts)
                case cst.SimpleString() as text:
                    return bool(literal(text))
    return False


def _is_second(freezing: Freezing, use: Use, with_metrics: list[Use]) -> bool:
    """Say whether each model that it may be was surely compiled with metrics before."""
    same = [each for each in with_metrics if freezing.is_same(each.model, use.model)]
    return all(
        any(freezing.is_after(use.call, each.call, origin) for each in same)
        for origin in freezing.points_to.of(use.model) or (None,)
    )


def _finding(file: File, use: Use) -> Finding:
    model = file.source(use.model)
    return file.finding(
        f"`{model}` keeps the metrics of its earlier `compile`: Keras 2 dropped them, and "
        "`evaluate` returned the loss alone",
        at=use.call,
        symbol="Model.compile",
        confidence=Confidence.LIKELY,
        help="Pass `metrics=[]`.",
        fix=file.fix("Pass `metrics=[]`", add_keyword(file.module, use.call, "metrics=[]")),
    )
