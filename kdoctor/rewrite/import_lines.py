"""Edit one import statement: remove and add names, keep comments.

What goes and what comes is decided elsewhere; here is only how it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import libcst as cst
from msgspec import Struct, field

from kdoctor.model import Edit, ImportNeed, Span
from kdoctor.project.import_sorting import DEFAULT, Sorting
from kdoctor.rewrite.expression_context import comments_in, is_for_tools
from kdoctor.rewrite.import_habits import ImportStatement, from_module, name_key, sorting_for
from kdoctor.rewrite.source_lines import LINE_BREAK, line_end, line_start, margin
from kdoctor.syntax import Module

LINE_LIMIT = 88  # where nobody says another: that of ruff and Black


class ImportChange(Struct):
    """The changes to one import statement.

    ``gone`` are aliases that go, ``renamed`` aliases that are written otherwise, ``added`` the
    names that are to be bound beside what stays.
    """

    gone: list[cst.ImportAlias] = field(default_factory=list)
    renamed: dict[cst.ImportAlias, str] = field(default_factory=dict)
    added: list[ImportNeed] = field(default_factory=list)


def import_text(
    needs: Sequence[ImportNeed], limit: int | None = None, sorting: Sorting = DEFAULT
) -> list[str]:
    """Return import statements for ``needs``, one for each module that names come from.

    One that is longer than ``limit`` has a line for each name.
    """

    def key(need: ImportNeed) -> SortKey:
        return _sort_key(need, sorting)

    if sorting.single_line and len(needs) > 1:
        return [line for need in sorted(set(needs), key=key) for line in import_text([need], limit)]
    lines: list[str] = []
    for module, group in groupby(sorted(set(needs), key=key), key=lambda need: need.module):
        named = [need for need in group if need.name is not None]
        if not named:
            lines += [_plain_import(need) for need in needs if need.module == module]
            continue
        lines += [_plain_import(need) for need in needs if need.module == module and not need.name]
        names = list(map(alias_text, named))
        line = f"from {module} import {', '.join(names)}"
        if limit is not None and len(line) > limit:
            below = "".join(f"    {name},\n" for name in names)
            line = f"from {module} import (\n{below})"
        lines.append(line)
    return lines


def alias_text(need: ImportNeed) -> str:
    """Return ``ops`` or ``ops as keras_ops``."""
    plain = need.name == need.local and not need.again
    return f"{need.name}" if plain else f"{need.name} as {need.local}"


def statement_edits(
    module: Module,
    changes: Mapping[ImportStatement, ImportChange],
    gone: Sequence[Span] = (),
    limit: int = LINE_LIMIT,
    sorting: Sorting = DEFAULT,
) -> Iterator[Edit]:
    """Yield the edits of all statements that change.

    ``gone`` are lines that go as a whole, ``limit`` is how long a line may be.
    """
    vanishing = {
        statement
        for statement, change in changes.items()
        if not change.added and vanishes(statement, change)
    }
    lines = _by_line(module, vanishing).items()
    removed = [edit for line, some in lines for edit in _remove(module, line, some, vanishing)]
    removed += (Edit(span, ("",)) for span in gone)
    yield from removed
    for statement, change in changes.items():
        if statement not in vanishing:
            yield from _Statement(module, statement, limit, sorting).edits(change)


class _Statement:
    """One import statement that stays, or turns into another."""

    def __init__(
        self, module: Module, statement: ImportStatement, limit: int, sorting: Sorting
    ) -> None:
        self.module = module
        own = from_module(statement)
        self.sorting = sorting if own is None else sorting_for(module, own, sorting)
        self.limit = limit
        self.node = statement
        self.span = module.span(statement)
        self.aliases = _aliases(statement)

    def edits(self, change: ImportChange) -> Iterator[Edit]:
        if not self.aliases:  # `from m import *`: a list of names it has not
            yield self._add_after(change.added)
            return
        if change.added and len(change.gone) == len(self.aliases) > 0:
            yield from self._turn_into(change.added)
            return
        here = [need for need in change.added if self.can_hold(need)]
        beside = [need for need in change.added if need not in here]
        if here and not change.renamed and self._is_too_long_with(here, change.gone):
            yield self._wrapped(here, change.gone)
        else:
            yield from self._inside(here, change)
        if beside:
            yield self._add_after(beside)

    def _inside(self, here: list[ImportNeed], change: ImportChange) -> Iterator[Edit]:
        """Yield the edits of the list of names."""
        left, several = list(change.gone), len(here) > 1
        for need in list(here):
            if left and self._can_replace(left[0], need, left, others=several):
                yield Edit(self._alias_span(left.pop(0)), (alias_text(need),))
                here.remove(need)
        for alias, text in change.renamed.items():
            yield Edit(self._alias_span(alias), (text,))
        yield from self._take_out(left)
        if here:
            yield from self._insert_names(here, [a for a in self.aliases if a not in left])

    def _turn_into(self, needs: Sequence[ImportNeed]) -> Iterator[Edit]:
        source = self.module.text[self.span.start : self.span.end]
        comments = comments_in(source)
        if not self._has_own_line():
            if comments:
                yield self._add_after(needs)  # there is nowhere to keep the comments
            else:
                yield Edit(self.span, ("; ".join(import_text(needs, None, self.sorting)),))
            return
        indent = _indent(self.module, self.span.start)
        lines = import_text(needs, None if indent else self.limit, self.sorting)
        yield Edit(self.span, (f"\n{indent}".join([*comments, *lines]),))

    def _add_after(self, needs: Sequence[ImportNeed]) -> Edit:
        """Add import statements after this one."""
        if not self._has_own_line():
            return Edit(Span(self.span.end, self.span.end), (
                "".join(f"; {line}" for line in import_text(needs, None, self.sorting)),
            ))  # fmt: skip
        end = line_end(self.module.text, self.span.end)
        indent = _indent(self.module, self.span.start)
        lines = import_text(needs, None, self.sorting)
        text = "".join(f"\n{indent}{line}" for line in lines)
        return Edit(Span(end, end), (text,))

    def _has_own_line(self) -> bool:
        line = self.module.parent(self.node)
        return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1

    # Inside the list of names

    def can_hold(self, need: ImportNeed) -> bool:
        """Say whether people would add a name here rather than write a new line."""
        if need.name is None or need.module != from_module(self.node):
            return False
        if self.sorting.single_line:
            return False
        if "\\" in self.module.text[self.span.start : self.span.end]:
            return False
        renames = any(alias.asname for alias in self.aliases)
        if self.sorting.together:
            return True
        # Sorted imports have `b as c` on a line of its own.
        return len(self.aliases) > 1 if renames else need.name == need.local

    def _can_replace(
        self,
        alias: cst.ImportAlias,
        need: ImportNeed,
        gone: Sequence[cst.ImportAlias],
        *,
        others: bool,
    ) -> bool:
        """Say whether the names stay in order if one takes the place of another."""
        if not self._is_in_order():
            return True
        if others:
            return False  # each finds its own place
        kept = [each for each in self.aliases if each not in gone or each is alias]
        names = [alias_text(need) if each is alias else self._name(each) for each in kept]
        return names == sorted(names, key=self._key)

    def _is_in_order(self) -> bool:
        names = list(map(self._name, self.aliases))
        return names == sorted(names, key=self._key)

    def _is_too_long_with(
        self, needs: Sequence[ImportNeed], gone: Sequence[cst.ImportAlias]
    ) -> bool:
        """Say whether names do not fit on the one line that the statement is."""
        start = line_start(self.module.text, self.span.start)
        source = self.module.text[start : self.span.end]
        if LINE_BREAK.search(source) or "(" in source or not self._has_own_line():
            return False
        more = sum(len(alias_text(need)) + 2 for need in needs)
        return len(source) + more - sum(len(self._name(each)) + 2 for each in gone) > self.limit

    def _wrapped(self, needs: Sequence[ImportNeed], gone: Sequence[cst.ImportAlias]) -> Edit:
        """Write one name a line, as ruff and Black do."""
        names = [self._name(each) for each in self.aliases if each not in gone]
        names += map(alias_text, needs)
        if self._is_in_order():
            names.sort(key=self._key)
        indent = _indent(self.module, self.span.start)
        lines = "".join(f"{indent}    {name},\n" for name in names)
        start = self._alias_span(self.aliases[0]).start
        return Edit(Span(start, self.span.end), (f"(\n{lines}{indent})",))

    def _alias_span(self, alias: cst.ImportAlias) -> Span:
        """Return where ``name as local`` stands, without its comma."""
        start = self.module.span(alias.name).start
        end = self.module.span(alias.asname.name if alias.asname else alias.name).end
        return Span(start, end)

    def _take_out(self, gone: Sequence[cst.ImportAlias]) -> Iterator[Edit]:
        """Yield the edits that take names, but not all, out of the list; comments stay."""
        text = self.module.text
        spans = [self._alias_span(alias) for alias in self.aliases]
        last = max(index for index, alias in enumerate(self.aliases) if alias not in gone)
        at_the_end = Span(spans[last].end, spans[-1].end)
        if last < len(spans) - 1 and "#" not in text[at_the_end.start : at_the_end.end]:
            yield Edit(at_the_end, ("",))
            spans = spans[: last + 1]
        for index, span in enumerate(spans):
            if self.aliases[index] not in gone:
                continue
            following = spans[index + 1].start if index + 1 < len(spans) else span.end
            if index < last and "#" not in text[span.end : following]:
                yield Edit(Span(span.start, following), ("",))
            else:
                end = self._blanks_after(self._comma_after(span.end))
                yield Edit(Span(span.start, end), ("",))

    def _comma_after(self, offset: int) -> int:
        found = re.compile(r"[ \t\\\r\n]*,").match(self.module.text, offset, self.span.end)
        return found.end() if found else offset

    def _blanks_after(self, offset: int) -> int:
        found = re.compile(r"[ \t]*").match(self.module.text, offset)
        return found.end() if found else offset

    def _insert_names(
        self, needs: Sequence[ImportNeed], present: Sequence[cst.ImportAlias]
    ) -> Iterator[Edit]:
        in_order = self._is_in_order()
        for need in sorted(needs, key=lambda need: _sort_key(need, self.sorting)):
            name = alias_text(need)
            after = next((a for a in present if self._key(self._name(a)) > self._key(name)), None)
            if in_order and after is not None:
                start = self._alias_span(after).start
                indent = self._own_line_indent(start)
                blank = " " if indent is None else f"\n{indent}"
                yield Edit(Span(start, start), (f"{name},{blank}",))
            else:
                yield from self._append(name, present[-1])

    def _append(self, name: str, last: cst.ImportAlias) -> Iterator[Edit]:
        span = self._alias_span(last)
        comma = self._comma_after(span.end)
        indent = self._own_line_indent(span.start)
        end = line_end(self.module.text, comma)
        if indent is None or end >= self.span.end:
            blank = " " if indent is None else f"\n{indent}"
            yield Edit(Span(span.end, span.end), (f",{blank}{name}",))
            return
        if comma == span.end:
            yield Edit(Span(comma, comma), (",",))
        yield Edit(Span(end, end), (f"\n{indent}{name},",))

    def _own_line_indent(self, start: int) -> str | None:
        """Return the indent of an alias that starts its line, None for one that does not."""
        if start == self.span.start:
            return None
        line = line_start(self.module.text, start)
        before = self.module.text[line:start]
        return before if not before.strip() and line > self.span.start else None

    def _key(self, name: str) -> tuple[int, str]:
        return name_key(name, self.sorting)

    def _name(self, alias: cst.ImportAlias) -> str:
        span = self._alias_span(alias)
        return self.module.text[span.start : span.end]


def can_join(
    module: Module, statement: ImportStatement, need: ImportNeed, sorting: Sorting = DEFAULT
) -> bool:
    """Say whether a name may be added to the list of names of a statement."""
    return _Statement(module, statement, LINE_LIMIT, sorting).can_hold(need)


def _remove(
    module: Module,
    line: cst.CSTNode,
    statements: Sequence[ImportStatement],
    vanishing: set[ImportStatement],
) -> Iterator[Edit]:
    """Take statements out of one line, or the line out of the file."""
    body: Sequence[cst.BaseSmallStatement] = line.body  # type: ignore[attr-defined]
    spans = [module.span(statement) for statement in body]
    if len(statements) < len(body):
        yield from _remove_some(body, spans, vanishing)
        return
    first, last = spans[0], spans[-1]
    source = module.text[first.start : last.end]
    end = line_end(module.text, last.end)
    rest = module.text[last.end : end].lstrip(" \t;")
    rest = "" if is_for_tools(rest) else rest
    comments = [each for each in comments_in(source) if not is_for_tools(each)]
    if _leaves_nothing(module, line, vanishing):
        stays = "\n".join(["pass", *(_indent(module, first.start) + each for each in comments)])
        yield Edit(Span(first.start, last.end if rest else end), (stays,))
    elif comments or rest:
        indent = _indent(module, first.start)
        kept = f"\n{indent}".join(comments)
        gap = Span(first.start, end - len(rest))
        yield Edit(gap, (f"{kept}\n{indent}" if kept and rest else kept,))
    else:
        yield Edit(_whole_line(module, first.start, end), ("",))


def _remove_some(
    body: Sequence[cst.BaseSmallStatement], spans: Sequence[Span], vanishing: set[ImportStatement]
) -> Iterator[Edit]:
    kept = [index for index, statement in enumerate(body) if statement not in vanishing]
    for index, statement in enumerate(body):
        if statement not in vanishing:
            continue
        if index < kept[-1]:
            yield Edit(Span(spans[index].start, spans[index + 1].start), ("",))
        else:
            yield Edit(Span(spans[index - 1].end, spans[index].end), ("",))


def _leaves_nothing(module: Module, line: cst.CSTNode, vanishing: set[ImportStatement]) -> bool:
    """Say whether a block loses its last statement with this line; the last line stands for it."""
    if isinstance(line, cst.SimpleStatementSuite):
        return True
    block = module.parent(line)
    if not isinstance(block, cst.IndentedBlock):
        return False
    small = [
        statement
        for each in block.body
        for statement in (each.body if isinstance(each, cst.SimpleStatementLine) else [each])
    ]
    return block.body[-1] is line and all(statement in vanishing for statement in small)


def _whole_line(module: Module, start: int, end: int) -> Span:
    """Return the line around a statement with one line break, all within its cell."""
    cell = module.unit.cell_at(start).span
    begin = max(line_start(module.text, start), cell.start)
    following = LINE_BREAK.match(module.text, end, cell.end)
    if following:
        return Span(begin, following.end())
    before = module.text[cell.start : begin]
    begin -= 2 if before.endswith("\r\n") else 1 if before else 0
    return Span(begin, end)


def _by_line(
    module: Module, statements: set[ImportStatement]
) -> dict[cst.CSTNode, list[ImportStatement]]:
    lines: dict[cst.CSTNode, list[ImportStatement]] = {}
    for statement in sorted(statements, key=module.span):
        line = module.parent(statement)
        if line is not None:
            lines.setdefault(line, []).append(statement)
    return lines


def _aliases(statement: ImportStatement) -> Sequence[cst.ImportAlias]:
    return () if isinstance(statement.names, cst.ImportStar) else statement.names


def _plain_import(need: ImportNeed) -> str:
    return (
        f"import {need.module}"
        if need.module == need.local
        else f"import {need.module} as {need.local}"
    )


SortKey = tuple[str, tuple[int, str], str]


def _sort_key(need: ImportNeed, sorting: Sorting) -> SortKey:
    return need.module, name_key(need.name or "", sorting), need.local


def vanishes(statement: ImportStatement, change: ImportChange | None) -> bool:
    """Say whether nothing of a statement stays."""
    return (
        change is not None
        and not change.renamed
        and len(change.gone) == len(_aliases(statement)) > 0
    )


def _indent(module: Module, start: int) -> str:
    line = margin(module.text, start)
    return line[: len(line) - len(line.lstrip())]
