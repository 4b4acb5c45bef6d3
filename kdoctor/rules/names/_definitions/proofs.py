"""The proofs of the definitions: each is an example that compares it with what it stands for.

``kdoctor.verify.keras_2_code`` draws the inputs and runs both, ``kdoctor.verify.addons`` holds
them to what the package gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from kdoctor.rules.example import Example
from kdoctor.rules.names._definitions.dead_packages import CONTRIB, PACKAGE, PACKAGES
from kdoctor.rules.names._definitions.definitions import with_needs
from kdoctor.rules.names._definitions.keras_2_helpers import HELPERS
from kdoctor.rules.names._definitions.written_out import Helper

_ROOMS: Final = {"": "keras_2_code", PACKAGE: "addons", CONTRIB: "contrib"}


@cache
def proof_of(code: str) -> Example:
    """Return what proves a definition: its code, and the comparison with what it stands for."""
    helper = next(each for each in _every() if code in (each.code, each.family))
    room = _ROOMS[helper.package]
    needed = with_needs(code)
    imports = sorted({each for found in needed for each in found.imports})
    return Example(
        before=f"from {helper.source} import {helper.leaf}\n",
        after="\n".join([*imports, *(each.text for each in needed)]),
        raises=helper.error,
        check=f"from kdoctor.verify.{room} import compare\ncompare({code!r}, {needed[-1].name})\n",
    )


def proofs() -> tuple[Example, ...]:
    """Return the proofs of all definitions that do what they stand for."""
    written = (("" if each.unlike else each.code, each.family) for each in _every())
    codes = dict.fromkeys(code for both in written for code in both if code)
    return tuple(map(proof_of, codes))


def _every() -> Iterator[Helper]:
    yield from HELPERS.values()
    for package in PACKAGES.values():
        yield from package.all()
