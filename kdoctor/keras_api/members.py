"""Members of Keras' classes: inherited ones and those that instances get, per release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from kdoctor.keras_api import tables
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.tables import ClassFamily, ClassSpan, Member

# Bases from other packages whose instances have no public name of their own.
# AutoTrackable: tensorflow/python/trackable/autotrackable.py, all of whose names begin with "_".
_EMPTY_BASES: Final = frozenset(
    {
        "object",
        "abc.ABC",
        "typing.Generic",
        "tensorflow.__internal__.tracking.AutoTrackable",
        "tensorflow.__internal__.tracking.Trackable",
    }
)


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """One class of one release with all that its instances have."""

    home: str
    family: ClassFamily
    complete: bool  # False: a base of another package or ``__getattr__`` may add members
    members: dict[str, Member]


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of one distribution's release."""

    distribution: str
    release: str

    def info(self, home: str) -> ClassInfo | None:
        """Return what is known of the class at ``home``."""
        return _info(self.distribution, self.release, home)

    def by_leaf(self, name: str) -> tuple[ClassInfo, ...]:
        """Return the classes called ``name`` wherever they are defined."""
        homes = _homes_by_leaf(self.distribution, self.release).get(name, ())
        return tuple(info for home in homes if (info := self.info(home)))

    def signature_text(self, member: Member) -> str | None:
        """Return a method's parameters without ``self``."""
        if member.signature < 0:
            return None
        return tables.classes_table(self.distribution).signatures[member.signature]


def classes_of(distribution: str, release: str) -> Classes | None:
    """Return the classes of a release; None where the data has no such release."""
    try:
        known = tables.classes_table(distribution).releases
    except FileNotFoundError:
        return None
    return Classes(distribution, release) if release in known else None


def presence_of(info: ClassInfo, member: str) -> Presence:
    """Say whether instances of the class have ``member``."""
    if member in info.members:
        return Presence.EXISTS
    if not info.complete or member.startswith("_"):
        return Presence.UNKNOWN
    return Presence.MISSING


def _span(distribution: str, release: str, home: str) -> ClassSpan | None:
    table = tables.classes_table(distribution)
    row = table.classes.get(home)
    if row is None:
        return None
    number = table.releases.index(release)
    return next((s for s in tables.class_spans(row) if s.first <= number <= s.last), None)


@cache
def _info(distribution: str, release: str, home: str) -> ClassInfo | None:
    span = _span(distribution, release, home)
    if span is None:
        return None
    table = tables.classes_table(distribution)
    members: dict[str, Member] = {}
    complete = not span.dynamic
    for base in reversed(span.bases):
        base_home = table.homes[base]
        if base_home in _EMPTY_BASES:
            continue
        inherited = _info(distribution, release, base_home)
        if inherited is None:
            complete = False
        else:
            members |= inherited.members
            complete = complete and inherited.complete
    members |= {table.members[number].name: table.members[number] for number in span.members}
    return ClassInfo(home, span.family, complete, members)


@cache
def _homes_by_leaf(distribution: str, release: str) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for home in tables.classes_table(distribution).classes:
        if _span(distribution, release, home):
            groups.setdefault(home.rpartition(".")[2], []).append(home)
    return {leaf: tuple(homes) for leaf, homes in groups.items()}
