"""Names of layers as Keras 3 takes them, and as it writes them into a file of weights."""

from __future__ import annotations

import re
from collections.abc import Collection


def without_slashes(name: str, used: Collection[str]) -> str:
    """Return a name without slashes, which Keras 3 refuses, that is not used yet."""
    made = name.replace("/", "_")
    while made != name and made in used:
        made += "_"
    return made


def snake_case(name: str) -> str:
    """Return the name by which the saved weights of a class are addressed.

    As ``keras.src.utils.naming.to_snake_case`` and its like in Keras 2 do it.
    """
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


class Numbered:
    """Names in a list of objects: the second ``dense`` is ``dense_1``."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def name(self, class_name: str) -> str:
        """Return the name of the next object of a class."""
        name = snake_case(class_name)
        number = self._used.get(name, -1) + 1
        self._used[name] = number
        return f"{name}_{number}" if number else name
