"""Insert and remove suppression comments."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from kdoctor.documents import Unit
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Edit, Finding, Fix, Span
from kdoctor.suppression.comments import Comment, SourceLines, lines_of
from kdoctor.suppression.directives import Directive, Entry, Form, directives_of

# doctest takes all that follows this for its own options.
_DOCTEST = pattern(r"#\s*doctest:")
_INDENT = pattern(r"[ \t]*")
_LINE = pattern(r"[^\r\n]*")
_WORD = pattern(r"[^\s,]+")
_LIST = pattern(
    r"kdoctor:[^\[]*\[(?P<list>[^\]]*)|noqa\s*:\s*(?P<codes>[A-Za-z]+\d+(?:[,\s]+[A-Za-z]+\d+)*)",
    re.IGNORECASE,
)


def ignore_edits(unit: Unit, findings: Iterable[Finding], reason: str = "") -> list[Edit]:
    """Return the edits that suppress each finding of a unit.

    It comes at the end of the line on which the finding starts, or of the string or the lines
    joined by backslashes that this line is a part of. A list that is there is made longer. What a
    new comment on the first or last line of the statement silences, too, gets none of its own.
    """
    lines = lines_of(unit.text, is_code=unit.is_code)
    wanted: defaultdict[int, set[str]] = defaultdict(set)
    for finding in findings:
        row = lines.row_of(finding.place.span.start)
        wanted[lines.join_of(row).last].add(finding.code)
    codes = {row: left for row in wanted if (left := _needed(lines, row, wanted))}
    comments = {comment.row: comment for comment in lines.comments}
    return [
        _written(unit, lines, row, comments.get(row), sorted(codes[row]), reason)
        for row in sorted(codes)
    ]


def ignore_fix(unit: Unit, finding: Finding, reason: str = "") -> Fix:
    """Return the edit that suppresses one finding: an editor's quick fix."""
    edits = ignore_edits(unit, [finding], reason)
    return Fix(f"Ignore {finding.code} on this line", tuple(edits), Applicability.MANUAL)


def removal_edit(unit: Unit, directive: Directive, unused_entries: Collection[Entry]) -> Edit:
    """Return the edit that removes entries of a comment, or all of it if none is left.

    The rest of the line stays: other comments on it, and the reason where entries stay.
    """
    kept = [entry for entry in directive.entries if entry not in unused_entries]
    if kept or (directive.others and unused_entries):
        return _without_entries(unit, directive, unused_entries)
    return Edit(_whole(unit, directive), ("",))


def _needed(lines: SourceLines, row: int, wanted: Mapping[int, set[str]]) -> set[str]:
    """Return the codes for a row that no comment at an end of its statement has."""
    statement = lines.statement_of(row)
    ends = [lines.join_of(end).last for end in (statement.first, statement.last)]
    codes = set(wanted[row])
    for end in ends[: ends.index(row)] if row in ends else ends:
        codes -= wanted.get(end, set())
    return codes


def _written(  # noqa: PLR0913, PLR0917 - a line, what is on it, and what is to be on it
    unit: Unit,
    lines: SourceLines,
    row: int,
    comment: Comment | None,
    codes: Collection[str],
    reason: str,
) -> Edit:
    listed = None if comment is None else _listed(comment)
    if listed is not None:
        end = listed.entries[-1].span.end
        return Edit(Span(end, end), (f", {', '.join(codes)}",))
    text = f"# kdoctor: ignore[{', '.join(codes)}]" + (f" {reason}" if reason else "")
    if _needs_own_line(unit, lines, row):
        return _line_above(unit, lines.starts[lines.join_of(row).first], text)
    doctest = None if comment is None else _DOCTEST.search(comment.text)
    if comment is not None and doctest is not None:
        at = comment.span.start + doctest.start()
        return Edit(Span(at, at), (f"{text}  ",))
    line = _LINE.match(unit.text, lines.starts[row])
    at = lines.starts[row] + len(line[0].rstrip()) if line else len(unit.text)
    return Edit(Span(at, at), (f"  {text}",))


def _needs_own_line(unit: Unit, lines: SourceLines, row: int) -> bool:
    """Say whether what follows on a line is no comment: of a magic, and in many files of text."""
    if not unit.is_code:
        return True
    start = lines.starts[row]
    line = _LINE.match(unit.text, start)
    end = line.end() if line else start
    return any(mask.span.start < end <= mask.span.end for mask in unit.masks)


def _line_above(unit: Unit, start: int, text: str) -> Edit:
    indent = _INDENT.match(unit.text, start)
    return Edit(Span(start, start), (f"{indent[0] if indent else ''}{text}\n",))


def _listed(comment: Comment) -> Directive | None:
    """Return the list of rules that a comment holds for its line."""
    return next(
        (
            directive
            for directive in directives_of(comment)
            if directive.form is Form.IGNORE and directive.entries and not comment.alone
        ),
        None,
    )


def _without_entries(unit: Unit, directive: Directive, unused_entries: Collection[Entry]) -> Edit:
    """Take entries out of a list, each with the comma that is then one too many."""
    text, span = unit.text, directive.span
    found = _LIST.search(text, span.start, span.end)
    if found is None:
        raise ValueError(f"there is no list in {text[span.start : span.end]!r}")
    group = "list" if found["list"] is not None else "codes"
    gone = {entry.span.start for entry in unused_entries}
    pieces, kept_before = list[str](), False
    at = found.start(group)
    for word in _WORD.finditer(text, *found.span(group)):
        if word.start() not in gone:
            # What separates it from the entry before, or stands before the first.
            pieces.append(text[at : word.start()] if kept_before else "")
            pieces.append(word[0])
            kept_before = True
        at = word.end()
    return Edit(Span(*found.span(group)), ("".join(pieces),))


def _whole(unit: Unit, directive: Directive) -> Span:
    """Return what goes with a comment: the blanks before it, or its whole line."""
    text, comment, span = unit.text, directive.comment, directive.span
    if span.end < comment.span.end:  # other comments follow
        after = len(text[span.end : comment.span.end]) - len(
            text[span.end : comment.span.end].lstrip()
        )
        return Span(span.start, span.end + after)
    before = text[: span.start]
    start = len(before.rstrip(" \t\f"))
    if span.start > comment.span.start or not comment.alone:
        return Span(start, span.end)
    return _line(unit, span)


def _line(unit: Unit, span: Span) -> Span:
    """Return the line that a comment has for itself, with one of the newlines around it."""
    text = unit.text
    cell = unit.cell_at(span.start).span
    start = max(
        cell.start, text.rfind("\n", 0, span.start) + 1, text.rfind("\r", 0, span.start) + 1
    )
    line = _LINE.match(text, span.end)
    end = line.end() if line else span.end
    after = end + _newline(text, end)
    if end < after <= cell.end:
        return Span(start, after)
    if start > cell.start:  # the last line: the newline before it goes
        start -= 2 if text.startswith("\r\n", start - 2) else 1
    return Span(start, end)


def _newline(text: str, at: int) -> int:
    if text.startswith("\r\n", at):
        return 2
    return 1 if text[at : at + 1] in {"\r", "\n"} else 0
