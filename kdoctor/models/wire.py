"""Read what is needed of a file in protobuf's wire format, and seek past the rest.

https://protobuf.dev/programming-guides/encoding/. Not with the library ``protobuf``: that holds the
whole message in memory, where a graph with its weights has gigabytes; and each TensorFlow takes
only some releases of it, so that a requirement of ours could break the environment it is put into.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct

_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_MAX_VARINT: Final = 10  # bytes
_MAX_TEXT: Final = 100_000_000  # bytes
_MAX_FIELDS: Final = 1_000_000  # of one message


class Message(Struct, frozen=True):
    """A stretch of a file that holds a message, a text or bytes: what, its fields say."""

    file: BinaryIO
    start: int
    end: int

    @classmethod
    def of(cls, file: BinaryIO) -> Message:
        """Return the whole file."""
        return cls(file, 0, file.seek(0, 2))

    def fields(self) -> Iterator[tuple[int, int | Message]]:
        """Yield number and value of each field: a number, or a stretch that is not read yet.

        Numbers of fixed length, which nothing here needs, are given as stretches.

        Raises:
            ValueError: it is no message.
        """
        at = self.start
        for _ in range(_MAX_FIELDS):
            if at >= self.end:
                return
            key, at = self._varint(at)
            number, shape = key >> 3, key & 7
            value: int | Message
            match shape:
                case 0:
                    value, after = self._varint(at)
                case 2:
                    size, at = self._varint(at)
                    value, after = Message(self.file, at, at + size), at + size
                case 1 | 5:
                    after = at + (8 if shape == _FIXED_64 else 4)
                    value = Message(self.file, at, after)
                case _:
                    raise ValueError("no message of protobuf")
            if not number or after > self.end:
                raise ValueError("no message of protobuf")
            yield number, value
            at = after
        raise ValueError("too many fields")

    def all(self, number: int) -> Iterator[Message]:
        """Yield the stretches of one field."""
        for each, value in self.fields():
            if each == number and isinstance(value, Message):
                yield value

    def first(self, number: int) -> Message | None:
        """Return the first stretch of a field."""
        return next(self.all(number), None)

    def number(self, number: int) -> int:
        """Return the last number of a field, 0 without one."""
        found = 0
        for each, value in self.fields():
            if each == number and isinstance(value, int):
                found = value
        return found

    def text(self, number: int) -> str:
        """Return the first text of a field, "" without one."""
        found = self.first(number)
        return "" if found is None else found.decoded()

    def decoded(self) -> str:
        """Return the stretch as text.

        Raises:
            ValueError: it is none, or too long.
        """
        if self.end - self.start > _MAX_TEXT:
            raise ValueError("a text is too long")
        self.file.seek(self.start)
        return self.file.read(self.end - self.start).decode()

    def mapping(self, number: int) -> Iterator[tuple[str, Message]]:
        """Yield the entries of a map from texts to messages, in the order of their keys."""
        found = {each.text(1): each.first(2) for each in self.all(number)}
        for key in sorted(found):
            value = found[key]
            if value is not None:
                yield key, value

    def _varint(self, at: int) -> tuple[int, int]:
        """Return a number and where it ends."""
        self.file.seek(at)
        value = 0
        for place, byte in enumerate(self.file.read(_MAX_VARINT)):
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value, at + place + 1
        raise ValueError("no message of protobuf")
