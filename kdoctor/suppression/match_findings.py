"""Match suppression comments with findings: suppressed findings, unused comments.

By places and codes alone; which rules count in a run, and which were asked, the engine knows.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from kdoctor.documents import Unit
from kdoctor.model import Finding, Span, Suppressed
from kdoctor.suppression.comments import SourceLines, indent_of, lines_of
from kdoctor.suppression.directives import Directive, Entry, Form, directives_of
from kdoctor.suppression.may_have_comments import may_have_suppressions


class SuppressionResult(Struct, frozen=True):
    """The findings left after suppression, and the suppressed ones."""

    left: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]


class _Rank(enum.IntEnum):
    """How near a comment is to what it silences: only the nearest count as used."""

    LINE = 0
    STATEMENT = 1  # on another line, the first or last of its statement
    BLOCK = 2
    FILE = 3
    BLANKET_NOQA = 4  # written for other tools: it makes none of ours needless


class _DisabledRegion(Struct):
    """Where an ``off`` counts: for one entry, or for every rule where that is None."""

    directive: Directive
    entry: Entry | None
    span: Span


class _UnitDirectives(Struct):
    unit: Unit
    lines: SourceLines
    by_row: dict[int, list[Directive]] = field(default_factory=dict)
    stretches: list[_DisabledRegion] = field(default_factory=list)
    all: list[Directive] = field(default_factory=list)

    def at(self, span: Span) -> Iterator[tuple[_Rank, Directive]]:
        """Yield the comments that count for what stands at ``span`` because of their lines."""
        if not self.by_row:
            return
        touched, ends = rows_at(self.lines, span)
        for row in sorted((touched | ends).intersection(self.by_row)):
            for directive in self.by_row[row]:
                if directive.form is Form.NOQA and directive.is_blanket:
                    yield _Rank.BLANKET_NOQA, directive
                else:
                    yield _Rank.LINE if row in touched else _Rank.STATEMENT, directive


class Directives:
    """A document's suppression comments, and which of them were used.

    ``meant`` gives the codes that an entry means beyond its text.
    """

    def __init__(
        self,
        units: Iterable[Unit],
        meant: Callable[[str], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        self._meant = meant
        marked = [unit for unit in units if may_have_suppressions(unit.text)]
        self._units = {unit.index: self._read(unit) for unit in marked}
        self._of_file = [
            (each.unit, directive)
            for each in self._units.values()
            for directive in each.all
            if directive.form is Form.FILE
        ]
        self._used: set[tuple[int, Span, Entry | None]] = set()
        for each in self._units.values():
            self._read_disabled_regions(each)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return any(each.all for each in self._units.values())

    def __iter__(self) -> Iterator[tuple[Unit, Directive]]:
        """Yield each with its unit, in source order."""
        for each in self._units.values():
            yield from ((each.unit, directive) for directive in each.all)

    def apply(self, findings: Iterable[Finding]) -> SuppressionResult:
        """Split the findings, and record which comments were used."""
        left: list[Finding] = []
        suppressed: list[Suppressed] = []
        for finding in findings:
            found = self._nearest(finding)
            if not found:
                left.append(finding)
                continue
            for unit, directive, entry in found:
                self._used.add((unit.index, directive.span, entry))
            unit, directive, _ = found[0]
            reason = next((each.reason for _, each, _ in found if each.reason), "")
            suppressed.append(Suppressed(finding, reason, unit.place(directive.span)))
        return SuppressionResult(tuple(left), tuple(suppressed))

    def words(self) -> Counter[str]:
        """Count what the comments say: ``ignore KD101``; ``ignore`` for a blanket one."""
        return Counter(
            _word(directive, entry)
            for _, directive in self
            for entry in directive.entries or (None,)
        )

    def used_words(self) -> Counter[str]:
        """Count the same of the comments that suppressed something."""
        return Counter(
            _word(directive, entry)
            for unit, directive in self
            for entry in directive.entries or (None,)
            if (unit.index, directive.span, entry) in self._used
        )

    def unused_entries(self, unit: Unit, directive: Directive) -> tuple[Entry, ...] | None:
        """Return the entries that suppressed nothing (``()``: a blanket comment), else None.

        Of an ``on``: those that end nothing.
        """
        if directive.form is Form.UNKNOWN:
            return None
        if directive.is_blanket:
            return None if (unit.index, directive.span, None) in self._used else ()
        unused_entries = tuple(
            entry
            for entry in directive.entries
            if (unit.index, directive.span, entry) not in self._used
        )
        return unused_entries or None

    def _nearest(self, finding: Finding) -> list[tuple[Unit, Directive, Entry | None]]:
        ranked = list(self._covering(finding))
        nearest = min((rank for rank, *_ in ranked), default=None)
        return [(unit, directive, entry) for rank, unit, directive, entry in ranked
                if rank == nearest]  # fmt: skip

    def _covering(self, finding: Finding) -> Iterator[tuple[int, Unit, Directive, Entry | None]]:
        own = self._units.get(finding.place.unit)
        if own is not None:
            for rank, directive in own.at(finding.place.span):
                for entry in _matching_entries(directive, finding):
                    yield rank, own.unit, directive, entry
            for stretch in own.stretches:
                if stretch.span.start <= finding.place.span.start < stretch.span.end:
                    for entry in _matching_entries(stretch.directive, finding):
                        if entry == stretch.entry:
                            yield _Rank.BLOCK, own.unit, stretch.directive, entry
        for unit, directive in self._of_file:
            for entry in _matching_entries(directive, finding):
                yield _Rank.FILE, unit, directive, entry

    def _read(self, unit: Unit) -> _UnitDirectives:
        lines = lines_of(unit.text, is_code=unit.is_code)
        read = _UnitDirectives(unit, lines)
        for comment in lines.comments:
            for said in directives_of(comment):
                directive = self._resolved(said)
                read.all.append(directive)
                row = _row(directive, unit, lines)
                if row is not None:
                    read.by_row.setdefault(row, []).append(directive)
        return read

    def _resolved(self, directive: Directive) -> Directive:
        """Return the same with what its entries mean beyond their text."""
        if not directive.entries:
            return directive
        entries = (replace(each, codes=self._meant(each.text)) for each in directive.entries)
        return replace(directive, entries=tuple(entries))

    def _read_disabled_regions(self, read: _UnitDirectives) -> None:
        """Find where each ``off`` counts."""
        waiting: list[_DisabledRegion] = []
        for directive in read.all:
            if directive.form is Form.OFF:
                end = _end_of_block(read, directive)
                for entry in directive.entries or (None,):
                    stretch = _DisabledRegion(directive, entry, Span(directive.span.end, end))
                    waiting.append(stretch)
                    read.stretches.append(stretch)
            elif directive.form is Form.ON:
                waiting = [each for each in waiting if not self._is_ended(each, directive, read)]

    def _is_ended(self, stretch: _DisabledRegion, on: Directive, read: _UnitDirectives) -> bool:
        """End a stretch where ``on`` means it. Say whether it is at its end there."""
        at = on.span.start
        if stretch.span.end <= at:
            return True  # with its block
        ends = [
            entry
            for entry in on.entries
            if stretch.entry is not None and entry.text.upper() == stretch.entry.text.upper()
        ]
        if not ends and not on.is_blanket:
            return False
        self._used.update((read.unit.index, on.span, entry) for entry in ends or (None,))
        stretch.span = Span(stretch.span.start, at)
        return True


def rows_at(lines: SourceLines, span: Span) -> tuple[set[int], set[int]]:
    """Return the rows whose comments apply to ``span``.

    They are the rows that it touches, as far as its statement goes, and the statement's first and
    last, all with the rows that a string or a backslash makes one with them.
    """
    first = lines.row_of(span.start)
    statement = lines.statement_of(first)
    last = min(lines.row_of(max(span.start, span.end - 1)), statement.last)
    return (
        _joined(lines, range(first, last + 1)),
        _joined(lines, (statement.first, statement.last)),
    )


def _joined(lines: SourceLines, rows: Iterable[int]) -> set[int]:
    joins = [lines.join_of(row) for row in rows]
    return {row for join in joins for row in range(join.first, join.last + 1)}


def _word(directive: Directive, entry: Entry | None) -> str:
    return directive.form.value if entry is None else f"{directive.form.value} {entry.text}"


def _matching_entries(directive: Directive, finding: Finding) -> Iterator[Entry | None]:
    """Yield the entries that mean a finding, None for a blanket comment."""
    if directive.is_blanket:
        if not finding.code.startswith("KD9"):
            yield None
        return
    for entry in directive.entries:
        if entry.covers(finding.code, finding.name):
            yield entry


def _row(directive: Directive, unit: Unit, lines: SourceLines) -> int | None:
    """Return the row that a comment speaks of, None where it does not speak of one."""
    comment = directive.comment
    if directive.form is Form.NOQA:
        return comment.row
    if directive.form is not Form.IGNORE:
        return None
    if not comment.alone:
        return comment.row
    below = lines.code_below(comment.row)
    if below is None or lines.starts[below] > _cell_around(unit, comment.span).end:
        return None
    return below


def _cell_around(unit: Unit, span: Span) -> Span:
    return next((cell.span for cell in unit.cells if cell.span.covers(span)), unit.cells[-1].span)


def _end_of_block(read: _UnitDirectives, off: Directive) -> int:
    """Return where the block ends in which a comment stands, at the latest with its cell."""
    lines, unit = read.lines, read.unit
    cell = _cell_around(unit, off.span)
    row = off.comment.row
    column = indent_of(unit.text[lines.starts[row] : off.comment.span.start] + "#")
    for statement, indent in zip(lines.statements, lines.indents, strict=False):
        if statement.first > row and indent < column:
            return min(lines.starts[statement.first], cell.end)
    return cell.end + 1
