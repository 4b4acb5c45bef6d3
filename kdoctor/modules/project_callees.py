"""What functions of the project call from outside of it, with what they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Final

from kdoctor.modules.definitions import UNCLEAR, Definition, Definitions
from kdoctor.modules.module_summary import Class, ModuleSummary
from kdoctor.modules.parameter_flow import Callees, Handed
from kdoctor.syntax.package import AN_OBJECT, ParameterCallees

_MAX_DEPTH: Final = 3  # functions that hand it on to each other
_MAX_BASES: Final = 4  # classes on the way to the one that has a method
_MAX_WAYS: Final = 8  # of what one parameter is handed to
_CALL: Final = "__call__"
_SELF: Final = "self"

Named = tuple[tuple[str, ...], bool]
"""Dotted names, of which one is called in each run, or, where it is not sure, may be."""


class ProjectCallees:
    """Follows parameters through functions and methods of the project.

    An object that is called, whatever it is, is ``AN_OBJECT``.

    ``written`` returns what a module's function or method calls with its parameters, ``meaning``
    the dotted name that a name of a module has outside of the project, None if it has none.
    """

    def __init__(
        self,
        definitions: Definitions,
        summary: Callable[[str], ModuleSummary | None],
        written: Callable[[str, str], tuple[Callees, ...] | None],
        meaning: Callable[[str, str], object],
    ) -> None:
        self._definitions = definitions
        self._summary = summary
        self._written = written
        self._meaning = meaning

    def of(self, found: Definition, *, instance: bool) -> ParameterCallees:
        """Return what a function, or an instance of a class, calls."""
        name = self._callable(found, instance=instance)
        return [] if name is None else list(self._callees(*name, _MAX_DEPTH))

    def _callable(self, found: Definition, *, instance: bool) -> Definition | None:
        cls = self._class(found)
        if not instance or cls is None:
            return None if instance or cls is not None else found
        return self._method(found, _CALL)

    def _method(self, found: Definition, name: str) -> Definition | None:
        """Return where a method of a class is: in it, or in a base of the project."""
        place: Definition | None = found
        for _ in range(_MAX_BASES):
            cls = None if place is None else self._class(place)
            if place is None or cls is None:
                return None
            if name in cls.members:
                return Definition(place.path, f"{place.name}.{name}")
            base = cls.bases[0] if len(cls.bases) == 1 else None
            place = self._own(place.path, base) if base else None
        return None

    def _class(self, found: Definition) -> Class | None:
        summary = self._summary(found.path)
        bound = list(summary.names.get(found.name, ())) if summary else []
        return bound[0] if len(bound) == 1 and isinstance(bound[0], Class) else None

    def _own(self, path: str, name: str) -> Definition | None:
        found = None if "." in name else self._definitions.written(path, name)
        return None if found is UNCLEAR else found

    def _callees(
        self, path: str, name: str, depth: int
    ) -> Iterator[tuple[int, tuple[str, ...], bool]]:
        for position, alternatives, sure in self._written(path, name) or ():
            options = [list(self._names(path, name, each, depth)) for each in alternatives]
            for chosen in islice(product(*options), _MAX_WAYS):
                called = dict.fromkeys(each for names, _ in chosen for each in names)
                yield position, tuple(called), sure and all(is_sure for _, is_sure in chosen)

    def _called(self, path: str, cls: str, callee: str) -> Definition | None:
        """Return the function or method of the project that a name, or ``self.name``, calls."""
        owner, _, member = callee.partition(".")
        if cls and owner == _SELF and member and "." not in member:
            return self._method(Definition(path, cls), member)
        found = self._own(path, callee)
        return None if found is None else self._callable(found, instance=False)

    def _names(self, path: str, name: str, handed: Handed, depth: int) -> Iterator[Named]:
        """Yield what a call comes to: its callee, or what a function of the project calls."""
        value = AN_OBJECT if handed.callee == AN_OBJECT else self._meaning(path, handed.callee)
        if isinstance(value, str):
            yield (value,), True
            return
        inner = self._called(path, name.rpartition(".")[0], handed.callee)
        if inner is None:
            return
        if inner.name.rpartition(".")[0] and self._written(*inner) is None:
            yield (AN_OBJECT,), True  # an attribute that is no method
            return
        if not depth or handed.place < 0:
            return
        for position, names, sure in self._callees(*inner, depth - 1):
            if position == handed.place:
                yield names, sure
