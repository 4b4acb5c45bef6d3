"""Verify classes with no Keras base, by the results of their methods."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from . import draws, effects, small_models
from .entered_methods import all_entered, entered
from .frameworks import Side
from .instantiate import of_arguments
from .measurement import MODEL_TOLERANCE, Case, NotTried, Rejected, error_text, most_informative
from .model_functions import repeated, value_of

_KINDS = (small_models.PICTURES, small_models.VECTORS)
_MAX_ARGUMENTS = 4  # sets of arguments for one method


class PlainClass:
    """A class whose methods are called, each on a new object."""

    kind = "class of methods"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return arguments for the class and its methods with which they return something.

        Raises:
            NotTried: no method returns anything comparable, or a method that must run does not.
        """
        methods = [each for each in methods_of(subject) if each not in job["methods_with_effects"]]
        first: BaseException | None = None
        errors: list[str] = []
        for kind in _KINDS:
            for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_MODELS):
                plan: dict[str, Any] = {"made_with": made_with, "model": kind, "methods": {}}
                try:
                    _made(subject, plan, side)
                except BaseException as error:  # noqa: BLE001 - other arguments may work
                    first = first or of_arguments(error, subject, job)
                    continue
                for name in methods:
                    taken = _arguments_of(subject, name, plan, side, errors)
                    if taken is not None:
                        plan["methods"][name] = taken
                if plan["methods"]:
                    # Again: methods that raised with other arguments did not run to the end.
                    with entered(subject) as ran:
                        PlainClass.measure(subject, plan, side)
                    all_entered([*job["changes"], *job["of_keras"]], ran, errors)
                    return plan
        if errors:
            raise Rejected(most_informative(errors))
        raise first or NotTried("none of its methods returns anything that can be compared")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call its methods; twice on Keras 2, to keep only what is reproducible."""
        case = Case(f"generated arguments, {plan['model']}", tolerance=MODEL_TOLERANCE)
        case.sensitivity = effects.roughness()
        for name, made_with in plan["methods"].items():
            try:
                values = _given(subject, name, made_with, plan, side)
                if side.is_old:
                    again = _given(subject, name, made_with, plan, side)
                    with contextlib.suppress(NotTried):
                        values = repeated(values, again, {_value(name)})
            except BaseException as error:  # noqa: BLE001 - user code may raise anything
                return [Case(case.label, error=f"{error_text(error)} in {name}()")]
            case.values.update(values)
        if not case.values:
            raise NotTried("its result differs from run to run")
        return [case]


def methods_of(subject: type) -> list[str]:
    """Return the names of public methods, including those of user-defined bases."""
    found: dict[str, None] = {}
    for each in reversed(subject.__mro__[:-1]):
        for name, value in vars(each).items():
            function = getattr(value, "__func__", value)
            is_open = not name.startswith("_") or name == "__call__"
            if is_open and hasattr(function, "__code__"):
                found[name] = None
    return list(found)


def _made(subject: Any, plan: dict[str, Any], side: Side) -> Any:
    side.fresh()
    args, kwargs = small_models.resolved(plan["made_with"], plan["model"], side)
    return subject(*args, **kwargs)


def _arguments_of(
    subject: Any, name: str, plan: dict[str, Any], side: Side, errors: list[str]
) -> Any:
    """Return the first arguments with which a method returns something, else None."""
    method = getattr(_made(subject, plan, side), name)
    for made_with in draws.arguments_for(method, [], names=draws.OF_MODELS)[:_MAX_ARGUMENTS]:
        try:
            values = _given(subject, name, made_with, plan, side)
        except BaseException as error:  # noqa: BLE001 - other arguments may work
            errors.append(f"{error_text(error)} in {name}()")
            continue
        if values:
            return made_with
    return None


def _given(
    subject: Any, name: str, made_with: Any, plan: dict[str, Any], side: Side
) -> dict[str, Any]:
    """Return what a method of a new object returns, prints and writes to files."""
    made = _made(subject, plan, side)
    model = small_models.model(plan["model"], side)
    args, kwargs = small_models.resolved(made_with, plan["model"], side, model)
    known = effects.files(Path.cwd())
    with effects.printing() as text:
        value = getattr(made, name)(*args, **kwargs)
    found: dict[str, Any] = {}
    if value is not None:
        found[_value(name)] = value_of(value, plan["model"], side)
    said = effects.printed(text.getvalue())
    if said is not None:
        found[f"{effects.PRINTED} in {name}()"] = said
    for what, each in effects.written(Path.cwd(), known).items():
        found[f"{what} in {name}()"] = each
    return found


def _value(name: str) -> str:
    return f"value of {name}()"
