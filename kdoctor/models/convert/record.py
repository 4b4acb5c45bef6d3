"""What a conversion changed in a saved model, and what it could not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from kdoctor.keras_api import signature
from kdoctor.models.at import shown
from kdoctor.models.convert.lambda_sources import Lambdas
from kdoctor.models.obstacle import Fault, Obstacle, Part
from kdoctor.target import Target

BY_HAND: Final = "kdoctor.by_hand"  # stands for the module of what cannot be converted


class Change(Struct, frozen=True):
    """One thing that was rewritten: where, and what. ``place`` is "" for the file as a whole."""

    place: str
    text: str


class Record:
    """What one conversion changes and what stands in its way, in the order of the file.

    ``needed`` are the classes and functions of the user's, which stay as they are: to load the new
    file takes them. ``lambdas`` has the sources of functions. ``has_weights``: whether the file has
    them, and not the configuration alone.
    """

    def __init__(
        self, target: Target, lambdas: Lambdas | None = None, *, has_weights: bool = True
    ) -> None:
        self.target, self.lambdas, self.has_weights = target, lambdas or Lambdas(), has_weights
        self.changes: list[Change] = []
        self.refusals: list[Obstacle] = []
        self.needed: list[Obstacle] = []

    def change(self, place: str, text: str) -> None:
        """Note a change, once."""
        found = Change(place, text)
        if found not in self.changes:
            self.changes.append(found)

    def refuse(
        self, place: str, cause: str, fault: Fault, subject: str = "", cure: str = ""
    ) -> None:
        """Note what cannot be converted."""
        self.refusals.append(
            Obstacle(place, cause, cure, fault=fault, part=Part.MODEL, subject=shown(subject))
        )

    def need(self, obstacle: Obstacle) -> None:
        """Note a class or a function that whoever loads the new file has to pass, once."""
        if obstacle not in self.needed:
            self.needed.append(obstacle)

    def takes(self, qualified: str, argument: str) -> bool:
        """Say whether a callable of the target has a parameter of that name."""
        found = signature(qualified, self.target)
        return found is not None and found.parameter(argument) is not None


def inside(place: str, config: Any) -> str:
    """Return the place of an object from the place that it is in."""
    name = config.get("name") if isinstance(config, dict) else None
    if not isinstance(name, str) or not name:
        return place
    return f"{place}/{shown(name)}" if place else shown(name)


def by_hand(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands for an object that cannot be converted."""
    config = value.get("config")
    return {
        "module": BY_HAND,
        "class_name": value["class_name"],
        "config": config if isinstance(config, dict) else {},
        "registered_name": None,
    }
