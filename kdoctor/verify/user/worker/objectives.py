"""Verify losses and metrics that are classes."""

from __future__ import annotations

import contextlib
from typing import Any

from . import draws
from .configs import config_of, settings_of
from .frameworks import Side
from .functions import equally_shaped, measure_pairs
from .instantiate import first_arguments, made
from .measurement import Case, error_text, plain


class MadeAlone:
    """Base of classes that need only constructor arguments to be called."""

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first constructor arguments that work, and its own settings."""
        made_with = first_arguments(subject, job, side)
        return {"made_with": made_with, "settings": settings_of(subject)}


class LossClass(MadeAlone):
    """A subclassed loss."""

    kind = "loss"

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with each pair."""
        loss = made(subject, plan["made_with"], side)
        cases = measure_pairs(loss, plan, side)
        for case in cases if not plan.get("arrays") else []:
            if not case.error:
                case.values.update(_weighted_loss(loss, case, side))
                case.values.update(config_of(loss, plan["settings"], side))
        return cases


def _weighted_loss(loss: Any, case: Case, side: Side) -> dict[str, Any]:
    """Return the value with a weight for each sample, where it takes one."""
    pair = next(each for each in draws.pairs() if each.label == case.label)
    weights = draws.rng(5).uniform(0.5, 2.0, len(pair.predicted)).astype("float32")
    if pair.predicted.ndim != 2:
        return {}  # weights are broadcast, or not, by rules of each version
    try:
        value = loss(
            side.backend.tensor(pair.true),
            side.backend.tensor(pair.predicted),
            sample_weight=side.backend.tensor(weights),
        )
        return {"value with sample weights": plain(value)}
    except Exception as error:  # noqa: BLE001 - it may take none
        return {} if side.is_old else {"value with sample weights": error_text(error)}


class MetricClass(MadeAlone):
    """A subclassed metric."""

    kind = "metric"

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Update it with each pair; record its result after each update and after a reset."""
        cases: list[Case] = []
        for pair in draws.pairs():
            if "only" in plan and pair.label not in plan["only"]:
                continue
            case = Case(pair.label, is_edge=pair.is_edge)
            try:
                metric = made(subject, plan["made_with"], side)
                tensor = side.backend.tensor
                true, predicted = tensor(pair.true), tensor(pair.predicted)
                turned = tensor(pair.true[::-1].copy())
                if side.backend.compiles_calls:
                    case.values.update(_compiled_result(metric, true, predicted, side))
                metric.update_state(true, predicted)
                case.values["result after one batch"] = plain(metric.result())
                metric.update_state(turned, predicted)
                case.values["result after two batches"] = plain(metric.result())
                with contextlib.suppress(Exception):  # a smaller batch has less weight
                    metric.update_state(true[1:], predicted[1:])
                    case.values["result after a smaller batch"] = plain(metric.result())
                reset = getattr(metric, "reset_state", None) or metric.reset_states
                reset()
                metric.update_state(turned, predicted)
                case.values["result after a reset"] = plain(metric.result())
                reset()  # Keras 3 weighs weighted and unweighted batches differently
                _measure_weighted(metric, true, predicted, case)
                case.values.update(config_of(metric, plan["settings"], side))
                if not cases and side.backend.has_graphs:
                    case.values.update(_in_a_graph(subject, plan, true, predicted, side))
            except BaseException as error:  # noqa: BLE001 - it may reject an input
                case = Case(pair.label, error=error_text(error))
            cases.append(case)
        return equally_shaped(cases)


def _in_a_graph(
    subject: Any, plan: dict[str, Any], true: Any, predicted: Any, side: Side
) -> dict[str, Any]:
    """Return the result after a batch in a graph, in which Keras updates a metric."""
    what = "result after a batch in a graph"
    try:
        metric = made(subject, plan["made_with"], side)
        side.tf.function(metric.update_state)(true, predicted)
        return {what: plain(metric.result())}
    except Exception as error:  # noqa: BLE001 - user code may raise anything
        return {} if side.is_old else {what: error_text(error)}


def _compiled_result(metric: Any, true: Any, predicted: Any, side: Side) -> dict[str, Any]:
    """Return what a compiled step gives, as Keras compiles evaluation."""

    def step(given: Any) -> Any:
        metric.update_state(*given)
        return metric.result()

    return dict(plain(side.backend.compiled("result after one batch", step, [true, predicted])))


def _measure_weighted(metric: Any, true: Any, predicted: Any, case: Case) -> None:
    """Record the result with sample weights, or with element weights."""
    weights = draws.rng(5).uniform(0.5, 2.0, predicted.shape).astype("float32")
    for each in (weights.reshape(len(weights), -1)[:, 0], weights):
        with contextlib.suppress(Exception):
            metric.update_state(true, predicted, sample_weight=each)
            case.values["result with sample weights"] = plain(metric.result())
            return
