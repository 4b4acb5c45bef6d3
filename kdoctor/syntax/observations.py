"""What names of one's own code were seen to hold as the program ran, by file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kdoctor.syntax.type_sets import Types
from kdoctor.value_types import Observation

_NO_TYPES: Final[Types] = frozenset()
_NOTHING: Final[Mapping[tuple[str, str], Observation]] = {}
_NO_ERRORS: Final[Mapping[str, Sequence[str]]] = {}


class Observations:
    """Observations of a program's runs. Those of one name that differ count for nothing."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        found: dict[str, dict[tuple[str, str], Observation | None]] = {}
        errors: dict[str, dict[str, list[str]]] = {}
        for each in observations:
            if each.raised:
                errors.setdefault(each.path, {}).setdefault(each.function, []).append(each.raised)
                continue
            here = found.setdefault(each.path, {})
            key = each.function, each.name
            here[key] = each if here.get(key, each) == each else None
        self._by_path = {
            path: {key: each for key, each in here.items() if each is not None}
            for path, here in found.items()
        }
        self._errors = errors

    def of(self, path: str) -> FileObservations:
        """Return those of one file."""
        if not (self._by_path or self._errors):
            return NOT_SEEN
        real = os.path.realpath(path)
        return FileObservations(
            self._by_path.get(real, _NOTHING), self._errors.get(real, _NO_ERRORS)
        )


class FileObservations:
    """The observations of one file, by qualified function and name.

    ``errors`` are those that calls raised, by qualified function.
    """

    def __init__(
        self,
        found: Mapping[tuple[str, str], Observation],
        errors: Mapping[str, Sequence[str]] = _NO_ERRORS,
    ) -> None:
        self._found = found
        self.errors = errors

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
