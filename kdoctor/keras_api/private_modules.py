"""What stands in ``keras.src``: each module of it, and each name that a module binds, by release.

Private names move with any release. Read from the released wheels, as all data is: see
``python -m tools.api_data``.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from packaging.version import Version

from kdoctor.keras_api.tables import DATA

ROOT: Final = "keras.src"
_TESTS: Final = frozenset({"tests", "integration_test"})
FILE: Final = f"{ROOT}.modules.bin"

Spans = int | list[int]
"""In which releases something is, counted from 0: from one on, or the first and last of each span.
"""


class PrivateModules(Struct, frozen=True, array_like=True):
    """The modules of some releases, oldest first, and in each module the names that it binds.

    Names are dotted and relative to the root, which is ``""`` itself. ``common`` are those that
    more than a few modules bind, most of them by an import: nobody looks for them in a module, and
    they would take as much room as all others. ``open`` are modules that may bind anything, as they
    import by star from elsewhere.
    """

    releases: tuple[str, ...]
    modules: dict[str, Spans]
    names: dict[str, dict[str, Spans]]
    common: tuple[str, ...]
    open: dict[str, Spans]


def missing_prefix(qualified: str, release: str) -> str | None:
    """Return the part of a name under ``keras.src`` that a release lacks, None where it has all.

    That is also None where it is not known: of a release before Keras 3, of names that begin with
    an underscore or that many modules bind, of what stands in a class.
    """
    table = _table()
    number = _number(release)
    if number is None or not f"{qualified}.".startswith(f"{ROOT}."):
        return None
    module = ""
    for part in qualified.removeprefix(ROOT).strip(".").split(".") if qualified != ROOT else ():
        child = f"{module}.{part}".lstrip(".")
        if _is_in(table.modules.get(child), number):
            module = child
            continue
        is_known = _is_in(table.names.get(module, {}).get(part), number) or _is_in(
            table.open.get(module), number
        )
        if is_known or part in table.common or _may_be_anywhere(part):
            return None
        return f"{ROOT}.{child}"
    return None


def is_bound_somewhere(name: str, release: str) -> bool:
    """Say whether some module of a release may bind a name, be it by an import."""
    table, number = _table(), _number(release)
    if number is None or name in table.common or _may_be_anywhere(name):
        return True
    return any(_is_in(names.get(name), number) for names in table.names.values())


def _may_be_anywhere(name: str) -> bool:
    """Say whether it is a test, which is not read, or a private name, made in many ways."""
    return name.startswith("_") or name.endswith("_test") or name in _TESTS


def pack(table: PrivateModules) -> bytes:
    """Return the table as it lies in ``data/``."""
    return zlib.compress(msgspec.msgpack.encode(table), 9)


@cache
def _table() -> PrivateModules:
    data = Path(__file__).with_name(DATA).joinpath(FILE).read_bytes()
    return msgspec.msgpack.decode(zlib.decompress(data), type=PrivateModules)


@cache
def _number(release: str) -> int | None:
    """Return the number of the last release up to this one, None before the first."""
    if not release:
        return None
    known = [
        number for number, each in enumerate(_table().releases) if Version(each) <= Version(release)
    ]
    return known[-1] if known else None


def _is_in(spans: Spans | None, number: int) -> bool:
    if isinstance(spans, int):
        return spans <= number
    pairs = zip(spans[::2], spans[1::2], strict=True) if spans else ()
    return any(first <= number <= last for first, last in pairs)
