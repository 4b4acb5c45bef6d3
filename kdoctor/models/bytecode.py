"""What the bytecode of a ``Lambda`` needs, read without running or unmarshalling any of it.

``marshal.loads`` reads the format of its own Python alone, and damaged input can crash it. What is
asked for here is little: which globals a function looks up, and which Pythons it may be of. So the
bytes are read one by one, within bounds, for each of the three layouts that code objects have had
since Python 3.3 (CPython, ``Python/marshal.c``).
"""

from __future__ import annotations

import base64
import binascii
import builtins
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from msgspec import Struct

_MAX_BYTES: Final = 1_000_000  # of one function
_MAX_OBJECTS: Final = 100_000  # in it
_MAX_DEPTH: Final = 60  # of objects in one another
_EXTENDED: Final = frozenset({144, 71})  # EXTENDED_ARG up to 3.12, and of 3.13
_FIRST_WORDS: Final = 16  # bytes of code in which its RESUME stands


class _Layout(NamedTuple):
    """How a code object lies: numbers, objects, a number, objects."""

    pythons: tuple[str, ...]
    numbers: int
    tail: int
    is_recent: bool


_LAYOUTS: Final = (
    _Layout(("3.8", "3.9", "3.10"), 6, 1, is_recent=False),
    _Layout(("3.11", "3.12", "3.13", "3.14"), 5, 2, is_recent=True),
    _Layout(("3.3", "3.4", "3.5", "3.6", "3.7"), 5, 1, is_recent=False),
)
_FREE: Final = 0x80  # of a kind of variable since 3.11: CO_FAST_FREE, `pycore_code.h`
_OBJECTS: Final = 8  # between its two numbers: code, constants, names, …, file, name


class Bytecode(Struct, frozen=True):
    """A function of which only the bytecode is there.

    ``globals``: the names that it looks up in its module and that are not built in. ``pythons``:
    the versions that it may be of, oldest first; none where it could not be read. ``code``: what
    tells it from another one.
    """

    globals: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    code: Code | None = None


class Code(NamedTuple):
    """What a function consists of, as far as it tells which source it is of.

    ``constants`` are numbers, texts and functions, None for any other. ``names`` are globals and
    attributes, ``free`` the variables of a function around it.
    """

    code: bytes
    constants: tuple[Any, ...]
    names: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    file: str = ""
    name: str = ""
    line: int = 0
    free: tuple[str, ...] = ()


class _Unreadable(Exception):
    """The bytes do not have this layout."""


def read_bytecode(encoded: str) -> Bytecode:
    """Return what the bytecode in a configuration needs, which is marshalled and in base64."""
    try:
        data = base64.b64decode(encoded.encode("ascii"))
    except (binascii.Error, ValueError):
        return Bytecode()
    if len(data) > _MAX_BYTES:
        return Bytecode()
    for layout in _LAYOUTS:
        try:
            made = _Reader(data, layout).whole()
        except (_Unreadable, struct.error, IndexError):
            continue
        pythons, load_global = _pythons(made, layout)
        names = dict.fromkeys(_globals(made, layout, load_global))
        own = tuple(each for each in names if not hasattr(builtins, each))
        return Bytecode(own, pythons, made)
    return Bytecode()


def _pythons(made: Code, layout: _Layout) -> tuple[tuple[str, ...], int]:
    """Return the Pythons that a function may be of, and the number of their LOAD_GLOBAL.

    RESUME tells 3.11 and 3.12 from 3.13 (151 and 149; 149 is COPY_FREE_VARS before).
    """
    first = made.code[:_FIRST_WORDS:2]
    if not layout.is_recent or 151 in first:
        return (layout.pythons[:2] if layout.is_recent else layout.pythons), 116
    return (("3.13",), 91) if 149 in first else (layout.pythons[3:], -1)


