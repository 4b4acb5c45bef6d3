"""Custom metrics and losses that models are compiled with, and how Keras calls them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import PointsTo
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in
from kdoctor.analysis.queries import called
from kdoctor.analysis.queries.conditions import given_own
from kdoctor.analysis.training.loss_counts import is_as_written
from kdoctor.rules.behaviour._elementwise_operands import Pair
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

MEASURES: Final = {"loss": 1, "metrics": 2, "weighted_metrics": 4}
"""What `compile` takes them for, with the place of each by position in Keras 2."""
_METHODS: Final = {Kind.LOSS: "call", Kind.METRIC: "update_state"}


class Measure(Struct, frozen=True):
    """What Keras calls with targets and predictions.

    ``is_function``: a function, as a metric. ``is_loss``: a function, as a loss, which gets the
    targets cast, and in the shape of predictions of one column.
    """

    pair: Pair
    name: cst.Name
    is_function: bool
    is_loss: bool = False


def measures(module: Module, points_to: PointsTo, call: cst.Call) -> Iterator[Measure]:
    """Yield the metrics and losses of the file that a ``compile`` is given."""
    for keyword, place in MEASURES.items():
        value = value_of(module, passed(call, keyword, place))
        if value is None:
            continue
        listed = value.elements if isinstance(value, cst.List | cst.Tuple) else ()
        for each in [each.value for each in listed] or [value]:
            found = _measure(module, points_to, each)
            if found is not None and keyword == "loss" and found.is_function:
                yield Measure(found.pair, found.name, is_function=False, is_loss=True)
            elif found is not None:
                yield found


def _measure(module: Module, points_to: PointsTo, node: cst.BaseExpression) -> Measure | None:
    value = value_of(module, node)
    if isinstance(value, cst.Call):
        cls = class_named(module, value.func)
        if cls is not None:
            return _of_class(module, cls)
        returned = points_to.returned_by(value)
        if len(returned) != 1:
            return None
        value = returned[0]
    if class_named(module, value) is not None:
        return None
    function = points_to.function_called(value)
    if function is None or not is_as_written(module, function):
        return None
    pair = _pair(function, 0 if points_to.class_around(function) is None else 1)
    return None if pair is None else Measure(pair, function.name, is_function=True)


def _of_class(module: Module, cls: cst.ClassDef) -> Measure | None:
    kind = kind_of_class(module, cls)
    method = methods_in(cls).get(_METHODS[kind]) if kind in _METHODS else None
    pair = None if method is None else _pair(method, 1)
    return None if pair is None else Measure(pair, cls.name, is_function=False)


def _pair(function: cst.FunctionDef, first: int) -> Pair | None:
    params = [*function.params.posonly_params, *function.params.params][first:]
    return Pair(function, params[0], params[1]) if len(params) > 1 else None


MEASURED_BY_OWN: Final = given_own(called("compile").even(hidden=True), *MEASURES.items())
"""A condition: ``compile`` may be given a function or a class of the file to measure by."""
