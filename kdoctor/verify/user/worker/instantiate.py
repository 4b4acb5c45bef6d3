"""Find arguments with which a definition can be called."""

from __future__ import annotations

from typing import Any

from . import draws
from .frameworks import Side
from .measurement import NotTried, Rejected, error_text
from .small_models import resolved


def made(subject: Any, made_with: Any, side: Side) -> Any:
    """Call a definition in a fresh Keras session."""
    side.fresh()
    args, kwargs = resolved(made_with, "", side)
    return subject(*args, **kwargs)


def first_arguments(subject: Any, job: dict[str, Any], side: Side) -> Any:
    """Return the first arguments that work; if none do, raise the first error."""
    first: BaseException | None = None
    for made_with in draws.arguments_for(subject, job["calls"]):
        try:
            made(subject, made_with, side)
        except BaseException as error:  # noqa: BLE001 - other arguments may do
            first = first or error
            continue
        return made_with
    assert first is not None
    raise of_arguments(first, subject, job)


def of_arguments(error: BaseException, subject: Any, job: dict[str, Any]) -> BaseException:
    """Return the error of a call, as ``Rejected`` if its arguments were guessed."""
    guessed = not job["is_called"] and draws.required_of(subject)
    return Rejected(error_text(error)) if guessed else error


class MadeWithArguments:
    """Base of kinds that use the first arguments with the wanted kind of result."""

    @staticmethod
    def is_wanted(found: Any, side: Side) -> bool:
        """Say whether the result has the wanted kind."""
        raise NotImplementedError

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return those arguments.

        Raises:
            NotTried: there are none.
        """
        for made_with in draws.arguments_for(subject, job["calls"]):
            try:
                found = made(subject, made_with, side)
            except BaseException:  # noqa: BLE001, S112 - other arguments may work
                continue
            if cls.is_wanted(found, side):
                return {"made_with": made_with}
        raise NotTried("kdoctor does not know what arguments it takes")
