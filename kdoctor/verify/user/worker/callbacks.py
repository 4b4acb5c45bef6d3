"""Verify callbacks: train a small model with one and compare the model and the callback."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import draws, effects, small_models
from .entered_methods import all_entered, entered
from .frameworks import Side
from .functions import described
from .instantiate import of_arguments
from .measurement import MODEL_TOLERANCE, Case, NotTried, Rejected, error_text, most_informative

_EPOCHS = 3
# Attributes that Keras sets on a callback, or that depend on the clock.
_OF_KERAS = {"model", "params", "validation_data", "seen", "set_model", "set_params"}
_RENAMED = {"lr": "learning_rate"}
_FRAMEWORKS = {"keras", "tf_keras", "tensorflow", "builtins"}
_OF_PICTURES = ("image", "class_index", "layer_name", "layers_name")


@dataclass
class _Run:
    """One training run with a callback: its values, and the methods that were entered.

    ``still`` holds attributes of the callback that training did not change, ``unread`` the
    extensions of written files that are not compared.
    """

    case: Case
    ran: set[str]
    still: set[str]
    unread: list[str]


class CallbackClass:
    """A callback: a small model is trained and evaluated with it, and makes predictions."""

    kind = "callback"

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return arguments for its constructor, and a model that it can be trained with.

        Raises:
            NotTried: it has no visible effect, or the code that the fix changes does not run.
        """
        first: BaseException | None = None
        refused: list[str] = []
        for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_MODELS):
            for kind in _kinds_for(subject):
                plan = {"made_with": made_with, "model": kind}
                try:
                    _made(subject, plan, side)
                except BaseException as error:  # noqa: BLE001 - other arguments may work
                    first = first or of_arguments(error, subject, job)
                    continue
                run = _trained(subject, plan, side)
                if run.case.error:
                    refused.append(run.case.error)
                    continue
                all_entered([*job["changes"], *job["of_keras"]], run.ran)
                seen = _seen(run, kind, side)
                return {**plan, "seen": seen, "first": run.case, "unread": run.unread}
        if refused:
            raise Rejected(most_informative(refused))
        raise first or NotTried("kdoctor does not know what arguments it takes")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Train with it; twice on Keras 2, to keep only what is reproducible."""
        if not side.is_old:
            return [_trained(subject, plan, side).case]
        case: Case = plan.pop("first")
        again = _trained(subject, plan, side).case
        case.values = {
            name: value
            for name, value in case.values.items()
            if name in again.values and str(again.values[name]) == str(value)
        }
        if not plan["seen"] & case.values.keys():
            raise NotTried("its effect differs from run to run")
        return [case]


def _made(subject: Any, plan: dict[str, Any], side: Side) -> Any:
    side.fresh()
    args, kwargs = small_models.resolved(plan["made_with"], plan["model"], side)
    return subject(*args, **kwargs)


def _trained(subject: Any, plan: dict[str, Any], side: Side) -> _Run:
    case = Case(f"{plan['model']}, {_EPOCHS} epochs", tolerance=MODEL_TOLERANCE)
    case.sensitivity = effects.roughness()
    known = effects.files(Path.cwd())
    run = _Run(case, set(), set(), [])
    try:
        with entered(subject) as run.ran, effects.printing() as text:
            callback = _made(subject, plan, side)
            before = state_of(callback, side)
            case.values.update(trained_with([callback], plan["model"], side))
        after = state_of(callback, side)
        case.values.update(after)
        run.still = {name for name in after if str(before.get(name)) == str(after[name])}
        said = effects.printed(text.getvalue())
        if said is not None:
            case.values[effects.PRINTED] = said
        _close(callback)
        case.values.update(effects.written(Path.cwd(), known))
        run.unread = effects.unread(Path.cwd(), known)
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        run.case = Case(case.label, error=error_text(error))
    return run


def _kinds_for(subject: Any) -> tuple[str, ...]:
    names = draws.required_of(subject)
    of_pictures = any(each.startswith(_OF_PICTURES) for each in names)
    kinds = (small_models.VECTORS, small_models.PICTURES)
    return kinds[::-1] if of_pictures else kinds


def trained_with(callbacks: list[Any], kind: str, side: Side) -> dict[str, Any]:
    """Train, evaluate and predict with a small model and callbacks; return what came of it."""
    model, data = small_models.model(kind, side), small_models.data(kind)
    with_it: dict[str, Any] = {"callbacks": callbacks, "verbose": 0}
    history = model.fit(
        data.x,
        data.y,
        batch_size=small_models.BATCH,
        epochs=_EPOCHS,
        shuffle=False,
        validation_data=(data.held_out_x, data.held_out_y),
        **with_it,
    )
    # A second time: it may have kept state from the first training.
    model.fit(data.x, data.y, batch_size=small_models.BATCH, epochs=1, shuffle=False, **with_it)
    if any(_has_hooks(each, "test") for each in callbacks):
        model.evaluate(data.held_out_x, data.held_out_y, **with_it)
    if any(_has_hooks(each, "predict") for each in callbacks):
        model.predict(data.held_out_x, **with_it)
    found: dict[str, Any] = {
        f"history of {_RENAMED.get(name, name)}": [float(np.asarray(each)) for each in values]
        for name, values in history.history.items()
        if all(isinstance(each, (int, float, np.generic, np.ndarray)) for each in values)
    }
    found["epochs"] = list(map(int, history.epoch))
    found["learning rate after training"] = float(np.asarray(model.optimizer.learning_rate))
    found["whether it stopped training"] = bool(model.stop_training)
    for number, weight in enumerate(model.get_weights()):
        found[f"weight {number} after training"] = weight
    return found


def _has_hooks(callback: Any, phase: str) -> bool:
    """Say whether the user's own code in a callback has hooks for a phase."""
    classes = [each for each in type(callback).__mro__ if is_of_user(each)]
    return any(f"on_{phase}_" in name for each in classes for name in vars(each))


def is_of_user(subject: type) -> bool:
    """Say whether a class is the user's own, not one of the frameworks."""
    return subject.__module__.partition(".")[0] not in _FRAMEWORKS


def state_of(callback: Any, side: Side) -> dict[str, Any]:
    """Return attributes that the callback's own code uses, if they can be described as data."""
    own = _names_in(type(callback))
    found = {}
    for name, value in vars(callback).items():
        if name.startswith("_") or name in _OF_KERAS or name not in own:
            continue
        with contextlib.suppress(TypeError):
            found[f"its {name}"] = described(value, side)
    return found


def _names_in(subject: type) -> set[str]:
    """Return the names used by the methods of a class and of its user-defined bases."""
    found = set()
    for each in subject.__mro__:
        if is_of_user(each):
            for value in vars(each).values():
                found |= set(getattr(getattr(value, "__code__", None), "co_names", ()))
    return found


def _close(callback: Any) -> None:
    """Flush what it writes for TensorBoard to its files."""
    for value in vars(callback).values():
        with contextlib.suppress(Exception):
            value.flush()


def _seen(run: _Run, kind: str, side: Side) -> set[str]:
    """Return the values on which a callback has an effect, compared with training without it.

    Raises:
        NotTried: there are none.
    """
    side.fresh()
    alone = trained_with([], kind, side)
    seen = {
        name
        for name, value in run.case.values.items()
        if name not in run.still and (name not in alone or str(alone[name]) != str(value))
    }
    if not seen:
        raise NotTried("it has no visible effect on the training of a small model")
    return seen
