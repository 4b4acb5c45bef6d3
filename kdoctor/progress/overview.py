"""Compute the overview of a migration from paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kdoctor.engine import Options, scan
from kdoctor.engine.schedule.dispatch import run
from kdoctor.engine.schedule.plan import Plan
from kdoctor.model import Finding, Severity
from kdoctor.progress.first_import_error import FirstImportErrors
from kdoctor.progress.grouping import by_folder, by_rule
from kdoctor.progress.model import (
    Counts,
    Coupling,
    CouplingKind,
    CouplingUse,
    FileState,
    Overview,
    Portability,
    Status,
    Stop,
)
from kdoctor.progress.reading import Reading, forget, read
from kdoctor.progress.repository import Repository, common_folder
from kdoctor.progress.tensorflow_coupling import IMPORTED


def overview(paths: Sequence[str], options: Options) -> Overview:
    """Return how far the migration of the files at or below ``paths`` is. Nothing is written.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    folder = common_folder(paths)
    repository = Repository.around(folder)
    result = scan(paths, **options)
    plan = Plan(paths, options)
    forget()
    readings = run(read, plan.scan_options, plan.discover().tasks, options.get("jobs"))
    starts = FirstImportErrors(readings, result.findings)
    stops = starts.stops()
    return Overview(
        name=folder.name or str(folder),
        paths=tuple(paths),
        scan=result,
        files=_files(readings, result.findings, starts, stops),
        stops=stops,
        folders=by_folder(result.findings),
        rules=by_rule(result.findings),
        portability=_portability(readings),
        commit=repository.head() if repository else None,
        is_changed=repository.is_changed() if repository else False,
    )


def _files(
    readings: Iterable[Reading],
    findings: Iterable[Finding],
    starts: FirstImportErrors,
    stops: Iterable[Stop],
) -> tuple[FileState, ...]:
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.place.path].append(finding)
    concerned = {each.path for each in readings if each.imports_keras} | set(found)
    waits = {way[0]: way[-1] for stop in stops for way in stop.ways}
    entries = starts.entries()
    return tuple(
        FileState(
            path,
            _status(found[path], starts.starting_errors(path), waits=path in waits),
            Counts.of(found[path]),
            waits.get(path),
            is_entry=path in entries,
        )
        for path in sorted(concerned)
    )


def _status(findings: Sequence[Finding], starting: Sequence[Finding], *, waits: bool) -> Status:
    severities = {finding.severity for finding in findings}
    if starting:
        return Status.STOPS
    if waits:
        return Status.WAITS
    if Severity.ERROR in severities:
        return Status.FAILS
    if Severity.CHANGE in severities:
        return Status.CHANGES
    return Status.LEGACY if findings else Status.DONE


def _portability(readings: Sequence[Reading]) -> Portability:
    files = [each for each in readings if each.imports_keras]
    uses: defaultdict[Coupling, dict[str, int]] = defaultdict(dict)
    for reading in files:
        for tie, number in reading.ties.items():
            uses[tie][reading.path] = number
    free = [each for each in files if not _of_tensorflow(each.ties)]
    ties = [
        CouplingUse(
            tie,
            sum(by_path.values()),
            tuple(sorted(by_path, key=lambda path: (-by_path[path], path))),
        )
        for tie, by_path in uses.items()
    ]
    return Portability(
        files=len(files),
        free=tuple(each.path for each in free),
        by_root=tuple(
            each.path for each in files if each not in free and _is_only_by_root(each.ties)
        ),
        backend_only=tuple(each.path for each in free if each.ties),
        ties=tuple(sorted(ties, key=lambda use: (-len(use.files), -use.uses, use.tie))),
    )


def _of_tensorflow(ties: Mapping[Coupling, int]) -> list[Coupling]:
    return [tie for tie in ties if tie.kind is not CouplingKind.BACKEND]


def _is_only_by_root(ties: Mapping[Coupling, int]) -> bool:
    """Say whether nothing but the public ``tf.keras`` is used of TensorFlow."""
    return all(tie == IMPORTED or tie.name == "tf.keras" for tie in _of_tensorflow(ties))
