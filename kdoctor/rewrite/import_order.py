"""The position of a new import among sorted ones, as isort and ruff sort.

https://docs.astral.sh/ruff/settings/#lintisort, https://pycqa.github.io/isort/docs/configuration/profiles.html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import ImportNeed
from kdoctor.project.import_sorting import DEFAULT, Sorting
from kdoctor.rewrite.import_habits import ImportStatement, name_key
from kdoctor.rewrite.source_lines import line_start
from kdoctor.syntax import Module

Key = tuple[object, ...]
_DIGITS = pattern(r"(\d+)")
_BLANK_LINE = pattern(r"\n[ \t]*\n|\r\n[ \t]*\r\n|\r[ \t]*\r(?!\n)")


class Line(Struct, frozen=True):
    """What one import statement is sorted by: ``import a.b`` or ``from a import b``."""

    module: str
    name: str = ""  # the first of those that are imported from it
    level: int = 0  # the dots before it

    @classmethod
    def of(cls, needs: Sequence[ImportNeed], sorting: Sorting = DEFAULT) -> Line:
        """Return the line that binds what is needed of one module."""
        names = sorted(
            (need.name for need in needs if need.name is not None),
            key=lambda name: name_key(name, sorting),
        )
        return cls(needs[0].module, names[0] if names else "")


def plain_first(line: Line) -> Key:
    """Sort ``import a`` before ``from a import b``: isort's default, and its black profile."""
    return bool(line.name), *_by_module(line)


def _by_module(line: Line) -> Key:
    """Sort by module alone: isort's ``force_sort_within_sections``."""
    parts = _DIGITS.split(line.module.lower())
    natural = tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in parts)
    return -line.level, natural, bool(line.name), name_key(line.name)


_HABITS: tuple[Callable[[Line], Key], ...] = (plain_first, _by_module)


class Group(Struct, frozen=True, eq=False):
    """Imports right below each other. ``key`` is what they are sorted by, None where by nothing."""

    statements: tuple[ImportStatement, ...]
    key: Callable[[Line], Key] | None

    def place(
        self,
        line: Line,
        gone: Sequence[ImportStatement] = (),
        turned: Mapping[ImportStatement, Line] | None = None,
    ) -> int:
        """Return how many of the statements stand above a line.

        Those that are ``gone`` do not count, and ``turned`` tells what became of others.
        """
        left = [each for each in self.statements if each not in gone]
        if self.key is None:
            return len(left)
        key, now = self.key, turned or {}
        return sum(key(now.get(each) or _line(each)) <= key(line) for each in left)


@once
def groups(module: Module, sorting: Sorting) -> tuple[Group, ...]:
    """Return the groups of imports of the module itself, each with a line of its own."""
    return tuple(_groups(module, sorting))


def group_of(module: Module, statement: ImportStatement, sorting: Sorting) -> Group | None:
    """Return the group that a statement stands in."""
    return _groups_by_statement(module, sorting).get(statement)


@once
def _groups_by_statement(module: Module, sorting: Sorting) -> Mapping[ImportStatement, Group]:
    return {each: group for group in groups(module, sorting) for each in group.statements}


def is_standard(name: str) -> bool:
    """Say whether a module is of the standard library."""
    return name.partition(".")[0] in sys.stdlib_module_names


def is_of_others(module: Module, statement: ImportStatement, sorting: Sorting) -> bool:
    """Say whether a statement imports neither from the standard library nor from next door."""
    line = _line(statement)
    top = line.module.partition(".")[0]
    own = top in sorting.own or module.is_project_module(top)
    return not line.level and not own and not is_standard(line.module)


def is_of_library(statement: ImportStatement) -> bool:
    """Say whether a statement imports from the standard library, save from the future."""
    line = _line(statement)
    return not line.level and is_standard(line.module) and line.module != "__future__"


def _groups(module: Module, sorting: Sorting) -> Iterator[Group]:
    found: list[ImportStatement] = []
    for line in module.tree.body:
        small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
        statement = small[0] if len(small) == 1 else None
        if not isinstance(statement, cst.Import | cst.ImportFrom):
            yield from _group(found, sorting)
            found = []
            continue
        if found and _is_separated(module, found[-1], statement):
            yield from _group(found, sorting)
            found = []
        found.append(statement)
    yield from _group(found, sorting)


def _group(statements: Sequence[ImportStatement], sorting: Sorting) -> Iterator[Group]:
    if statements:
        yield Group(tuple(statements), _habit(statements, sorting))


def _habit(statements: Sequence[ImportStatement], sorting: Sorting) -> Callable[[Line], Key] | None:
    if any(isinstance(each, cst.Import) and len(each.names) > 1 for each in statements):
        return None
    lines = [_line(each) for each in statements]
    for habit in reversed(_HABITS) if sorting.by_module else _HABITS:
        keys = [habit(line) for line in lines]
        if keys == sorted(keys):
            return habit
    return None


def _is_separated(module: Module, one: ImportStatement, other: ImportStatement) -> bool:
    start, end = module.span(one).end, module.span(other).start
    if module.unit.cell_at(start) is not module.unit.cell_at(end):
        return True
    between = module.text[start : line_start(module.text, end)]
    return _BLANK_LINE.search(between) is not None


def _line(statement: ImportStatement) -> Line:
    if isinstance(statement, cst.Import):
        return Line(_code(statement.names[0].name))
    module = "" if statement.module is None else _code(statement.module)
    if isinstance(statement.names, cst.ImportStar):
        return Line(module, "*", len(statement.relative))
    names = sorted((_code(each.name) for each in statement.names), key=name_key)
    return Line(module, names[0], len(statement.relative))


def _code(node: cst.CSTNode) -> str:
    return re.sub(r"\s", "", cst.Module(()).code_for_node(node))
