"""A scan beside a baseline: what is new, what is known, what is fixed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from kdoctor.engine.baseline.entry import Entry, entry_of, relative
from kdoctor.engine.baseline.file import Baseline
from kdoctor.engine.baseline.matching import Matching
from kdoctor.engine.result import ScanResult

Asks = Callable[[str, str], bool]


@dataclass(frozen=True)
class Comparison:
    """What a baseline makes of a scan.

    ``result`` is the scan with the new findings as ``findings`` and the others as ``known``.
    ``fixed`` are the entries that no finding answers to any more. ``unseen`` are those that this
    scan says nothing about: their file was not read or not understood, or their rule not asked.
    ``renamed`` counts the known findings in files that the baseline has under another path.
    """

    baseline: Baseline
    result: ScanResult
    fixed: tuple[Entry, ...]
    unseen: tuple[Entry, ...]
    renamed: int
    entries: tuple[Entry, ...]  # of all findings, as a baseline would keep them now

    @cached_property
    def pruned(self) -> tuple[Entry, ...]:
        """The entries of the baseline without the fixed ones."""
        left = Counter(self.baseline.entries) - Counter(self.fixed)
        return tuple(sorted(left.elements()))


def compare(
    result: ScanResult,
    baseline: Baseline,
    paths: Iterable[str | os.PathLike[str]],
    asks: Asks = lambda _path, _code: True,
) -> Comparison:
    """Split the findings of a scan of ``paths`` into those that a baseline knows and the others.

    ``asks`` says for a path and a rule whether it counts there: a finding of a rule that was not
    asked is not fixed.
    """
    folder = baseline.folder
    findings = sorted(
        (*result.findings, *result.known), key=lambda each: (each.place, each.code, each.message)
    )
    found = [entry_of(finding, result, folder) for finding in findings]
    matching = Matching(baseline.entries, found).match(lambda path: not (folder / path).exists())
    seen = _Seen(result, folder, paths, asks)
    left = [baseline.entries[index] for index in matching.fixed]
    known = matching.known_of
    return Comparison(
        baseline,
        replace(
            result,
            findings=tuple(each for index, each in enumerate(findings) if index not in known),
            known=tuple(each for index, each in enumerate(findings) if index in known),
        ),
        fixed=tuple(entry for entry in left if seen.covers(entry)),
        unseen=tuple(entry for entry in left if not seen.covers(entry)),
        renamed=sum(baseline.entries[old].path != found[new].path for new, old in known.items()),
        entries=tuple(found),
    )


class _Seen:
    """What a scan looked at, so that what it did not find there is fixed."""

    def __init__(
        self,
        result: ScanResult,
        folder: Path,
        paths: Iterable[str | os.PathLike[str]],
        asks: Asks,
    ) -> None:
        self._folder = folder
        self._named = [os.path.realpath(path) for path in paths]
        self._asks = asks
        self._read = {relative(path, folder) for path in result.files}
        self._read -= {relative(file.path, folder) for file in result.unreadable}

    def covers(self, entry: Entry) -> bool:
        """Say whether the finding of this entry would have been found."""
        if not self._asks(str(self._folder / entry.path), entry.rule):
            return False
        if entry.path in self._read:
            return True
        # A file that is gone was not read, but the folder that it lay in was looked into.
        path = os.path.normpath(self._folder / entry.path)
        return not os.path.lexists(path) and any(
            path.startswith(f"{named.rstrip(os.sep)}{os.sep}") for named in self._named
        )
