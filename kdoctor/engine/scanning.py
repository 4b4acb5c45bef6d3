"""Scan many files and collect one result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Unpack

from msgspec.structs import replace

from kdoctor.engine.cache.recorder import Recorded, record_dependencies
from kdoctor.engine.examiners import examiner_of, forget, forget_trees, preload
from kdoctor.engine.options import Options, Paths, each_of
from kdoctor.engine.result import FileScan, ProjectNotes, ScanResult
from kdoctor.engine.schedule.dispatch import run
from kdoctor.engine.schedule.plan import Discovered, Plan
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.engine.selection.targets import Targets

_NOTHING: Final = FileScan()


def scan(paths: Paths, **options: Unpack[Options]) -> ScanResult:
    """Return the findings of the files at or below ``paths``. Nothing is written or run.

    One path may stand by itself.

    A file that cannot be read or parsed is named in the result; the others go on.

    >>> scan(["train.py"], target="keras==3.15.1").findings        # doctest: +SKIP
    (Finding(code='KD101', …),)

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    plan = Plan(each_of(paths), options)
    forget()
    run_all = partial(run, workers=plan.workers, progress=options.get("progress"), preload=preload)
    if plan.cache is None:
        discovery = plan.discovery()
        scans = run_all(_scan, plan.scan_options, discovery)
        discovered = discovery.finish()
    else:
        discovered = plan.discover()
        scans = plan.cache.through(
            plan.scan_options,
            discovered.tasks,
            partial(run_all, _scan_recorded, plan.scan_options),
            of_scan=lambda scan: scan,
            scan_of=lambda scan: scan,
        )
    forget_trees()
    return collect_results(plan.targets, discovered, scans)


def collect_results(
    targets: Targets, discovered: Discovered, scans: Sequence[FileScan]
) -> ScanResult:
    """Combine the results of the files, in the order of their paths."""
    scans = [scan for scan in scans if scan != _NOTHING]  # most are
    unreadable = [*discovered.unreadable, *(scan.unreadable for scan in scans if scan.unreadable)]
    uses = targets.uses(discovered.tasks)
    return ScanResult(
        target=uses[0].target,
        findings=tuple(finding for scan in scans for finding in scan.findings),
        lines={place: line for scan in scans for place, line in scan.lines.items()},
        regions={place: region for scan in scans for place, region in scan.regions.items()},
        read=discovered.read,
        files=tuple(discovered.files),
        skipped=tuple(part for scan in scans for part in scan.skipped),
        unreadable=tuple(sorted(unreadable, key=lambda file: (file.path, file.why))),
        project=_with_old_names(discovered.notes, scans),
        targets=uses,
        anchors={place: anchor for scan in scans for place, anchor in scan.anchors.items()},
        suppressed=tuple(each for scan in scans for each in scan.suppressed),
        own_targets=tuple(scan.own_target for scan in scans if scan.own_target),
        saved_models=discovered.models,
    )


def _with_old_names(notes: ProjectNotes, scans: Sequence[FileScan]) -> ProjectNotes:
    """Add notes on old codes and names of rules in comments."""
    names = {name for scan in scans for name in scan.old_names}
    if not names:
        return notes
    from kdoctor.rules.redirects import redirect_notes  # noqa: PLC0415 - most runs have none

    remarks = dict.fromkeys((*notes.remarks, *redirect_notes(sorted(names))))
    return replace(notes, remarks=tuple(remarks))


def _scan(scan_options: ScanOptions, tasks: Sequence[Task]) -> list[FileScan]:
    return [examiner_of(scan_options, task).scan(task) for task in tasks]


def _scan_recorded(scan_options: ScanOptions, tasks: Sequence[Task]) -> list[Recorded[FileScan]]:
    noted_ones = []
    for task in tasks:
        examiner = examiner_of(scan_options, task)
        noted_ones.append(
            record_dependencies(
                task.source, scan_options.folder, examiner.trace, partial(examiner.scan, task)
            )
        )
    return noted_ones
