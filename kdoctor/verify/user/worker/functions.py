"""Verify functions: losses and metrics, their factories, and functions of a tensor."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import types
from functools import partial
from typing import Any

import numpy as np

from . import draws
from .frameworks import Side
from .instantiate import MadeWithArguments, made
from .measurement import Case, NotTried, error_text, plain, random_values
from .models import MODEL_EXERCISES, given_of, is_model, model_of_block

_MAX_YIELDED = 12  # values taken from a generator
_TRUE = {"y_true", "true", "y", "target", "targets", "label", "labels", "gt", "truth", "y_t", "yt"}
_TRUE |= {"ytrue", "actual", "ground_truth", "t"}
_PREDICTED = {"y_pred", "pred", "prediction", "predictions", "output", "outputs", "logits", "yhat"}
_PREDICTED |= {"y_hat", "preds", "predicted", "y_p", "yp", "ypred", "y_prediction", "p", "x"}
_TENSOR = {"x", "inputs", "input", "tensor", "input_tensor", "input_layer", "features", "z", "net"}
_TENSOR |= {"t", "h", "logits", "vectors", "vector", "inp", "inputs_", "x_in", "layer_input", "a"}
_TENSOR |= {
    "input_data",
    "args",
    "layer",
    "prev",
    "previous",
    "i",
    "values",
    "val",
    "weight_matrix",
}


def kind_of(subject: Any, job: dict[str, Any], side: Side) -> str:
    """Return the kind of a function.

    Raises:
        NotTried: its arguments are unknown, or it has side effects.
    """
    names = parameters_of(subject)
    is_given = job["roles"] & {"loss", "metric"}
    if is_pair(names) or (
        is_given and _takes_two(subject, names) and not _makes_one(subject, side)
    ):
        return "loss or metric"
    if _takes_a_model(subject, job):
        if job["effect_beyond_models"]:
            _refuse(job["effect_beyond_models"])
        return "function of a model"
    activation = "activation" in job["roles"]
    if names and (activation or names[0].lower() in _TENSOR):
        makes_weights = model_of_block(subject, job, side) is not None
        return "block of layers" if makes_weights else "function of a tensor"
    if job["effect"]:
        _refuse(job["effect"])
    if not job["returns"]:
        return "function that prints"
    if names and draws.guess(names[0]) is None and not _is_called(job):
        if model_of_block(subject, job, side) is not None:
            return "block of layers"
        with contextlib.suppress(Exception):
            if "only" in TensorFunction.plan(subject, job, side):
                return "function of a tensor"
    named = draws.named_tensors(subject) and not _is_called(job)
    if named and model_of_block(subject, job, side) is not None:
        return "block of layers"
    return _kind_of_result(subject, job, side)


def _refuse(effect: list[str]) -> None:
    name, where = effect
    raise NotTried(f"it calls {name}() on {where}, which kdoctor does not run")


def _takes_a_model(subject: Any, job: dict[str, Any]) -> bool:
    """Say whether it requires a model and no call in the project shows another value."""
    return any(map(draws.is_model, draws.required_of(subject))) and not _is_called(job)


def _is_called(job: dict[str, Any]) -> bool:
    """Say whether the project has a call with known arguments."""
    return any(not call.get("open") for call in job["calls"])


def _kind_of_result(subject: Any, job: dict[str, Any], side: Side) -> str:
    """Call a function that may build something, and return its kind by the result."""
    first: BaseException | None = None
    for made_with in draws.arguments_for(subject, job["calls"]):
        try:
            found = made(subject, made_with, side)
        except BaseException as error:  # noqa: BLE001 - the next arguments may work
            first = first or error
            continue
        if is_model(found, side):
            return "model builder"
        if isinstance(found, side.keras.layers.Layer):
            return "maker of a layer"
        if isinstance(found, side.optimizers):
            return "maker of an optimizer"
        if are_callbacks(found, side):
            return "maker of callbacks"
        if callable(found) and not isinstance(found, type) and is_pair(parameters_of(found)):
            return "maker of a loss or metric"
        if isinstance(found, (types.FunctionType, functools.partial)):
            pair = draws.pairs()[0]
            tensor = side.backend.tensor
            true, predicted = tensor(pair.true), tensor(pair.predicted)
            with contextlib.suppress(Exception):
                plain(found(true, predicted))
                return "maker of a loss or metric"
            return "maker of a function of a tensor"
        if is_described(found, side):
            return "function of plain values"
        raise NotTried(f"it returns {type(found).__name__}, which kdoctor cannot compare")
    if first is not None and not draws.required_of(subject):
        raise first
    names = ", ".join(draws.required_of(subject))
    raise NotTried(f"kdoctor does not know what to pass for {names}")


def are_callbacks(found: Any, side: Side) -> bool:
    """Say whether a value is a callback, or a list of callbacks."""
    each = found if isinstance(found, (list, tuple)) else [found]
    return bool(each) and all(isinstance(one, side.keras.callbacks.Callback) for one in each)


def parameters_of(subject: Any) -> list[str]:
    """Return the names of the positional parameters."""
    with contextlib.suppress(TypeError, ValueError):
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        found = inspect.signature(subject).parameters.values()
        return [each.name for each in found if each.kind in kinds]
    return []


def is_pair(names: list[str]) -> bool:
    """Say whether the first two parameters are targets and predictions."""
    return len(names) > 1 and names[0].lower() in _TRUE and names[1].lower() in _PREDICTED


def _takes_two(subject: Any, names: list[str]) -> bool:
    return len(names) > 1 and len(draws.required_of(subject)) <= 2


def _makes_one(subject: Any, side: Side) -> bool:
    """Say whether it returns a loss or metric: ``compile(loss=weighted(2.0, 0.5))`` gives that."""
    pair = draws.pairs()[0]
    with contextlib.suppress(Exception):
        tensor = side.backend.tensor
        return callable(subject(tensor(pair.true), tensor(pair.predicted)))
    return False


def measure_pairs(call: Any, plan: dict[str, Any], side: Side) -> list[Case]:
    """Call a loss or metric with each pair; record its value, its gradient and its graph value.

    If it does not accept tensors, it is called with arrays, and only the value is recorded.
    """
    if plan.get("arrays"):
        return _of_arrays(call, plan)
    cases = _of_tensors(call, plan, side)
    if side.is_old and all(case.error for case in cases):
        others = _of_arrays(call, plan)
        plan["arrays"] = not all(case.error for case in others)
        cases = others if plan["arrays"] else cases
    return cases


def _of_arrays(call: Any, plan: dict[str, Any]) -> list[Case]:
    cases = []
    for pair in draws.pairs():
        if "only" in plan and pair.label not in plan["only"]:
            continue
        case = Case(pair.label)
        try:
            case.values["value"] = plain(call(pair.true.copy(), pair.predicted.copy()))
        except BaseException as error:  # noqa: BLE001 - it may reject an input
            case.error = error_text(error)
        cases.append(case)
    return equally_shaped(cases)


def _of_tensors(call: Any, plan: dict[str, Any], side: Side) -> list[Case]:
    backend, cases = side.backend, []
    in_graph = True
    for pair in draws.pairs():
        if "only" in plan and pair.label not in plan["only"]:
            continue
        case = Case(pair.label, is_edge=pair.is_edge)
        try:
            given = partial(_of_prediction, call, backend.tensor(pair.true))
            predicted = backend.tensor(pair.predicted)
            wanted = side.is_old or not pair.is_wide
            value, gradients = backend.differentiate(given, predicted, wanted=wanted)
            case.values["value"] = plain(value)
            if side.is_old and _is_clipped((gradients or [None])[0], pair):
                cases.append(Case(pair.label, error="it takes probabilities, and clips others"))
                continue
            if not pair.is_wide:
                case.values["gradient of the prediction"] = plain((gradients or [None])[0])
            if in_graph:
                case.values.update(plain(backend.compiled("value", given, predicted)))
                in_graph = False
        except BaseException as error:  # noqa: BLE001 - it may reject an input
            case = Case(pair.label, error=error_text(error))
        cases.append(case)
    return equally_shaped(cases)


def _of_prediction(call: Any, true: Any, predicted: Any) -> Any:
    return call(true, predicted)


def _is_clipped(gradient: Any, pair: draws.Pair) -> bool:
    """Say whether predictions and targets that are no probabilities are clipped.

    Nobody relies on the result: the epsilons at which the two versions clip decide it.
    """
    outside = (pair.predicted <= 0) | (pair.predicted >= 1)
    targets = pair.true.min() < 0 or pair.true.max() > 1
    if gradient is None or not targets or not outside.any() or outside.all():
        return False
    found = plain(gradient)
    return bool((found[outside] == 0).all() and found[~outside].any())


def equally_shaped(cases: list[Case]) -> list[Case]:
    """Drop pairs of different shapes if pairs of equal shapes work.

    The others also run, by broadcasting, but that is rarely intended.
    """
    alike = {pair.label for pair in draws.pairs() if pair.true.shape == pair.predicted.shape}
    if any(case.label in alike and not case.error for case in cases):
        return [case for case in cases if case.label in alike]
    return cases


class PairFunction:
    """A function of targets and predictions."""

    kind = "loss or metric"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the arguments after the first two."""
        del side
        varied = [call for call in job["calls"] if call.get("varied")]
        extra = draws.arguments_for(subject, varied, skip=2)
        return {"extra": extra[0], "defaults": _defaults(subject), "calls": len(job["calls"])}

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with each pair."""
        args, kwargs = plan["extra"]

        def call(true: Any, predicted: Any) -> Any:
            return subject(true, predicted, *args, **kwargs)

        return measure_pairs(call, plan, side)


class PairMaker(MadeWithArguments):
    """A function that returns a function of targets and predictions."""

    kind = "maker of a loss or metric"

    @staticmethod
    def is_wanted(found: Any, side: Side) -> bool:
        """Say whether the result is callable."""
        del side
        return callable(found)

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the arguments, and the numbers among the arguments and defaults."""
        plan = super().plan(subject, job, side)
        return {**plan, "defaults": {**_defaults(subject), **plan["made_with"][1]}}

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call the returned function with each pair."""
        return measure_pairs(made(subject, plan["made_with"], side), plan, side)


class TensorFunction:
    """A function of a tensor that has no weights."""

    kind = "function of a tensor"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return further arguments and the inputs that it accepts."""
        best: dict[str, Any] | None = None
        alone = {label for label, _ in draws.tensors()}
        tried = [
            {"extra": extra, "count": count}
            for count in draws.counts_of_tensors(subject)
            for extra in draws.arguments_for(subject, job["calls"], skip=count)
        ]
        for plan in tried:
            cases = TensorFunction.measure(subject, plan, side)
            good = {case.label for case in cases if not case.error}
            good = good & alone or good  # lists only if nothing else works
            good = {each for each in good if not each.startswith(draws.VOLUME)} or good
            if good:
                return {**plan, "only": good}
            best = best or plan
        assert best is not None
        return best

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with each input; record its value, its gradient and its graph value."""
        args, kwargs = plan["extra"]
        count = plan.get("count", 1)

        def call(tensor: Any) -> Any:
            several = tensor if count > 1 else [tensor]
            return subject(*several, *args, **kwargs)

        return [
            _measured(call, label, given_of(arrays, side), side)
            for label, arrays in draws.inputs()
            if label in plan.get("only", {label}) and count in {1, len(arrays)}
        ]


def _measured(call: Any, label: str, tensor: Any, side: Side) -> Case:
    """Call a function with a tensor or a list of tensors."""
    backend, case = side.backend, Case(label)
    side.fresh()
    try:
        is_wide = label.startswith(draws.WIDE)
        value, gradients = backend.differentiate(call, tensor, wanted=not is_wide)
        case.values["value"] = plain(value)
        if gradients:
            case.values["gradient of the input"] = plain(gradients)
        is_random = side.knows_as_random(case, "value")
        if not is_random and _is_repeatable(call, tensor, case.values["value"]):
            case.values.update(plain(backend.compiled("value", call, tensor)))
        else:
            case = Case(label, random_values("value", lambda: call(tensor)))
    except BaseException as error:  # noqa: BLE001 - it may reject an input
        return Case(label, error=error_text(error))
    return case


def _is_repeatable(call: Any, tensor: Any, value: Any) -> bool:
    """Say whether a second call gives the same value."""
    return str(plain(call(tensor))) == str(value)


def _defaults(subject: Any) -> dict[str, Any]:
    with contextlib.suppress(TypeError, ValueError):
        return {
            each.name: each.default
            for each in inspect.signature(subject).parameters.values()
            if isinstance(each.default, (int, float))
        }
    return {}


def is_described(found: Any, side: Side) -> bool:
    """Say whether a value can be described as plain data."""
    try:
        return found is not None and "<" not in str(described(found, side))
    except TypeError:
        return False


def described(value: Any, side: Side) -> Any:
    """Describe a value as plain data: numbers, texts, names.

    Raises:
        TypeError: it cannot be described; the text is the name of its type.
    """
    if isinstance(value, (type, types.FunctionType)) and "<" not in value.__qualname__:
        return value.__name__
    if isinstance(value, dict):
        return {str(key): described(each, side) for key, each in value.items()}
    if isinstance(value, types.GeneratorType):
        return [described(each, side) for each in itertools.islice(value, _MAX_YIELDED)]
    if isinstance(value, (list, tuple)):
        return [described(each, side) for each in value]
    if type(value).__name__ == "KerasTensor":
        (*_, source) = side.keras.utils.get_source_inputs(value)
        if source is value:
            dtype = getattr(value.dtype, "name", value.dtype)
            return f"an input of shape {tuple(value.shape)} and {dtype}"
        raise TypeError("KerasTensor")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.ndarray, np.generic)) or side.backend.is_tensor(value):
        return plain(value)
    raise TypeError(type(value).__name__)


EXERCISES = (PairFunction, PairMaker, TensorFunction, *MODEL_EXERCISES)
