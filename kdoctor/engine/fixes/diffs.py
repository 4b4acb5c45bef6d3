r"""Write unified diffs that ``patch -p1`` accepts, from known changes.

Only ``\n`` ends a line here, as for ``diff`` and ``patch``: ``str.splitlines`` would also split at
form feeds and at U+2028.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kdoctor.documents import line_changes
from kdoctor.lazy_regex import pattern

CONTEXT = 3
_QUOTED = pattern(r'["\\\x00-\x1f\x7f]')


class Change(Struct, frozen=True):
    """Replace lines ``start`` up to, not including, ``end`` (from 0) by ``lines``."""

    start: int
    end: int
    lines: Sequence[str]


def split_lines(text: str) -> list[str]:
    r"""Split at ``\n`` only, keeping it.

    >>> split_lines("a\r\nb\x0cc")
    ['a\r\n', 'b\x0cc']
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def decoded(data: bytes) -> str:
    """Decode a file for a diff; bytes that are not UTF-8 survive unchanged."""
    return data.decode(errors="surrogateescape")


def unified(before: str, after: str, label: str) -> str:
    """Return the unified diff between two texts, the empty string where they are equal."""
    old, new = split_lines(before), split_lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    change = Change(head, len(old) - tail, new[head : len(new) - tail])
    return unified_of_changes(old, [change], label)


def unified_of_changes(old: Sequence[str], changes: Iterable[Change], label: str) -> str:
    """Return the unified diff of sorted, disjoint ``changes`` to ``old``.

    The time is that of the changes, not of the text: a large file with many findings needs a
    diff for each of them.
    """
    steps = [step for change in changes for step in _minimal(old, change)]
    if not steps:
        return ""
    moved = 0
    parts = [f"--- {_name('a', label)}\n", f"+++ {_name('b', label)}\n"]
    for hunk in _hunks(steps):
        start = max(0, hunk[0].start - CONTEXT)
        end = min(len(old), hunk[-1].end + CONTEXT)
        growth = sum(len(step.lines) - (step.end - step.start) for step in hunk)
        before = _range(start, end - start)
        after = _range(start + moved, end - start + growth)
        moved += growth
        parts.append(f"@@ -{before} +{after} @@\n")
        at = start
        for step in hunk:
            parts += (_line(" ", line) for line in old[at : step.start])
            parts += (_line("-", line) for line in old[step.start : step.end])
            parts += (_line("+", line) for line in step.lines)
            at = step.end
        parts += (_line(" ", line) for line in old[at:end])
    return "".join(parts)


def _name(side: str, label: str) -> str:
    r"""Write a file's name as ``patch`` and ``git apply`` read it.

    >>> _name("a", "/tmp/b.py"), _name("b", "new\nline.py")
    ('a/tmp/b.py', '"b/new\\012line.py"')
    """
    name = f"{side}/{label.lstrip('/')}"  # no absolute ones
    if _QUOTED.search(name):
        return f'"{_QUOTED.sub(_escaped, name)}"'
    return name + "\t" * (" " in name)  # one with blanks ends at the tab


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    return f"\\{char}" if char in '"\\' else f"\\{ord(char):03o}"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the equal lines at the start."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _minimal(old: Sequence[str], change: Change) -> Iterator[Change]:
    """Split a change into those that leave every equal line alone."""
    for each in line_changes.changes(old[change.start : change.end], change.lines):
        lines = change.lines[each.new_start : each.new_end]
        yield Change(change.start + each.start, change.start + each.end, lines)


def _hunks(steps: Iterable[Change]) -> list[list[Change]]:
    """Group the changes whose context lines touch."""
    hunks: list[list[Change]] = []
    for step in steps:
        if hunks and step.start - hunks[-1][-1].end <= 2 * CONTEXT:
            hunks[-1].append(step)
        else:
            hunks.append([step])
    return hunks


def _range(start: int, length: int) -> str:
    """Format a range for a unified diff: an empty one names the line before it."""
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return sign + line
    return f"{sign}{line}\n\\ No newline at end of file\n"
