"""Many releases as one table: spans of releases in which a row stayed the same, and moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kdoctor.keras_api.tables import (
    ClassesTable,
    ClassSpan,
    EntryKind,
    Member,
    MoveSpan,
    NameSpan,
    NamesTable,
    in_written_order,
    raw,
    raw_spans,
)
from tools.api_data.definitions import ClassRead, MemberRead
from tools.api_data.surfaces import Entry, Surface

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

_STAY = {EntryKind.MODULE, EntryKind.ALIAS, EntryKind.EXTERNAL}
_BEST_NAMES = 4  # more aliases of one object than these help nobody


@dataclass(frozen=True, slots=True)
class ReleasedClasses:
    """The classes of one release, by home, and the attributes set on objects from outside."""

    version: str
    classes: Mapping[str, ClassRead]
    set_from_outside: frozenset[str]


class _Interned(Generic[H]):
    """Distinct values, numbered in sorted order, so that the same data gives the same bytes."""

    def __init__(self, values: Iterable[H]) -> None:
        self.values = sorted(set(values), key=repr)
        self.index = {value: number for number, value in enumerate(self.values)}


class _Dotted(_Interned[str]):
    """Distinct dotted names, numbered in the order in which a table lists them."""

    def __init__(self, values: Iterable[str]) -> None:
        self.values = in_written_order(set(values))
        self.index = {value: number for number, value in enumerate(self.values)}


def spans(rows: Sequence[T | None]) -> list[tuple[int, int, T]]:
    """Join equal neighbours: ``[a, a, None, b]`` → ``[(0, 1, a), (3, 3, b)]``."""
    joined: list[tuple[int, int, T]] = []
    for number, row in enumerate(rows):
        if row is None:
            continue
        if joined and joined[-1][1] == number - 1 and joined[-1][2] == row:
            joined[-1] = (joined[-1][0], number, row)
        else:
            joined.append((number, number, row))
    return joined


def names_table(surfaces: Sequence[Surface]) -> NamesTable:
    """Merge the surfaces of one root, oldest release first."""
    homes = _Dotted(entry.home for surface in surfaces for entry in surface.entries.values())
    signatures = _Interned(
        entry.signature
        for surface in surfaces
        for entry in surface.entries.values()
        if entry.signature is not None
    )
    names: dict[str, list[Entry | None]] = defaultdict(lambda: [None] * len(surfaces))
    opened: dict[str, list[bool | None]] = defaultdict(lambda: [None] * len(surfaces))
    for number, surface in enumerate(surfaces):
        for name, entry in surface.entries.items():
            names[name][number] = entry
        for name in surface.open_modules:
            opened[name][number] = True
    listed = in_written_order(names)
    rows = {
        name: raw_spans(
            [
                NameSpan(
                    first,
                    last,
                    entry.kind,
                    homes.index[entry.home],
                    -1 if entry.signature is None else signatures.index[entry.signature],
                    entry.family,
                    entry.stub,
                    entry.import_only,
                )
                for first, last, entry in spans(names[name])
            ]
        )
        for name in listed
    }
    return NamesTable(
        surfaces[0].root,
        [surface.version for surface in surfaces],
        homes.values,
        signatures.values,
        {name: [[a, b] for a, b, _ in spans(opened[name])] for name in sorted(opened)},
        rows,
        {name: raw(found) for name, found in _moves(names, surfaces, listed)},
    )


def _moves(
    names: Mapping[str, Sequence[Entry | None]],
    surfaces: Sequence[Surface],
    listed: Sequence[str],
) -> Iterable[tuple[str, list[MoveSpan]]]:
    numbers = {name: number for number, name in enumerate(listed)}
    by_home = [_names_by_home(surface) for surface in surfaces]
    for name in listed:
        targets = _follow(name, names[name], surfaces, by_home)
        if found := [
            MoveSpan(first, last, [numbers[new] for new in best])
            for first, last, best in spans(targets)
        ]:
            yield name, found


def _names_by_home(surface: Surface) -> dict[str, list[str]]:
    """Group the names of the objects that can move: working classes, functions, own values."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, entry in surface.entries.items():
        if entry.kind not in _STAY and not entry.stub:
            groups[entry.home].append(name)
    return groups


