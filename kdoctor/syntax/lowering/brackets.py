"""Find the round brackets of a text, which ``ast`` leaves out."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from typing import Final

from kdoctor.lazy_regex import pattern

STRING: Final = (
    r""""{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}"""
    r"""|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    r'''|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'''
    r"""|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
)
"""A pattern of one string, without the letters before it; `.` is any character."""

_TOKEN: Final = pattern(rf"[()\[\]{{}}]|\#[^\r\n]*|{STRING}", re.DOTALL)
_BLANK: Final = pattern(r"[ \t\f\r\n\\]*")
_LAST_WORD: Final = pattern(r"\w+$")
_MAX_KEYWORD_LENGTH: Final = max(map(len, keyword.kwlist))


class UnbalancedError(Exception):
    """The brackets of a text do not pair, as this module reads its strings."""


class Brackets:
    """The bracket pairs outside of strings and comments, and the comments.

    Raises:
        UnbalancedError: a bracket has no other one.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.closed_by: dict[int, int] = {}
        """By the offset of each opening bracket, that of its closing one; inner ones come first."""
        self._comments: dict[int, int] = {}  # where each starts, and where it ends
        self._comment_ends: dict[int, int] = {}
        self._outermost: set[int] = set()
        opened: list[int] = []
        for found in _TOKEN.finditer(text):
            start = found.start()
            first = text[start]
            if first in "([{":
                if not opened:
                    self._outermost.add(start)
                opened.append(start)
            elif first in ")]}":
                if not opened:
                    raise UnbalancedError
                opening = opened.pop()
                if first == ")":
                    self.closed_by[opening] = start
            elif first == "#":
                self._comments[start] = end = found.end()
                self._comment_ends[end] = start
        if opened:
            raise UnbalancedError

    def after_blanks(self, offset: int) -> int:
        """Return the start of the next token."""
        while True:
            end = _end_of_blanks(self._text, offset)
            if end not in self._comments:
                return end
            offset = self._comments[end]

    def is_continued(self, end: int) -> bool:
        """Say whether the line that ends at an offset is joined to the next by a backslash."""
        return self._text[end - 1 : end] == "\\" and end not in self._comment_ends

    def groups(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs that go around an expression, inner ones first.

        Not those of calls and definitions; among them are tuples' own, and those of generators.
        """
        for start, end in self.closed_by.items():
            if not self._follows_a_value(start):
                yield start, end

    def _follows_a_value(self, start: int) -> bool:
        """Say whether a bracket belongs to what stands before it: `f(`, `x[0](`, `class A(`."""
        text = self._text
        before = start - 1
        while before >= 0 and text[before] in " \t\f\r\n\\":
            if text[before] == "\n":
                end = before - 1 if text[before - 1 : before] == "\r" else before
                if start in self._outermost and not self.is_continued(end):
                    return False  # a statement begins here
                if end in self._comment_ends:
                    before = self._comment_ends[end]
            before -= 1
        if before < 0:
            return False
        last = text[before]
        if last in ")]}\"'":
            return True
        if not (last.isalnum() or last == "_"):
            return False
        word = _LAST_WORD.search(text, max(0, before - _MAX_KEYWORD_LENGTH), before + 1)
        return word is None or not keyword.iskeyword(word[0])


def _end_of_blanks(text: str, offset: int) -> int:
    found = _BLANK.match(text, offset)
    return offset if found is None else found.end()
