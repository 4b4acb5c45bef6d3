"""Which arguments the ``from_config`` of a class of Keras 3 takes, private bases included.

Read from the released wheels, as all data is: ``python -m tools.api_data``.
"""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from kdoctor.keras_api.tables import DATA

ROOT: Final = "keras.src"
FILE: Final = f"{ROOT}.configs.bin"
_MAX_KEPT: Final = 4096  # answers: what is asked for stands in files of anybody


class ConfigSpan(Struct, frozen=True, array_like=True):
    """The arguments of one class, the same in the releases ``first`` to ``last``.

    ``taken``, ``required`` and ``whole`` are numbers into ``ConfigTable.names``; ``is_open``: it
    may take others, too, for they go somewhere that could not be read.
    """

    first: int
    last: int
    taken: tuple[int, ...]
    required: tuple[int, ...]
    is_open: bool
    whole: tuple[int, ...]


class ConfigTable(Struct, frozen=True, array_like=True):
    """The classes of some releases, oldest first, by the home of each, relative to the root.

    ``identifiers``: what a string stands for in a configuration (``"mse"``), by the kind of object
    (``losses``); the same home from one release to another. ``pythons`` are those that the releases
    run on: ``>=3.11``.
    """

    releases: tuple[str, ...]
    names: tuple[str, ...]
    classes: dict[str, tuple[ConfigSpan, ...]]
    identifiers: dict[str, dict[str, tuple[tuple[int, int, str], ...]]]
    pythons: tuple[str, ...] = ()


class ConfigArguments(Struct, frozen=True):
    """What ``from_config`` of a class takes, and what it cannot do without.

    ``whole`` are those of which it makes an ``int``: no list may stand there.
    """

    taken: frozenset[str]
    required: frozenset[str]
    is_open: bool
    whole: frozenset[str]

    def refuses(self, name: str) -> bool:
        """Say whether the class surely takes no such argument."""
        return not self.is_open and name not in self.taken


@lru_cache(maxsize=_MAX_KEPT)
def config_arguments(home: str, release: str) -> ConfigArguments | None:
    """Return what a class takes; None where a release has no such class or is not known.

    ``home`` is where it is defined (``keras.src.layers.rnn.lstm.LSTM``).
    """
    number = _number(release)
    if number is None:
        return None
    table = _table()
    for span in table.classes.get(home.removeprefix(f"{ROOT}."), ()):
        if span.first <= number <= span.last:
            taken, required, whole = (
                frozenset(table.names[each] for each in numbers)
                for numbers in (span.taken, span.required, span.whole)
            )
            return ConfigArguments(taken, required, span.is_open, whole)
    return None


@lru_cache(maxsize=_MAX_KEPT)
def identified(kind: str, text: str, release: str) -> str | None:
    """Return where that is defined which a configuration names with a string; None: nothing.

    ``kind`` is ``activations``, ``constraints``, ``dtype_policies``, ``initializers``, ``layers``,
    ``losses``, ``metrics``, ``optimizers`` or ``regularizers``.
    """
    number = _number(release)
    if number is None:
        return None
    for first, last, home in _table().identifiers[kind].get(text, ()):
        if first <= number <= last:
            return f"{ROOT}.{home}"
    return None


def runs_on(python: str, release: str) -> bool:
    """Say whether a release of Keras 3 runs on a Python, ``3.10``; of an unknown one it does."""
    number = _number(release)
    return number is None or python in SpecifierSet(_table().pythons[number])


@lru_cache(maxsize=_MAX_KEPT)
def operation(leaf: str, release: str) -> str | None:
    """Return where the operation of Keras 3 is defined that has this name; None where none is."""
    for home in _table().classes:
        if home.startswith("ops.") and home.endswith(f".{leaf}"):
            found = f"{ROOT}.{home}"
            if config_arguments(found, release) is not None:
                return found
    return None


def pack(table: ConfigTable) -> bytes:
    """Return the table as it lies in ``data/``."""
    return zlib.compress(msgspec.msgpack.encode(table), 9)


@cache
def _table() -> ConfigTable:
    data = Path(__file__).with_name(DATA).joinpath(FILE).read_bytes()
    return msgspec.msgpack.decode(zlib.decompress(data), type=ConfigTable)


@cache
def _number(release: str) -> int | None:
    """Return the number of the last release up to this one, None before the first."""
    known = [
        number
        for number, each in enumerate(_table().releases)
        if release and Version(each) <= Version(release)
    ]
    return known[-1] if known else None
