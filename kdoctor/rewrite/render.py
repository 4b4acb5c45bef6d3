"""Apply edits to a text; nested edits go into the holes of outer ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kdoctor.model import Edit, Hole, Span

_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


def render(text: str, edits: Iterable[Edit], within: Span, newline: str) -> str:
    r"""Return ``text[within]`` with ``edits`` carried out; ``\n`` in new text becomes ``newline``.

    An edit that lies inside another must lie inside one of its holes; edits that touch are
    neighbours, and insertions at the same offset stand in the order given. The same edit given
    twice counts once. A hole that occurs twice is filled twice.

    Raises:
        ValueError: two edits overlap, or one reaches over the end of ``within``.
    """
    unique = list(dict.fromkeys(edits))
    for edit in unique:
        if not within.covers(edit.span):
            raise ValueError(f"{edit.span} reaches over the end of {within}")
    return _Rendering(text, newline).fill(within, unique)


class _Rendering:
    def __init__(self, text: str, newline: str) -> None:
        self.text = text
        self.newline = newline

    def fill(self, span: Span, edits: Sequence[Edit]) -> str:
        """Return the text of ``span`` with ``edits``, all of which lie inside it."""
        pieces: list[str] = []
        offset = span.start
        for edit, inner in _outermost(edits):
            pieces.append(self.text[offset : edit.span.start])
            loose = edit.own < edit.required
            new = _parenthesised(self.make(edit, inner), loose=loose)
            pieces.append(self.apart(edit.span, new))
            offset = edit.span.end
        pieces.append(self.text[offset : span.end])
        return "".join(pieces)

    def apart(self, span: Span, new: str) -> str:
        """Return new text that does not run into a word that only a bracket kept apart.

        The bracket of ``return(x).a`` and of ``x.a()if b else c`` may be gone from it.
        """
        old = self.text[span.start : span.end]
        before, after = (
            self.text[max(span.start - 1, 0) : span.start],
            self.text[span.end : span.end + 1],
        )
        left = " " if old[:1] in _OPENING and _is_word(before) and _is_word(new[:1]) else ""
        right = " " if old[-1:] in _CLOSING and _is_word(new[-1:]) and _is_word(after) else ""
        return f"{left}{new}{right}"

    def make(self, edit: Edit, inner: Sequence[Edit]) -> str:
        """Return the new text of one edit, with those inside it."""
        return "".join(
            self.broken(part) if isinstance(part, str) else self.plug(part, inner)
            for part in edit.parts
        )

    def broken(self, new: str) -> str:
        """Return new text with this file's line breaks: some of it may be the file's own."""
        return new.replace("\r\n", "\n").replace("\n", self.newline)

    def plug(self, hole: Hole, edits: Sequence[Edit]) -> str:
        inside = [edit for edit in edits if _is_inside(edit.span, hole.span)]
        whole = next(_outermost(inside), None)
        if whole is None or whole[0].span != hole.span:
            return _parenthesised(self.fill(hole.span, inside), loose=hole.own < hole.required)
        # The expression in the hole is itself replaced: what binds now is the new one, and the
        # place that it was made for is no more.
        edit, inner = whole
        return _parenthesised(self.make(edit, inner), loose=edit.own < hole.required)


def _outermost(edits: Iterable[Edit]) -> Iterator[tuple[Edit, list[Edit]]]:
    """Yield the edits that lie in no other, in order of place, each with those inside it."""
    outer: Edit | None = None
    inner: list[Edit] = []
    for edit in sorted(edits, key=_outside_in):
        if outer is not None and _is_inside(edit.span, outer.span):
            if not any(_is_inside(edit.span, hole.span) for hole in _holes(outer)):
                raise ValueError(f"{edit.span} lies inside {outer.span}, but in no hole of it")
            inner.append(edit)
            continue
        if outer is not None:
            if edit.span.start < outer.span.end:
                raise ValueError(f"{edit.span} overlaps {outer.span}")
            yield outer, inner
        outer, inner = edit, []
    if outer is not None:
        yield outer, inner


def _outside_in(edit: Edit) -> tuple[int, bool, int, bool]:
    """Sort an edit before those inside it. Insertions at one offset keep their order."""
    span = edit.span
    # Of two edits of one span the outer is that whose hole can hold the other.
    wraps = any(hole.span.covers(span) for hole in _holes(edit))
    return span.start, span.start != span.end, -span.end, not wraps


def _holes(edit: Edit) -> Iterator[Hole]:
    return (part for part in edit.parts if isinstance(part, Hole))


def _is_inside(inner: Span, outer: Span) -> bool:
    """Say whether ``inner`` is a part of ``outer``; an insertion at its edge is not."""
    if inner.start == inner.end:
        return outer.start < inner.start < outer.end
    return outer.covers(inner)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _parenthesised(text: str, *, loose: bool) -> str:
    return f"({text})" if loose else text
