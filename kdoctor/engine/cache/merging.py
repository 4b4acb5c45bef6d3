"""Merge the cached snapshot with new results into one consistent snapshot."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from kdoctor.engine.cache.store import NUMBERS, FactsRow, ScanRow, Snapshot, is_old, today
from kdoctor.modules.dependencies import Seen
from kdoctor.modules.file_stamp import GONE, UNSTEADY, FileStamp
from kdoctor.modules.prefilter import FileWords

NewFacts = Mapping[str, tuple[FileWords, Seen]]
NewScans = dict[tuple[str, str, bytes], tuple[bytes, Seen]]  # by path, path as given, options


def merge_snapshots(
    known: Snapshot, now: Mapping[str, FileStamp], facts: NewFacts, scans: NewScans
) -> Snapshot:
    """Return a snapshot of all results that agree on the state of every file and folder.

    ``now`` is how they were found in this run. What was not used for long is left out, and, once a
    day, what is known of files that are gone.
    """
    day = today()
    made = _Made(dict(now))
    for path, (fact, seen) in facts.items():
        if made.agrees(path, seen):
            made.add_facts(path, fact, made.needs(path, seen), day)
    for (path, given_path, key), (raw, seen) in scans.items():
        if made.agrees(path, seen):
            row = ScanRow(
                made.number(path), given_path, key, made.needs(path, seen), msgspec.Raw(raw), day
            )
            made.snapshot.scans.append(row)
    _add_known(made, known, facts, scans, now)
    made.snapshot.day = day
    return made.finished()


@dataclass(slots=True)
class _Made:
    """A snapshot under construction; all of its rows must be valid for ``states``."""

    states: dict[str, FileStamp]
    snapshot: Snapshot = field(default_factory=Snapshot)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, path: str) -> int:
        """Return the number of a path."""
        return self.numbers.setdefault(path, len(self.numbers))

    def agrees(self, path: str, seen: Seen) -> bool:
        """Say whether a new result is valid for the states; add states that are missing."""
        return (
            seen[path] is not GONE
            and UNSTEADY not in seen.values()
            and all(map(_is_text, seen))
            and all(
                self.states.setdefault(each, state).digest == state.digest
                for each, state in seen.items()
            )
        )

    def needs(self, path: str, seen: Seen) -> bytes:
        """Return the numbers of a result's dependencies, the file itself first."""
        others = (self.number(each) for each in seen if each != path)
        return array(NUMBERS, [self.number(path), *others]).tobytes()

    def add_facts(self, path: str, facts: FileWords, needs: bytes, day: int) -> None:
        """Add the facts of a file."""
        imports = array(NUMBERS, map(self.number, facts.imports)).tobytes()
        row = FactsRow(
            self.number(path), facts.size, facts.speaks, facts.marked, imports, needs, day
        )
        self.snapshot.facts.append(row)

    def finished(self) -> Snapshot:
        """Return the snapshot with the states of all paths in it."""
        self.snapshot.paths = list(self.numbers)
        self.snapshot.states = [self.states.get(path) for path in self.numbers]
        return self.snapshot


def _is_text(path: str) -> bool:
    """Say whether a name is valid UTF-8; otherwise it has lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _add_known(
    made: _Made, known: Snapshot, facts: NewFacts, scans: NewScans, now: Mapping[str, FileStamp]
) -> None:
    """Add rows of an earlier snapshot that are valid for the same states and still used."""
    paths = known.paths
    holds = [
        state is not None and made.states.setdefault(path, state).digest == state.digest
        for path, state in zip(paths, known.states, strict=True)
    ]
    is_new_day = known.day != today()

    def day_of(row: FactsRow | ScanRow) -> int:
        return today() if paths[row.path] in now else row.day

    def is_still_valid(row: FactsRow | ScanRow) -> bool:
        if not all(holds[each] for each in array(NUMBERS, row.needs)) or is_old(day_of(row)):
            return False
        path = paths[row.path]
        return not is_new_day or path in now or os.path.lexists(path)

    def again(numbers: Iterable[int]) -> bytes:
        return array(NUMBERS, [made.number(paths[each]) for each in numbers]).tobytes()

    for row in known.facts:
        if paths[row.path] not in facts and is_still_valid(row):
            made.snapshot.facts.append(
                FactsRow(
                    made.number(paths[row.path]),
                    row.size,
                    row.speaks,
                    row.marked,
                    again(array(NUMBERS, row.imports)),
                    again(array(NUMBERS, row.needs)),
                    day_of(row),
                )
            )
    for each in known.scans:
        if (paths[each.path], each.given_path, each.key) not in scans and is_still_valid(each):
            needs = again(array(NUMBERS, each.needs))
            made.snapshot.scans.append(
                ScanRow(
                    made.number(paths[each.path]),
                    each.given_path,
                    each.key,
                    needs,
                    each.raw,
                    day_of(each),
                )
            )
