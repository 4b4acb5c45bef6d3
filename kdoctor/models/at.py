"""Where in a saved model something is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.models.obstacle import Fault, Obstacle, Part, Remedy
from kdoctor.target import Target

MAX_DEPTH: Final = 300  # keys and indices; of Python's own limit they take a third
MAX_SHOWN: Final = 80  # characters of a name that a file holds


class At(Struct, frozen=True):
    """A place in a configuration that a target is to read.

    ``place`` is for people (names of layers), ``path`` for programs (keys and indices).
    """

    target: Target
    place: str = ""
    path: tuple[str | int, ...] = ()
    part: Part = Part.MODEL

    def down(self, *keys: str | int) -> At:
        """Return the place of what these keys lead to.

        Raises:
            RecursionError: it is too deep for a model.
        """
        path = (*self.path, *keys)
        if len(path) > MAX_DEPTH:
            raise RecursionError
        return At(self.target, self.place, path, self.part)

    def named(self, value: Mapping[str, Any]) -> At:
        """Return the place with the name of the object there, where it has one."""
        config = value.get("config")
        name = config.get("name") if isinstance(config, dict) else None
        if not isinstance(name, str):
            return self
        place = f"{self.place}/{shown(name)}".lstrip("/")
        return At(self.target, place, self.path, self.part)

    def obstacle(
        self, fault: Fault, cause: str, cure: str, remedy: Remedy, subject: str = ""
    ) -> Obstacle:
        """Return an obstacle at this place that keeps the target from loading the model."""
        return Obstacle(
            self.place,
            cause,
            cure,
            fault=fault,
            remedy=remedy,
            part=self.part,
            path=self.path,
            subject=subject,
        )

    def renamed(self, fault: Fault, cause: str, subject: str, became: str) -> Obstacle:
        """Return the obstacle of a name that is another one on the target."""
        cure = "`kdoctor model --convert` writes the new name into the configuration."
        found = self.obstacle(fault, cause, cure, Remedy.CONVERT, subject)
        return replace(found, became=became)


def shown(value: object) -> str:
    """Return a name or a value that a file holds, as short as a message needs it."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= MAX_SHOWN and text.isprintable():
        return text
    text = "".join(each if each.isprintable() else "?" for each in text[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
