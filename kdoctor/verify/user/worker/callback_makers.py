"""Verify functions that return callbacks, by their settings and by training with them."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import numpy as np

from . import effects, small_models
from .callbacks import is_of_user, state_of, trained_with
from .frameworks import Side
from .functions import are_callbacks, described
from .instantiate import MadeWithArguments, made
from .measurement import MODEL_TOLERANCE, Case, NotTried, error_text
from .model_functions import repeated

_SETTING = "value of "
_CASE = f"{small_models.VECTORS}, trained with them"


class CallbackMaker(MadeWithArguments):
    """A function that returns a callback, or a list of them."""

    kind = "maker of callbacks"

    is_wanted = staticmethod(are_callbacks)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Train a small model with them; twice on Keras 2, to keep only what is reproducible.

        Raises:
            NotTried: what a function or the user's own class does has no visible effect.
        """
        case = Case(_CASE, tolerance=MODEL_TOLERANCE)
        case.sensitivity = effects.roughness()
        try:
            case.values = _measured(subject, plan, side)
            if side.is_old:
                seen = _seen(case.values, plan, side)
                case.values = repeated(case.values, _measured(subject, plan, side), seen)
        except NotTried:
            raise
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            return [Case(case.label, error=error_text(error))]
        return [case]


def _measured(subject: Any, plan: dict[str, Any], side: Side) -> dict[str, Any]:
    """Return what they are set to, and what comes of training with them.

    ``plan`` carries from Keras 2 to Keras 3 which settings there are.
    """
    found = made(subject, plan["made_with"], side)
    callbacks = list(found) if isinstance(found, (list, tuple)) else [found]
    if side.is_old:
        plan["settings"] = [_settings_of(each, side) for each in callbacks]
        plan["works_unseen"] = any(map(_works_unseen, callbacks))
    values: dict[str, Any] = {"kinds": [type(each).__name__ for each in callbacks]}
    for number, (each, known) in enumerate(zip(callbacks, plan["settings"])):  # noqa: B905
        for name, value in known.items():
            now = value if side.is_old else _setting(each, name, value, side)
            values[f"{_SETTING}{name} of callback {number}"] = now
    before = _states_of(callbacks, side)
    with effects.printing() as text:
        values.update(trained_with(callbacks, small_models.VECTORS, side))
    said = effects.printed(text.getvalue())
    if said is not None:
        values[effects.PRINTED] = said
    after = _states_of(callbacks, side)
    plan["still"] = {name for name in after if str(before.get(name)) == str(after[name])}
    return {**values, **after}


def _states_of(callbacks: list[Any], side: Side) -> dict[str, Any]:
    return {
        f"{name}, of callback {number}": value
        for number, each in enumerate(callbacks)
        for name, value in state_of(each, side).items()
    }


def _works_unseen(callback: Any) -> bool:
    """Say whether its settings do not tell what it does: it has code of the user's."""
    given = inspect.signature(type(callback).__init__).parameters
    has_functions = any(callable(getattr(callback, name, None)) for name in given)
    return has_functions or is_of_user(type(callback))


def _seen(values: dict[str, Any], plan: dict[str, Any], side: Side) -> set[str]:
    """Return the values that show what they do: in training, else their settings.

    Raises:
        NotTried: there are none.
    """
    side.fresh()
    alone = trained_with([], small_models.VECTORS, side)
    settings = {name for name in values if name.startswith(_SETTING)}
    passed_over = {"kinds", *plan["still"], *settings}
    seen = {
        name
        for name, value in values.items()
        if name not in passed_over and str(alone.get(name)) != str(value)
    }
    if not plan["works_unseen"]:
        seen = seen or settings
    if not seen:
        raise NotTried("they have no visible effect on the training of a small model")
    return seen


def _settings_of(callback: Any, side: Side) -> dict[str, Any]:
    """Return the arguments of its constructor that it keeps under their names, as plain data."""
    found = {}
    for name in inspect.signature(type(callback).__init__).parameters:
        with contextlib.suppress(AttributeError, TypeError):
            found[name] = _number(described(getattr(callback, name), side))
    return found


def _setting(callback: Any, name: str, before: Any, side: Side) -> Any:
    """Return what one of them is now; as before, where the class no longer has it."""
    if name not in inspect.signature(type(callback).__init__).parameters:
        return before
    return _number(described(getattr(callback, name, None), side))


def _number(value: Any) -> Any:
    """Return a number as a float: where one side keeps 0, the other keeps 0.0."""
    is_number = isinstance(value, (int, float, np.generic)) and not isinstance(value, bool)
    return float(value) if is_number else value


EXERCISES = (CallbackMaker,)