def _follow(
    name: str,
    entries: Sequence[Entry | None],
    surfaces: Sequence[Surface],
    by_home: Sequence[Mapping[str, list[str]]],
) -> list[tuple[str, ...] | None]:
    """For each release without ``name``: the names of what it stood for when it was last there.

    In the last release with ``name``, names of the same home are the same object. From release
    to release these names are followed, and with them what shares their home there.
    """
    targets: list[tuple[str, ...] | None] = [None] * len(surfaces)
    alive: set[str] = set()
    for number, entry in enumerate(entries):
        if entry is not None and entry.kind not in _STAY:
            # Where the old place was left a copy of its own (keras.layers.recurrent.LSTM in 2.6),
            # the object's former names go on.
            now = set(by_home[number].get(entry.home, ())) - {name}
            alive = now | {other for other in alive if _leaf(other) == _leaf(name)}
        if entry is not None:
            continue
        present = {other: surfaces[number].entries.get(other) for other in alive}
        homes = {
            found.home
            for found in present.values()
            if found and found.kind not in _STAY and not found.stub
        }
        found_names = {other for home in homes for other in by_home[number].get(home, ())}
        # Modules that star-import from other packages must not cut the thread.
        hidden = {
            other
            for other, found in present.items()
            if found is None and other.rpartition(".")[0] in surfaces[number].open_modules
        }
        # A name that comes back (keras.optimizers.Adam was not in 2.6-2.8) is the old one.
        alive = found_names | hidden or alive
        if found_names:
            targets[number] = tuple(sorted(found_names, key=lambda new: _rank(name, new)))[
                :_BEST_NAMES
            ]
    return targets


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]


def _rank(old: str, new: str) -> tuple[bool, int, bool, int, str]:
    """Best new name first: the same last name, most of the old package, public, short."""
    old_package, new_package = old.rpartition(".")[0], new.rpartition(".")[0]
    shared = 0
    for a, b in zip(old_package.split("."), new_package.split("."), strict=False):
        if a != b or not a:
            break
        shared += 1
    return (_leaf(old) != _leaf(new), -shared, "experimental" in new, len(new), new)


def classes_table(distribution: str, releases: Sequence[ReleasedClasses]) -> ClassesTable:
    """Merge the classes of one distribution's releases, oldest first."""
    reads = [read for release in releases for read in release.classes.values()]
    homes = _Dotted(base for read in reads for base in read.bases)
    members = _Interned(member for read in reads for member in read.members)
    signatures = _Interned(
        member.signature for member in members.values if member.signature is not None
    )
    rows: dict[str, list[ClassRead | None]] = defaultdict(lambda: [None] * len(releases))
    outside: dict[str, list[bool | None]] = defaultdict(lambda: [None] * len(releases))
    for number, release in enumerate(releases):
        for home, read in release.classes.items():
            rows[home][number] = read
        for name in release.set_from_outside:
            outside[name][number] = True

    def packed(member: MemberRead) -> Member:
        signature = -1 if member.signature is None else signatures.index[member.signature]
        return Member(member.name, member.kind, signature, member.stub)

    return ClassesTable(
        distribution,
        [release.version for release in releases],
        homes.values,
        signatures.values,
        [packed(member) for member in members.values],
        {name: [[a, b] for a, b, _ in spans(outside[name])] for name in sorted(outside)},
        {
            home: raw(
                [
                    ClassSpan(
                        first,
                        last,
                        [homes.index[base] for base in read.bases],
                        read.family,
                        read.dynamic,
                        [members.index[member] for member in read.members],
                    )
                    for first, last, read in spans(rows[home])
                ]
            )
            for home in sorted(rows)
        },
    )
