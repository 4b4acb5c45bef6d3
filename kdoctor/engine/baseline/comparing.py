"""Compare a scan with a baseline: new, known and fixed findings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from kdoctor.engine.baseline.entry import BaselineEntry, entry_of, relative
from kdoctor.engine.baseline.file import Baseline
from kdoctor.engine.baseline.matching import Matching
from kdoctor.engine.result import ScanResult
from kdoctor.errors import INTERNAL_ERROR
from kdoctor.model import Unreadable
from kdoctor.rules.redirects import redirect_notes

Asks = Callable[[str, str], bool]


@dataclass(frozen=True)
class Comparison:
    """The findings of a scan, split by a baseline.

    ``result`` is the scan with the new findings as ``findings`` and the others as ``known``.
    ``fixed`` are the entries without a matching finding. ``unseen`` are those that this
    scan says nothing about: their file was not read or not parsed, or their rule did not run.
    ``renamed`` counts the known findings in files that the baseline has under another path.
    ``accepted`` are the files that cannot be checked and that the baseline knows as such; they are
    not among those of ``result``. ``checked_again`` are the paths of files that it knows so and
    that were checked.
    """

    baseline: Baseline
    result: ScanResult
    fixed: tuple[BaselineEntry, ...]
    unseen: tuple[BaselineEntry, ...]
    renamed: int
    entries: tuple[BaselineEntry, ...]  # of all findings, as a baseline would keep them now
    accepted: tuple[Unreadable, ...] = ()
    checked_again: tuple[str, ...] = ()

    @cached_property
    def pruned(self) -> tuple[BaselineEntry, ...]:
        """The baseline's entries without the fixed ones."""
        left = Counter(self.baseline.entries) - Counter(self.fixed)
        return tuple(sorted(left.elements()))

    @cached_property
    def pruned_not_checked(self) -> dict[str, str]:
        """The baseline's unchecked files that still cannot be checked."""
        known = self.baseline.not_checked
        return {path: why for path, why in known.items() if path not in self.checked_again}

    @cached_property
    def not_checked(self) -> dict[str, str]:
        """The files that could not be checked, as a baseline stores them."""
        folder = self.baseline.folder
        found = (*self.accepted, *filter(is_acceptable, self.result.unhandled))
        now = {relative(file.path, folder): file.why for file in found}
        return self.pruned_not_checked | now


def compare(
    result: ScanResult,
    baseline: Baseline,
    paths: Iterable[str | os.PathLike[str]],
    is_selected: Asks = lambda _path, _code: True,
) -> Comparison:
    """Split the findings of a scan of ``paths`` into known and new ones.

    ``is_selected`` says whether a rule is selected for a path: a finding of a rule that was not
    selected there is not fixed.
    """
    folder = baseline.folder
    findings = sorted(
        (*result.findings, *result.known), key=lambda each: (each.place, each.code, each.message)
    )
    found = [entry_of(finding, result, folder) for finding in findings]
    matching = Matching(baseline.entries, found).match(lambda path: not (folder / path).exists())
    seen = _Matched(result, folder, paths, is_selected)
    left = [baseline.entries[index] for index in matching.fixed]
    known = matching.known_of
    accepted = tuple(
        file
        for file in result.unhandled
        if is_acceptable(file) and relative(file.path, folder) in baseline.not_checked
    )
    return Comparison(
        baseline,
        replace(
            _noted(_without(result, accepted), baseline),
            findings=tuple(each for index, each in enumerate(findings) if index not in known),
            known=tuple(each for index, each in enumerate(findings) if index in known),
        ),
        fixed=tuple(entry for entry in left if seen.covers(entry)),
        unseen=tuple(entry for entry in left if not seen.covers(entry)),
        renamed=sum(baseline.entries[old].path != found[new].path for new, old in known.items()),
        entries=tuple(found),
        accepted=accepted,
        checked_again=tuple(path for path in baseline.not_checked if seen.is_checked(path)),
    )


def is_acceptable(file: Unreadable) -> bool:
    """Say whether a baseline may accept an unchecked file: not if kdoctor itself failed."""
    return not file.why.startswith(INTERNAL_ERROR)


def _noted(result: ScanResult, baseline: Baseline) -> ScanResult:
    """Add notes on renamed or retired codes in the baseline."""
    remarks = dict.fromkeys((*result.project.remarks, *redirect_notes(baseline.old_names)))
    return replace(result, project=replace(result.project, remarks=tuple(remarks)))


def _without(result: ScanResult, accepted: Collection[Unreadable]) -> ScanResult:
    def left(files: Iterable[Unreadable]) -> tuple[Unreadable, ...]:
        return tuple(file for file in files if file not in accepted)

    project = replace(result.project, unreadable=left(result.project.unreadable))
    return replace(result, unreadable=left(result.unreadable), project=project)


class _Matched:
    """What a scan covered: entries there without a finding are fixed."""

    def __init__(
        self,
        result: ScanResult,
        folder: Path,
        paths: Iterable[str | os.PathLike[str]],
        is_selected: Asks,
    ) -> None:
        self._folder = folder
        self._named = [os.path.realpath(path) for path in paths]
        self._is_selected = is_selected
        self._read = {relative(path, folder) for path in result.files}
        self._unhandled = {relative(file.path, folder) for file in result.unhandled}
        self._read -= self._unhandled

    def covers(self, entry: BaselineEntry) -> bool:
        """Say whether the scan would have found this entry's finding."""
        if not self._is_selected(str(self._folder / entry.path), entry.rule):
            return False
        return self._is_checked_or_deleted(entry.path)

    def is_checked(self, path: str) -> bool:
        """Say whether a file that could not be checked was checked now, or is gone."""
        return path not in self._unhandled and self._is_checked_or_deleted(path)

    def _is_checked_or_deleted(self, name: str) -> bool:
        if name in self._read:
            return True
        # A file that is gone was not read, but the folder that it lay in was looked into.
        path = os.path.normpath(self._folder / name)
        return not os.path.lexists(path) and any(
            path.startswith(f"{named.rstrip(os.sep)}{os.sep}") for named in self._named
        )
