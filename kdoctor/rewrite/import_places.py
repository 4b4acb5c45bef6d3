"""The position of each new import: in a list, in its group, or at the top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from itertools import chain

import libcst as cst

from kdoctor.memoize import once
from kdoctor.model import Edit, ImportNeed, Span
from kdoctor.project.import_sorting import Sorting
from kdoctor.rewrite.expression_context import comments_in, is_for_tools
from kdoctor.rewrite.import_habits import ImportStatement, from_module, sorting_for
from kdoctor.rewrite.import_lines import ImportChange, can_join, import_text, vanishes
from kdoctor.rewrite.import_order import (
    Group,
    Key,
    Line,
    group_of,
    groups,
    is_of_library,
    is_of_others,
    is_standard,
    plain_first,
)
from kdoctor.rewrite.source_lines import LINE_BREAK, line_before, line_end, line_start
from kdoctor.syntax import Module

Use = tuple[Span, cst.CSTNode]


class ImportPlaces:
    """Finds a position for each new import; collects ``changes`` by statement."""

    def __init__(
        self,
        module: Module,
        changes: MutableMapping[ImportStatement, ImportChange],
        limit: int,
        sorting: Sorting,
    ) -> None:
        self._sorting = sorting
        self._module = module
        self._limit = limit
        self._changes = changes
        self._waiting: dict[ImportNeed, ImportStatement | None] = {}
        self._below: dict[cst.CSTNode, list[ImportNeed]] = {}
        self._turned: dict[ImportStatement, Line] = {}
        self._leading = _leading(module, sorting)

    def add(self, need: ImportNeed, beside: ImportStatement | None, uses: Iterable[Use]) -> None:
        """Request an import that binds a name for ``uses``.

        ``beside`` is the import by which what it stands for was read.
        """
        uses = list(uses)
        if self._add_below_stars(need, beside, uses):
            return
        first = min((span for span, _ in uses), default=None)
        if beside is not None and self._is_read_above(beside, uses):
            beside = None
        joined = next(self._joinable(need, beside, first), None)
        if joined is not None:
            self._put(joined, need)
        else:
            self._waiting.setdefault(need, beside)

    def _is_read_above(self, statement: ImportStatement, uses: Iterable[Use]) -> bool:
        """Say whether a name is read above a statement, by code that does not wait for a call."""
        place, scope = self._module.span(statement), self._module.scope_of(self._module.tree)
        return any(
            span < place and self._module.scope_of(node).runs_with(scope) for span, node in uses
        )

    def settle(self) -> list[Edit]:
        """Return the edits of the new lines, after all requests."""
        for statement in list(self._changes):
            if not self._keeps_order(statement):
                self._move(statement)
        edits: list[Edit] = []
        at_the_top: list[ImportNeed] = []
        for needs, beside in self._lines():
            group = self._group_for(needs, beside)
            new_group = self._new_group(needs, beside) if group is None else None
            if group is not None and group.key is not None:
                edits += self._in_order(group, needs, beside)
            elif new_group is not None:
                edits.append(new_group)
            elif beside is not None:
                self._put(beside, *needs)
            elif (last := _last_leading_import(self._module)) is not None:
                self._put(last, *needs)
            else:
                at_the_top += needs
        edits += (self._under(block, needs) for block, needs in self._below.items())
        return [*edits, *_at_the_top(self._module, at_the_top)]

    def _put(self, statement: ImportStatement, *needs: ImportNeed) -> None:
        change = self._changes.setdefault(statement, ImportChange())
        change.added += (need for need in needs if need not in change.added)

    # Star imports

    def _add_below_stars(
        self, need: ImportNeed, beside: ImportStatement | None, uses: Sequence[Use]
    ) -> bool:
        """Put an import below a star import that may bind its name to something else.

        What runs at once above that star import needs it there as well.
        """
        stars = [each.statement for each in self._module.unreadable_stars]
        if not stars:
            return False
        scope = self._module.scope_of(self._module.tree)
        at_once = [span for span, node in uses if self._module.scope_of(node).runs_with(scope)]
        first = min(at_once, default=None)
        above = [each for each in stars if first is None or self._module.span(each) < first]
        below = [each for each in stars if each not in above]
        if below:
            self._add_below(below[-1], need)
        if not above:
            return False
        last = above[-1]
        if beside is not None and self._module.span(beside) > self._module.span(last):
            return False
        self._add_below(last, need)
        return True

    def _add_below(self, star: ImportStatement, need: ImportNeed) -> None:
        line = self._module.parent(star)
        top = line if line is None else self._module.parent(line)
        if isinstance(top, cst.Module):
            self._put(star, need)
            return
        inside: cst.CSTNode = star
        for each in self._module.ancestors(star):
            if isinstance(each, cst.Module):
                break
            inside = each
        self._below.setdefault(inside, []).append(need)

    def _under(self, block: cst.CSTNode, needs: Sequence[ImportNeed]) -> Edit:
        end = line_end(self._module.text, self._module.span(block).end)
        return Edit(Span(end, end), ("".join(f"\n{line}" for line in self._text(needs)),))

    # Statements that can take one name more

    def _joinable(
        self, need: ImportNeed, beside: ImportStatement | None, first: Span | None
    ) -> Iterator[ImportStatement]:
        if need.name is None:
            return
        able = _able_to_hold(
            self._module, need.module, self._sorting, is_renamed=need.name != need.local
        )
        own = (beside,) if beside is not None and beside in able else ()
        for each in chain(own, able):
            if first is not None and self._module.span(each) >= first:
                continue
            if not vanishes(each, self._changes.get(each)):
                yield each

    def _is_removed(self, statement: ImportStatement) -> bool:
        change = self._changes.get(statement)
        return change is not None and not change.added and vanishes(statement, change)

    def _keeps_order(self, statement: ImportStatement) -> bool:
        """Say whether a sorted group stays so with what becomes of a statement."""
        group, change = group_of(self._module, statement, self._sorting), self._changes[statement]
        if group is None or group.key is None or change.renamed or self._is_removed(statement):
            return True
        kept = [need for alias, need in _needs_of(statement) if alias not in change.gone]
        if not kept or self._must_turn(statement):
            return True
        more = [
            need for need in change.added if can_join(self._module, statement, need, self._sorting)
        ]
        line = Line.of([*kept, *more], self._sorting)
        return group.place(line, [statement]) == group.statements.index(statement)

    def _move(self, statement: ImportStatement) -> None:
        """Let a line go, and ask for all that it imports: it will stand elsewhere in its group."""
        change = self._changes.setdefault(statement, ImportChange())
        for alias, need in _needs_of(statement):
            if alias not in change.gone:
                change.gone.append(alias)
                self._waiting.setdefault(need, statement)
        for need in change.added:
            self._waiting.setdefault(need, statement)
        change.added.clear()

    # New lines

    def _text(self, needs: Sequence[ImportNeed]) -> list[str]:
        return import_text(needs, self._limit, self._sorting)

    def _is_of_others(self, statement: ImportStatement) -> bool:
        return is_of_others(self._module, statement, self._sorting)

    def _lines(self) -> Iterator[tuple[list[ImportNeed], ImportStatement | None]]:
        """Yield what can be imported by one statement, in order."""
        lines: dict[tuple[str, object, object], list[ImportNeed]] = {}
        for need, beside in self._waiting.items():
            group = None if beside is None else group_of(self._module, beside, self._sorting)
            place = beside if group is None else group
            sorting = sorting_for(self._module, need.module, self._sorting)
            # Sorted imports have `b as c` on a line of its own.
            renames = need.name != need.local and not sorting.together
            own = need if renames and group is not None and group.key else None
            if need.name is None or sorting.single_line:
                own = need
            lines.setdefault((need.module, place, own), []).append(need)
        for needs in sorted(lines.values(), key=_library_last):
            besides = [each for need in needs if (each := self._waiting[need]) is not None]
            yield sorted(needs), min(besides, key=self._module.span, default=None)

    def _group_for(
        self, needs: Sequence[ImportNeed], beside: ImportStatement | None
    ) -> Group | None:
        """Return the group that a new line goes to, None where there is none of its kind."""
        own = None if beside is None else group_of(self._module, beside, self._sorting)
        if is_standard(needs[0].module):
            library = (each for each in self._leading if any(map(is_of_library, each.statements)))
            return next(library, own if own is not None and own.key is None else None)
        if beside is not None:
            return own
        others = (each for each in self._leading if any(map(self._is_of_others, each.statements)))
        return next(others, None)

    def _in_order(
        self, group: Group, needs: Sequence[ImportNeed], beside: ImportStatement | None
    ) -> Iterator[Edit]:
        """Yield the edit that puts a line into a sorted group, or turn another into it."""
        line = Line.of(needs, self._sorting)
        for each in [beside] if beside in group.statements else group.statements:
            if each is None or not self._is_removed(each):
                continue
            above = group.statements.index(each)
            if group.place(line, [each], self._turned) == above or self._must_turn(each):
                self._put(each, *needs)
                self._turned[each] = line
                return
        place = group.place(line, turned=self._turned)
        text = "".join(f"{each}\n" for each in self._text(needs))
        if place < len(group.statements):
            start = self._with_comments(group, place)
            yield Edit(Span(start, start), (text,))
            return
        last = group.statements[-1]
        if self._is_removed(last):
            if self._must_turn(last):
                self._put(last, *needs)
                return
            start = line_start(self._module.text, self._module.span(last).start)
            yield Edit(Span(start, start), (text,))
            return
        end = line_end(self._module.text, self._module.span(last).end)
        yield Edit(Span(end, end), ("\n" + text.removesuffix("\n"),))

    def _must_turn(self, statement: ImportStatement) -> bool:
        """Say whether a line has a comment that would stand alone, or is the last of its cell."""
        span = self._module.span(statement)
        end = line_end(self._module.text, span.end)
        comments = comments_in(self._module.text[span.start : end])
        cell = self._module.unit.cell_at(span.start).span
        last = LINE_BREAK.match(self._module.text, end, cell.end) is None
        return last or not all(map(is_for_tools, comments))

    def _with_comments(self, group: Group, place: int) -> int:
        """Return where a statement starts with the comments above it that belong to it."""
        text = self._module.text
        start = line_start(text, self._module.span(group.statements[place]).start)
        while place:
            above = line_before(text, start)
            if not text[above:start].lstrip().startswith("#"):
                break
            start = above
        return start

    def _new_group(
        self, needs: Sequence[ImportNeed], beside: ImportStatement | None
    ) -> Edit | None:
        """Return the edit that makes a group of its own: of the library, or of others."""
        text = "".join(f"{line}\n" for line in self._text(needs))
        plain = [each for each in self._leading if not _is_future(each)]
        if beside is None and not plain and self._leading:
            return self._below_group(self._leading[-1], text)
        if is_standard(needs[0].module):
            own = None if beside is None else group_of(self._module, beside, self._sorting)
            if not plain or (beside is not None and (own is None or own not in plain)):
                return None
            if all(map(self._is_removed, (plain[0] if own is None else own).statements)):
                return None  # it may take the place of that
            return self._above_group(plain[0], text)
        library = [each for each in plain if any(map(is_of_library, each.statements))]
        if beside is not None or not plain:
            return None
        if library:
            return self._below_group(library[-1], text)
        # Next door: those of others stand above it, where the file keeps any order.
        return None if plain[0].key is None else self._above_group(plain[0], text)

    def _above_group(self, group: Group, text: str) -> Edit:
        start = line_start(self._module.text, self._module.span(group.statements[0]).start)
        return Edit(Span(start, start), (text + "\n",))

    def _below_group(self, group: Group, text: str) -> Edit:
        end = line_end(self._module.text, self._module.span(group.statements[-1]).end)
        return Edit(Span(end, end), ("\n\n" + text.removesuffix("\n"),))


@once
def _from_each(module: Module, sorting: Sorting) -> Mapping[str, Sequence[ImportStatement]]:
    """Return the `from module import …` of the groups by their modules, first things first."""
    found: dict[str, list[ImportStatement]] = {}
    for group in groups(module, sorting):
        for each in group.statements:
            origin = from_module(each)
            if origin is not None:
                found.setdefault(origin, []).append(each)
    return found


@once
def _able_to_hold(
    module: Module, origin: str, sorting: Sorting, *, is_renamed: bool
) -> Mapping[ImportStatement, None]:
    """Return the statements that may take one more name of a module, in order."""
    need = ImportNeed(origin, "name", "other" if is_renamed else "name")
    able = (
        each
        for each in _from_each(module, sorting).get(origin, ())
        if can_join(module, each, need, sorting)
    )
    return dict.fromkeys(able)


def _needs_of(statement: ImportStatement) -> Iterator[tuple[cst.ImportAlias, ImportNeed]]:
    """Yield what a ``from module import …`` binds, by alias; nothing of another statement."""
    module = from_module(statement)
    if module is None or isinstance(statement.names, cst.ImportStar):
        return
    for alias in statement.names:
        name = alias.evaluated_name
        yield alias, ImportNeed(module, name, alias.evaluated_alias or name)


def _library_last(needs: Sequence[ImportNeed]) -> tuple[bool, Key]:
    return is_standard(needs[0].module), plain_first(Line.of(needs))


@once
def _leading(module: Module, sorting: Sorting) -> Sequence[Group]:
    """Return the groups before the file's first other statement."""
    known = {each: group for group in groups(module, sorting) for each in group.statements}
    found: dict[int, Group] = {}
    for line in module.tree.body:
        small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
        if len(small) == 1 and small[0] in known:
            group = known[small[0]]  # type: ignore[index]
            found[id(group)] = group
        elif not is_docstring(line):
            break
    return tuple(found.values())


