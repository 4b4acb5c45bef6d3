"""Convert ``ast`` positions (line, UTF-8 byte column) to text offsets."""

from __future__ import annotations


class Lines:
    """The lines of a text, which end with a newline and nothing else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts = starts = [0]
        """The offset of each line."""
        find = text.find
        end = find("\n")
        while end >= 0:
            starts.append(end + 1)
            end = find("\n", end + 1)
        starts.append(len(text))  # a line that does not end may be asked for

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and a column in bytes (from 0)."""
        start = self.starts[line - 1]
        written = self._text[start : start + column]
        if written.isascii():
            return start + column
        return start + len(written.encode()[:column].decode())
