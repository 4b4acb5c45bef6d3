"""What stands for names of packages that died with Keras 2, as text to read and copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from kdoctor.rules.names._definitions.dead_packages import PACKAGES
from kdoctor.rules.names._definitions.definitions import definition, with_needs

_USUAL: Final = {"tfa": "tensorflow_addons"}


class StandIn(Struct, frozen=True):
    """A definition that a fix writes for a public name: its dotted name, and what it is."""

    name: str
    summary: str
    code: str

    @property
    def text(self) -> str:
        """It and all that it uses, with their imports: a file of its own."""
        needed = with_needs(self.code)
        imports = sorted({each for found in needed for each in found.imports})
        return "\n\n\n".join(["\n".join(imports), *(each.text for each in needed)])


def stand_ins() -> Mapping[str, tuple[StandIn, ...]]:
    """Return what stands for the names of each package, in their order."""
    return {package: tuple(_of(package)) for package in PACKAGES}


def stand_ins_for(name: str) -> tuple[StandIn, ...]:
    """Return what stands for a name: a dotted one, or its last part, ignoring case.

    Several where packages, or modules of one, have the last part.
    """
    first, dot, rest = name.partition(".")
    asked = f"{_USUAL.get(first, first)}{dot}{rest}".lower()
    found = (each for several in stand_ins().values() for each in several)
    fitting = [
        each for each in found if asked in {each.name.lower(), each.name.rpartition(".")[2].lower()}
    ]
    return tuple({each.code: each for each in fitting}.values())


def _of(package: str) -> Iterator[StandIn]:
    recorded = PACKAGES[package].recorded.names
    for name in sorted(recorded):
        helper = PACKAGES[package].of(f"{package}.{name}")
        if helper is not None and helper[0].code and not helper[1]:
            yield StandIn(f"{package}.{name}", _summary(helper[0].code), helper[0].code)


def _summary(code: str) -> str:
    found = definition(code)
    return found.summary if '"""' in found.text else ""
