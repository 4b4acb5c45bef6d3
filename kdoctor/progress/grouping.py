"""Findings by folder and by rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from kdoctor.model import Finding
from kdoctor.progress.model import Counts, Group
from kdoctor.rules import rule_by_code

_MAX_FOLDERS = 20  # more than these nobody reads: they are joined by what they lie in


def by_folder(findings: Sequence[Finding]) -> tuple[Group, ...]:
    """Group findings by the folder that their file lies in, most findings first.

    Where these are many, only so many levels of folders count that they are few enough.
    """
    folders = {PurePosixPath(finding.place.path).parent for finding in findings}
    depth = max((len(folder.parts) for folder in folders), default=0)
    shared = _shared_depth(folders)
    while depth > shared + 1 and len({_cut(each, depth) for each in folders}) > _MAX_FOLDERS:
        depth -= 1
    cut = any(len(folder.parts) > depth for folder in folders)
    what = "with the folders below it" if cut else ""

    def name(finding: Finding) -> str:
        return f"{_cut(PurePosixPath(finding.place.path).parent, depth)}/"

    return _grouped(findings, name, lambda _: what)


def by_rule(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Group findings by rule, most findings first."""
    return _grouped(findings, lambda finding: finding.code, lambda code: rule_by_code(code).summary)


def _grouped(
    findings: Iterable[Finding], name: Callable[[Finding], str], what: Callable[[str], str]
) -> tuple[Group, ...]:
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[name(finding)].append(finding)
    found = [
        Group(key, what(key), Counts.of(each), len({finding.place.path for finding in each}))
        for key, each in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (-group.left.total, group.name)))


def _cut(folder: PurePosixPath, depth: int) -> PurePosixPath:
    return PurePosixPath(*folder.parts[:depth])


def _shared_depth(folders: Iterable[PurePosixPath]) -> int:
    """Return how many of the first parts all folders have in common."""
    parts = [folder.parts for folder in folders]
    depth = 0
    while parts and all(len(each) > depth for each in parts):
        if len({each[depth] for each in parts}) > 1:
            break
        depth += 1
    return depth
