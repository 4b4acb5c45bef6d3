"""Withhold fixes that would delete a comment."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kdoctor.model import Finding, Fix, Hole, Span

if TYPE_CHECKING:
    from kdoctor.suppression.comments import Comment

_LOST = "it would lose the comment `{}`"


class CommentGuard:
    """Checks the fixes of one source for lost comments, whichever rule writes them."""

    def __init__(self, text: str) -> None:
        self._text = text

    def guarded(self, finding: Finding) -> Finding:
        """Return a finding, without its fix if that would delete a comment."""
        lost = None if finding.fix is None else self._lost(finding.fix)
        if lost is None:
            return finding
        return replace(finding, fix=None, no_fix_because=_LOST.format(lost))

    def _lost(self, fix: Fix) -> str | None:
        """Return the first comment that a fix deletes without writing it elsewhere."""
        taken = [
            edit.span for edit in fix.edits if "#" in self._text[edit.span.start : edit.span.end]
        ]
        if not taken:
            return None
        parts = [part for edit in fix.edits for part in edit.parts]
        holes = [part.span for part in parts if isinstance(part, Hole)]
        written = "\n".join(part for part in parts if isinstance(part, str))
        first = bisect_left(self._starts, min(span.start for span in taken))
        behind = bisect_left(self._starts, max(span.end for span in taken))
        near = self._comments[first:behind]
        gone = Counter(comment.text for comment in near if _is_deleted(comment.span, taken, holes))
        return next((text for text, times in gone.items() if written.count(text) < times), None)

    @cached_property
    def _comments(self) -> list[Comment]:
        from kdoctor.suppression.comments import lines_of  # noqa: PLC0415 - for few fixes

        return lines_of(self._text).comments

    @cached_property
    def _starts(self) -> list[int]:
        return [each.span.start for each in self._comments]


def _is_deleted(comment: Span, taken: list[Span], holes: list[Span]) -> bool:
    """Say whether the innermost edit around a comment has no hole that keeps it."""
    around = [span for span in taken if _holds(span, comment)]
    if not around:
        return False
    innermost = min(around, key=lambda span: span.end - span.start)
    return not any(_holds(hole, comment) and _holds(innermost, hole) for hole in holes)


def _holds(span: Span, other: Span) -> bool:
    return span.start <= other.start and other.end <= span.end
