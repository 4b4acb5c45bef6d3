"""May-types of what comes from the project's other files."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from kdoctor.syntax.may_displays import MayDisplays
from kdoctor.syntax.project_types import ProjectTypes
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import FUNCTIONS, BoundName, Function
from kdoctor.syntax.type_sets import Types, kinds_in, told_of
from kdoctor.value_types import Kind, Type

_PLAIN: Final = frozenset(
    {"bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"}
)  # annotations of parameters that take none of what is followed


class MayProject(MayDisplays):
    """The part of may-types that other files have a share in."""

    _project: ProjectTypes

    def gets_from_other_files(self, kinds: Collection[Kind]) -> bool:
        """Say whether another file may pass, return or keep an object of one of these kinds here.

        So does what was seen as the program ran.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        if any(each in kinds for each in kinds_in(self._project.seen.types)):
            return True
        if not self._project.asks:
            return False
        found = (kind for types in self._from_other_files() for kind in kinds_in(types))
        return any(each in kinds for each in found)

    def _from_other_files(self) -> Iterator[Types]:
        for cls in self._names.project_classes:
            for member in sorted(cls.members.intersection(self.symbol_table.reads)):
                yield self._project.may_be_kept(cls, member)
        for place in self.symbol_table.places:
            if isinstance(place, ast.Call):
                yield from map(self._project.may_be_returned, self._names.meant_by(place.func))
        for bindings in self.symbol_table.by_name.values():
            for each in bindings:
                if each.kind is BindingKind.PARAMETER and isinstance(each.node, FUNCTIONS):
                    yield self._passed_elsewhere(each, each.node) or frozenset()

    def _passed_elsewhere(self, bound: BoundName, function: Function) -> Types | None:
        """Return what other files may pass for a parameter, None where a call is not known."""
        if not self._project.asks:
            return None
        named = self.symbol_table.name_in_module(bound, function)
        is_plain = isinstance(bound.annotation, ast.Name) and bound.annotation.id in _PLAIN
        return None if is_plain else self._project.may_be_passed(named, bound.name)

    def _passed_in_project(self, bound: BoundName, function: Function) -> Iterator[Type]:
        """Yield what may be passed for a parameter where all calls in the project are known."""
        passed = self._passed_elsewhere(bound, function)
        if passed is not None:
            yield from passed
            for given in self.symbol_table.passed_here(bound, function):
                yield from told_of(self._of(*given))
