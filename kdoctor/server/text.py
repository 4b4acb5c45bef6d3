"""Text and positions as editors count them.

A line ends at CR LF, LF or CR and nowhere else (not at a form feed); a column counts code units of
the negotiated encoding, by default UTF-16.
"""

from __future__ import annotations

import bisect
import re
from functools import cached_property

from lsprotocol import types

_LINE_END = re.compile(r"\r\n|\r|\n")
_ASTRAL = 0x10000  # from here on, a character takes two units of UTF-16

Encoding = types.PositionEncodingKind


class Text:
    """One version of a text. It is immutable: a change returns a new one."""

    def __init__(self, text: str, encoding: Encoding = Encoding.Utf16) -> None:
        self.text = text
        self._encoding = encoding

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; one beyond the end of a line is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[max(0, position.line)]
        line = self._line(start)
        return start + _characters(line, position.character, self._encoding)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        row = bisect.bisect_right(self._starts, offset) - 1
        line = self.text[self._starts[row] : offset]
        return types.Position(row, _units(line, self._encoding))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def at(self, line: int, column: int) -> types.Position:
        """Return the position of a line and a column, both from 1, the column in characters."""
        row = min(max(line, 1), len(self._starts)) - 1
        start = self._starts[row]
        return types.Position(row, _units(self._line(start)[: column - 1], self._encoding))

    def changed(self, change: types.TextDocumentContentChangeEvent) -> Text:
        """Return the text after a change of a part or of the whole."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return Text(change.text, self._encoding)
        start, end = self.offset(change.range.start), self.offset(change.range.end)
        text = self.text[: min(start, end)] + change.text + self.text[max(start, end) :]
        return Text(text, self._encoding)

    def _line(self, start: int) -> str:
        end = _LINE_END.search(self.text, start)
        return self.text[start : end.start() if end else len(self.text)]


def _units(text: str, encoding: Encoding) -> int:
    if text.isascii() or encoding is Encoding.Utf32:
        return len(text)
    if encoding is Encoding.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(ord(character) >= _ASTRAL for character in text)


def _characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many characters of a line the units span; half a character counts as none."""
    if line.isascii() or encoding is Encoding.Utf32:
        return min(max(0, units), len(line))
    count = 0
    for number, character in enumerate(line):
        count += _units(character, encoding)
        if count > units:
            return number
    return len(line)