def _is_future(group: Group) -> bool:
    return any(
        isinstance(each, cst.ImportFrom)
        and isinstance(each.module, cst.Name)
        and each.module.value == "__future__"
        for each in group.statements
    )


def _last_leading_import(module: Module) -> ImportStatement | None:
    """Return the last import before the file's first other statement."""
    last: ImportStatement | None = None
    for line in module.tree.body:
        small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
        imports = [each for each in small if isinstance(each, cst.Import | cst.ImportFrom)]
        if imports:
            last = imports[-1]
        elif not is_docstring(line):
            break
    return last


def _at_the_top(module: Module, needs: Sequence[ImportNeed]) -> Iterator[Edit]:
    """Write what has no import to stand beside: above the first statement, below docstrings."""
    if not needs:
        return
    lines = import_text(needs)
    first = module.tree.body[0]
    start = module.span(first).start
    if is_docstring(first):
        end = line_end(module.text, module.span(first).end)
        yield Edit(Span(end, end), ("\n\n" + "\n".join(lines),))
        return
    if isinstance(first, cst.FunctionDef | cst.ClassDef) and first.decorators:
        start = min(start, module.span(first.decorators[0]).start)
    yield Edit(Span(start, start), ("".join(f"{line}\n" for line in lines),))


def is_docstring(line: cst.CSTNode) -> bool:
    """Say whether a statement is a docstring."""
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and isinstance(line.body[0], cst.Expr)
        and isinstance(line.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def lie_outside(places: Iterable[Span], functions: Sequence[Span | None]) -> bool:
    """Say whether new code stands in none of the functions that import what it replaces.

    A helper does, of an import for others (``global K``). None is an import of no function.
    """
    return None not in functions and any(
        # What is written above a function begins where that does.
        not any(each and each.covers(place) and each.start < place.start for each in functions)
        for place in places
    )
