"""Match baseline entries with current findings, across moved and renamed code.

The surest pairs are made first: the same file and the same code, then code that moved within its
file, then code whose line was edited; last, the files whose old path is gone, each with the new
file that holds most of it. Each entry is matched once at most, so copies of a known finding are
new.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher

from kdoctor.engine.baseline.entry import BaselineEntry

_ALIKE = 0.5  # of 1: how much of its line must be left where a line was edited
_MAX_COMPARED_PAIRS = 2_500  # lines to compare with each other; more of them go in order


class Matching:
    """Pairs baseline entries with findings of a scan, both by index."""

    def __init__(self, known: Sequence[BaselineEntry], found: Sequence[BaselineEntry]) -> None:
        self._known = known
        self._found = found
        self.known_of: dict[int, int] = {}
        """For each entry that was found and is known, its entry in the baseline."""
        self._waiting_known = set(range(len(known)))
        self._waiting_found = set(range(len(found)))

    @property
    def fixed(self) -> list[int]:
        """The indices of the entries without a matching finding."""
        return sorted(self._waiting_known)

    def match(self, is_gone: Callable[[str], bool]) -> Matching:
        """Make all pairs. ``is_gone`` says whether the file at a path was deleted."""
        self._within_files(self._waiting_known, self._waiting_found, {})
        gone = {path for path in self._paths(self._known, self._waiting_known) if is_gone(path)}
        for old, new in self._renames(gone):
            known = {index for index in self._waiting_known if self._known[index].path == old}
            found = {index for index in self._waiting_found if self._found[index].path == new}
            self._within_files(known, found, {old: new})
        return self

    def _within_files(
        self, known: Iterable[int], found: Iterable[int], renamed: dict[str, str]
    ) -> None:
        """Pair entries and findings of the same file; ``renamed`` maps old paths to new ones."""
        old = {
            index: self._known[index].at(
                renamed.get(self._known[index].path, self._known[index].path)
            )
            for index in known
        }
        new = {index: self._found[index] for index in found}
        for key in (_same, _moved):
            self._pair_by(key, old, new)
        self._pair_by_similarity(old, new)

    def _pair_by(
        self,
        key: Callable[[BaselineEntry], Hashable],
        old: dict[int, BaselineEntry],
        new: dict[int, BaselineEntry],
    ) -> None:
        groups = _grouped(key, old)
        for index, entry in sorted(new.items()):
            if same := groups.get(key(entry)):
                self._pair(same.pop(0), index, old, new)

    def _pair_by_similarity(
        self, old: dict[int, BaselineEntry], new: dict[int, BaselineEntry]
    ) -> None:
        """Pair within the same definition, the most similar lines first."""
        groups = _grouped(_in_definition, old)
        for key, found in _grouped(_in_definition, new).items():
            known = groups.get(key, [])
            if len(known) * len(found) > _MAX_COMPARED_PAIRS:
                pairs = list(zip(known, found, strict=False))
            else:
                alike = (
                    (-_similarity(old[one], new[other]), one, other)
                    for one in known
                    for other in found
                )
                pairs = [(one, other) for minus, one, other in sorted(alike) if -minus >= _ALIKE]
            for one, other in pairs:
                if one in old and other in new:
                    self._pair(one, other, old, new)

    def _pair(
        self, known: int, found: int, old: dict[int, BaselineEntry], new: dict[int, BaselineEntry]
    ) -> None:
        self.known_of[found] = known
        self._waiting_known.discard(known)
        self._waiting_found.discard(found)
        del old[known], new[found]

    def _renames(self, gone: set[str]) -> list[tuple[str, str]]:
        """List likely renames of deleted files, the most similar first."""
        homes: defaultdict[Hashable, list[str]] = defaultdict(list)
        for index in self._waiting_known:
            if self._known[index].path in gone:
                homes[_moved(self._known[index].at(""))].append(self._known[index].path)
        common: Counter[tuple[str, str]] = Counter()
        for index in self._waiting_found:
            entry = self._found[index]
            for path in set(homes.get(_moved(entry.at("")), ())):
                common[path, entry.path] += 1
        return sorted(
            common, key=lambda pair: (-common[pair], _name(pair[0]) != _name(pair[1]), pair)
        )

    @staticmethod
    def _paths(entries: Sequence[BaselineEntry], indices: Iterable[int]) -> set[str]:
        return {entries[index].path for index in indices}


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _same(entry: BaselineEntry) -> Hashable:
    return entry


def _moved(entry: BaselineEntry) -> Hashable:
    """Return the features that stay when code moves to another definition."""
    return entry.path, entry.rule, entry.symbol, entry.source, entry.context


def _in_definition(entry: BaselineEntry) -> Hashable:
    """Return the features that stay when the line itself is edited."""
    return entry.path, entry.rule, entry.symbol, entry.scope


def _similarity(one: BaselineEntry, other: BaselineEntry) -> float:
    matcher = SequenceMatcher(None, one.context, other.context, autojunk=False)
    if matcher.quick_ratio() < _ALIKE:
        return 0.0
    return matcher.ratio()


def _grouped(
    key: Callable[[BaselineEntry], Hashable], entries: dict[int, BaselineEntry]
) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index, entry in sorted(entries.items()):
        groups[key(entry)].append(index)
    return groups
