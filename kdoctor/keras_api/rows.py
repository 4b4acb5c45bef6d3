"""Dotted names, and a row for each of them, as a table holds them: by module, and encoded.

Those of a module are decoded when one of them is asked for. A value is always encoded in the same
way: so the few modules that may hold one are found without decoding all the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

ENCODER: Final = msgspec.msgpack.Encoder(order="sorted")
_LEAVES: Final = msgspec.msgpack.Decoder(list[str])
_ROWS: Final = msgspec.msgpack.Decoder(list[msgspec.Raw])
_EMPTY: Final = msgspec.Raw(ENCODER.encode([]))
_ARRAY_16: Final = 0xDC
_ARRAY_32: Final = 0xDD


class DottedNames(Sequence[str]):
    """Dotted names; those of a module are read when one of them is asked for."""

    def __init__(self, leaves: Mapping[str, msgspec.Raw]) -> None:
        self._modules = leaves
        self._read: dict[str, list[str]] = {}

    def __iter__(self) -> Iterator[str]:
        for module, leaves in self._modules.items():
            yield from _all_joined(module, _LEAVES.decode(leaves))

    def __len__(self) -> int:
        return self._starts[-1]

    # Nobody takes a slice.
    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        at = bisect_right(self._starts, number) - 1
        module = self._named[at]
        if module not in self._read:
            self._read[module] = _all_joined(module, _LEAVES.decode(self._modules[module]))
        return self._read[module][number - self._starts[at]]

    # Nobody searches a part.
    def index(self, name: str) -> int:  # type: ignore[override]
        """Return the number of a name.

        Raises:
            ValueError: it is none of them.
        """
        module, _, leaf = name.rpartition(".")
        leaves = _LEAVES.decode(self._modules.get(module, _EMPTY))
        return leaves.index(leaf) + self._starts[self._named.index(module)]

    def within(self, module: str) -> list[str]:
        """Return the names that stand directly below a module, "" for the root."""
        return _all_joined(module, _LEAVES.decode(self._modules.get(module, _EMPTY)))

    def ending_in(self, leaf: str) -> Iterator[str]:
        """Yield the names with this last part."""
        for at in self._encoded.that_may_hold(leaf):
            module = self._named[at]
            if leaf in _LEAVES.decode(self._modules[module]):
                yield joined(module, leaf)

    @cached_property
    def _encoded(self) -> _Lists:
        return _Lists(self._modules.values())

    @cached_property
    def _named(self) -> list[str]:
        return list(self._modules)

    @cached_property
    def _starts(self) -> list[int]:
        """The number of the first name of each module, and of all names."""
        return list(accumulate(map(_length, self._modules.values()), initial=0))


class Rows(Mapping[str, msgspec.Raw]):
    """Rows by dotted name; those of a module are read when one of them is asked for."""

    def __init__(self, leaves: Mapping[str, msgspec.Raw], rows: Sequence[msgspec.Raw]) -> None:
        self.listed: Final = DottedNames(leaves)
        self._rows = rows
        self._modules = dict(zip(leaves, zip(leaves.values(), rows, strict=True), strict=True))
        self._read: dict[str, dict[str, msgspec.Raw]] = {}

    def __getitem__(self, name: str) -> msgspec.Raw:
        module, _, leaf = name.rpartition(".")
        return self._module(module)[leaf]

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def decoded(
        self, decoder: msgspec.msgpack.Decoder[list[T]], holding: int | None = None
    ) -> Iterator[tuple[str, T]]:
        """Yield all names with what their rows say, those of a module decoded at once.

        Where a number is given, names whose rows do not hold it may be left out.
        """
        modules = list(self._modules)
        if holding is not None:
            modules = [modules[at] for at in self._encoded.that_may_hold(holding)]
        for module in modules:
            leaves, rows = self._modules[module]
            names = _all_joined(module, _LEAVES.decode(leaves))
            yield from zip(names, decoder.decode(rows), strict=True)

    def _module(self, module: str) -> dict[str, msgspec.Raw]:
        if module not in self._read:
            leaves, rows = self._modules.get(module, (_EMPTY, _EMPTY))
            pairs = zip(_LEAVES.decode(leaves), _ROWS.decode(rows), strict=True)
            self._read[module] = dict(pairs)
        return self._read[module]

    @cached_property
    def _encoded(self) -> _Lists:
        return _Lists(self._rows)


class _Lists:
    """Encoded lists, laid end to end."""

    def __init__(self, lists: Iterable[msgspec.Raw]) -> None:
        encoded = [bytes(each) for each in lists]
        self._all = b"".join(encoded)
        self._starts = list(accumulate(map(len, encoded), initial=0))

    def that_may_hold(self, value: str | int) -> Iterator[int]:
        """Yield the places of the lists in which the bytes of a value are."""
        wanted = ENCODER.encode(value)
        found = self._all.find(wanted)
        while found >= 0:
            at = bisect_right(self._starts, found) - 1
            yield at
            found = self._all.find(wanted, self._starts[at + 1])


def _length(array: msgspec.Raw) -> int:
    """Return how many elements an array of msgpack has, without reading them.

    https://github.com/msgpack/msgpack/blob/master/spec.md#array-format-family
    """
    head = memoryview(array)
    if head[0] == _ARRAY_16:
        return int.from_bytes(head[1:3])
    return int.from_bytes(head[1:5]) if head[0] == _ARRAY_32 else head[0] & 0x0F


def joined(module: str, leaf: str) -> str:
    """Return the dotted name of what stands in a module, "" for the root."""
    return f"{module}.{leaf}" if module else leaf


def _all_joined(module: str, leaves: list[str]) -> list[str]:
    return [f"{module}.{leaf}" for leaf in leaves] if module else leaves
