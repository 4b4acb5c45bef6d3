"""What names of one's own code were seen to hold as the program ran, by file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from kdoctor.syntax.type_sets import Types
from kdoctor.value_types import Observation

_NO_TYPES: Final[Types] = frozenset()
_NOTHING: Final[Mapping[tuple[str, str], Observation]] = {}


class Observations:
    """Observations of a program's runs. Those of one name that differ count for nothing."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        found: dict[str, dict[tuple[str, str], Observation | None]] = {}
        for each in observations:
            here = found.setdefault(each.path, {})
            key = each.function, each.name
            here[key] = each if here.get(key, each) == each else None
        self._by_path = {
            path: {key: each for key, each in here.items() if each is not None}
            for path, here in found.items()
        }

    def of(self, path: str) -> FileObservations:
        """Return those of one file."""
        if not self._by_path:
            return NOT_SEEN
        return FileObservations(self._by_path.get(os.path.realpath(path), _NOTHING))


class FileObservations:
    """The observations of one file, by qualified function and name."""

    def __init__(self, found: Mapping[tuple[str, str], Observation]) -> None:
        self._found = found

    def of(self, function: str, name: str) -> Observation | None:
        """Return what a name of a function was seen to hold; of an attribute, "" and ``.name``."""
        return self._found.get((function, name))

    def may_be(self, name: str) -> Types:
        """Return the types that names so called were seen to have, wherever."""
        if not self._found:  # as nearly always
            return _NO_TYPES
        seen = (each.type for (_, known), each in self._found.items() if known == name)
        return frozenset(each for each in seen if each is not None)

    @property
    def types(self) -> Types:
        """All types that were seen."""
        return frozenset(each.type for each in self._found.values() if each.type is not None)


NOT_SEEN: Final = FileObservations(_NOTHING)