def _globals(made: Code, layout: _Layout, load_global: int) -> Iterator[str]:
    """Yield the names of globals in the order in which the function looks them up."""
    high = 0
    for operation, low in zip(made.code[::2], made.code[1::2], strict=False):
        number = high | low
        if operation in _EXTENDED:
            high = number << 8
            continue
        high = 0
        if operation == load_global:
            index = number >> 1 if layout.is_recent else number
            if index < len(made.names):
                yield made.names[index]
    for each in made.constants:
        if isinstance(each, Code):
            yield from _globals(each, layout, load_global)


class _Reader:
    """Reads one marshalled code object of one layout."""

    def __init__(self, data: bytes, layout: _Layout) -> None:
        self.data = data
        self.layout = layout
        self.at = 0
        self.references: list[Any] = []
        self.count = 0

    def whole(self) -> Code:
        """Return the function that the bytes are, to the last of them."""
        made = self.read(0)
        if not isinstance(made, Code) or self.at != len(self.data):
            raise _Unreadable
        return made

    def read(self, depth: int) -> Any:
        """Return the next object; None for those that nothing is asked about."""
        self.count += 1
        if depth > _MAX_DEPTH or self.count > _MAX_OBJECTS:
            raise _Unreadable
        mark = self.take(1)[0]
        kind, place = chr(mark & 0x7F), -1
        if mark & 0x80:
            place = len(self.references)
            self.references.append(None)
        made = self.object(kind, depth)
        if place >= 0:
            self.references[place] = made
        return made

    def object(self, kind: str, depth: int) -> Any:
        """Return what follows a mark."""
        match kind:
            case "N" | "S" | "." | "0":
                return None
            case "F" | "T":
                return kind == "T"
            case "i":
                return self.number()
            case "I":
                return self.take(8) and None
            case "g":
                return struct.unpack("<d", self.take(8))[0]
            case "y":
                return self.take(16) and None
            case "l":
                return self.take(2 * abs(self.number())) and None
            case "r":
                return self.references[self.number()]
            case "s":
                return self.take(self.number())
            case "z" | "Z":
                return self.take(self.take(1)[0]).decode("latin-1")
            case "a" | "A" | "u" | "t":
                return self.take(self.number()).decode("utf-8", "replace")
            case ")" | "(" | "[" | "<" | ">":
                size = self.take(1)[0] if kind == ")" else self.number()
                if size > _MAX_OBJECTS:
                    raise _Unreadable
                return tuple(self.read(depth + 1) for _ in range(size))
            case "c":
                return self.code(depth)
            case _:
                raise _Unreadable

    def code(self, depth: int) -> Code:
        """Return a code object, held against what its layout has at each place."""
        count = self.number()
        self.take(4 * (self.layout.numbers - 1))
        code, constants, names, *others = [self.read(depth + 1) for _ in range(_OBJECTS)]
        line = self.number()
        tail = [self.read(depth + 1) for _ in range(self.layout.tail)]
        *_, file, name = others[:-1] if self.layout.is_recent else others
        is_code = isinstance(code, bytes) and isinstance(constants, tuple)
        is_named = isinstance(file, str) and isinstance(name, str)
        if not is_code or not is_named or not all(isinstance(each, bytes) for each in tail):
            raise _Unreadable
        if not isinstance(names, tuple) or not all(isinstance(each, str) for each in names):
            raise _Unreadable
        words = others[0] if isinstance(others[0], tuple) else ()
        arguments = tuple(each for each in words[: max(0, count)] if isinstance(each, str))
        free = others[1] if isinstance(others[1], tuple) else ()
        if self.layout.is_recent and isinstance(others[1], bytes):
            free = tuple(each for each, kind in zip(words, others[1], strict=False) if kind & _FREE)
        free = tuple(each for each in free if isinstance(each, str))
        return Code(code, constants, names, arguments, file, name, line, free)

    def number(self) -> int:
        """Return the next four bytes as a number."""
        return int(struct.unpack("<i", self.take(4))[0])

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size < 0 or self.at + size > len(self.data):
            raise _Unreadable
        self.at += size
        return self.data[self.at - size : self.at]
