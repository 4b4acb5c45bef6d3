"""The codes and names of the rules, known without importing a single one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CODE = re.compile(rb'^    code="(KD\d+)",$', re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """How a rule can be called."""

    code: str
    name: str


@cache
def rule_index() -> tuple[Entry, ...]:
    """Return the code and name of every rule, by code: what the files of the rules begin with.

    Importing them takes libcst and some tenths of a second, which a scan that finds nothing of
    Keras has no use for.
    """
    found = (
        (path, _CODE.search(path.read_bytes())) for path in Path(__file__).parent.glob("*/*.py")
    )
    return tuple(
        sorted(
            Entry(code[1].decode(), path.stem.replace("_", "-"))
            for path, code in found
            if code and not path.name.startswith("_")
        )
    )
