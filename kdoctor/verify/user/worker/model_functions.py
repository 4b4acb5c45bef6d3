"""Verify functions of a model, by result, output and changes to it, and functions that print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import draws, effects, small_models
from .frameworks import Side
from .functions import described
from .instantiate import of_arguments
from .measurement import (
    MODEL_TOLERANCE,
    Case,
    NotTried,
    Rejected,
    error_text,
    most_informative,
    plain,
)

_KINDS = (small_models.VECTORS, small_models.PICTURES)
_VALUE = "value"


class FunctionOfModel:
    """A function of a model, called with a small model."""

    kind = "function of a model"

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return further arguments with which it has a visible effect.

        Raises:
            NotTried: it returns, prints and changes nothing that can be compared.
        """
        refused: list[str] = []
        unseen: NotTried | None = None
        skip = int(draws.is_model(next(iter(draws.required_of(subject)), "")))
        tried = draws.arguments_for(subject, job["calls"], skip=skip, names=draws.OF_MODELS)
        for made_with in tried:
            for kind in _KINDS:
                plan = {"made_with": made_with, "model": kind, "skip": skip}
                try:
                    values = _called(subject, plan, side)
                    return {**plan, "seen": _seen(values, kind, side)}
                except NotTried as reason:
                    unseen = unseen or reason
                except BaseException as error:  # noqa: BLE001 - other arguments may work
                    refused.append(error_text(of_arguments(error, subject, job)))
        if unseen is not None:
            raise unseen
        raise Rejected(
            most_informative(refused or ["kdoctor does not know what arguments it takes"])
        )

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it; twice on Keras 2, to keep only what is reproducible."""
        case = Case(plan["model"], tolerance=MODEL_TOLERANCE)
        return [_measured(case, lambda: _called(subject, plan, side), plan["seen"], side)]


def repeated(values: dict[str, Any], again: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    """Return the values that are the same both times.

    Raises:
        NotTried: none of the ``seen`` ones is.
    """
    kept = {
        name: value
        for name, value in values.items()
        if name in again and str(again[name]) == str(value)
    }
    if not seen & kept.keys():
        raise NotTried("its result differs from run to run")
    return kept


def _called(subject: Any, plan: dict[str, Any], side: Side) -> dict[str, Any]:
    """Return a function's result for a small model, its output, and the model's state after it."""
    side.fresh()
    model = small_models.model(plan["model"], side)
    args, kwargs = small_models.resolved(plan["made_with"], plan["model"], side, model)
    with effects.printing() as text:
        value = subject(*([model] * plan["skip"]), *args, **kwargs)
        found = {_VALUE: value_of(value, plan["model"], side)}
    said = effects.printed(text.getvalue())
    if said is not None:
        found[effects.PRINTED] = said
    return {**found, **_state_of(model, plan["model"], side)}


def value_of(value: Any, kind: str, side: Side) -> Any:
    """Return a value as comparable data; a model as its output and trainable weights.

    Raises:
        NotTried: it cannot be compared.
    """
    if isinstance(value, side.keras.Model):
        return _state_of(value, kind, side, with_weights=False)
    if isinstance(value, dict):
        return {str(key): value_of(each, kind, side) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [value_of(each, kind, side) for each in value]
    try:
        return described(value, side)
    except TypeError as error:
        raise NotTried(f"it returns {error}, which kdoctor cannot compare") from error


def _state_of(model: Any, kind: str, side: Side, *, with_weights: bool = True) -> dict[str, Any]:
    x = small_models.data(kind).held_out_x
    if tuple(model.inputs[0].shape[1:]) != x.shape[1:] or len(model.inputs) > 1:
        raise NotTried("it returns a model whose inputs differ from those of the model it is given")
    found: dict[str, Any] = {
        "output of the model": plain(model(side.backend.tensor(x), training=False)),
        "trainable weights": [tuple(each.shape) for each in model.trainable_weights].__str__(),
    }
    if with_weights:
        found["weights of the model"] = model.get_weights()
        rate = getattr(model.optimizer, "learning_rate", None)
        found["learning rate of the model"] = None if rate is None else float(plain(rate))
    return found


def _seen(values: dict[str, Any], kind: str, side: Side) -> set[str]:
    """Return the values that show an effect of a function: a result, output, a changed model.

    Raises:
        NotTried: there are none.
    """
    side.fresh()
    untouched = _state_of(small_models.model(kind, side), kind, side)
    seen = {name for name, value in values.items() if str(untouched.get(name)) != str(value)}
    if not seen:
        raise NotTried("it returns nothing, prints nothing and does not change the model")
    return seen


def _measured(case: Case, call: Callable[[], dict[str, Any]], seen: set[str], side: Side) -> Case:
    """Return the case with what a call gives, or with its error; on Keras 2 of two calls."""
    try:
        case.values = call()
        if side.is_old:
            case.values = repeated(case.values, call(), seen)
    except NotTried:
        raise
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        return Case(case.label, error=error_text(error))
    return case


class PrintingFunction:
    """A function that returns nothing, compared by its printed output."""

    kind = "function that prints"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first arguments with which it prints something.

        Raises:
            NotTried: it prints nothing.
        """
        refused: list[str] = []
        for made_with in draws.arguments_for(subject, job["calls"]):
            try:
                if effects.PRINTED in _said(subject, made_with, side):
                    return {"made_with": made_with, "seen": {effects.PRINTED}}
            except BaseException as error:  # noqa: BLE001 - other arguments may work
                refused.append(error_text(of_arguments(error, subject, job)))
        if refused:
            raise Rejected(most_informative(refused))
        raise NotTried("it returns nothing, so there is nothing to compare")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it; twice on Keras 2."""
        case = Case("the project's own arguments, or the defaults", tolerance=MODEL_TOLERANCE)
        return [
            _measured(case, lambda: _said(subject, plan["made_with"], side), plan["seen"], side)
        ]


def _said(subject: Any, made_with: Any, side: Side) -> dict[str, Any]:
    side.fresh()
    args, kwargs = made_with
    with effects.printing() as text:
        subject(*args, **kwargs)
    said = effects.printed(text.getvalue())
    return {} if said is None else {effects.PRINTED: said}


EXERCISES = (FunctionOfModel, PrintingFunction)
