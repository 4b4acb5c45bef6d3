"""Fix many files: return diffs, or write the files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Unpack

from kdoctor.engine.cache.recorder import Recorded, record_dependencies
from kdoctor.engine.examiners import examiner_of, forget, forget_trees, preload
from kdoctor.engine.fixes.undo_journal import journal_root
from kdoctor.engine.fixes.write import write
from kdoctor.engine.options import Options, Paths, each_of
from kdoctor.engine.result import FileFix, FileScan, FixResult
from kdoctor.engine.scanning import collect_results
from kdoctor.engine.schedule.dispatch import run
from kdoctor.engine.schedule.plan import Plan
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.engine.selection.file_selection import applicable
from kdoctor.model import Applicability


def fix(
    paths: Paths,
    *,
    apply: bool = False,
    unsafe: bool | None = None,
    add_ignores: str | None = None,
    **options: Unpack[Options],
) -> FixResult:
    """Fix the files at or below ``paths``; with ``apply``, write them too.

    Fixes that a proof calls safe are used, with ``unsafe`` also the others that can be written.
    With ``add_ignores`` nothing is repaired: each finding gets a comment that silences it, with
    these words as the reason ("" for none). A file is written atomically and only if it still is
    what was read. Standard input (``-``) is never written: its ``after`` is in the result. The
    order of ``left`` and ``files`` is that of the paths.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    paths = each_of(paths)
    plan = Plan(paths, options, unsafe=unsafe)
    forget()
    work = _fix if add_ignores is None else partial(_ignore, add_ignores)
    run_all = partial(
        run,
        work,
        plan.scan_options,
        workers=plan.workers,
        progress=options.get("progress"),
        preload=preload,
    )
    if plan.cache is None:
        discovery = plan.discovery()
        fixes = [each.result for each in run_all(discovery)]
        discovered = discovery.finish()
    else:
        written = None if add_ignores is not None else applicable(unsafe=plan.scan_options.unsafe)
        discovered = plan.discover()
        fixes = plan.cache.through(
            plan.scan_options,
            discovered.tasks,
            run_all,
            of_scan=partial(_untouched, written),
            scan_of=lambda fix: fix.found,
        )
    if add_ignores is None and any(each.fixed for each in fixes):
        from kdoctor.engine.fixes.rounds import settled  # noqa: PLC0415 - few runs fix anything

        fixes = settled(plan.scan_options, discovered.tasks, fixes)
    forget_trees()
    result = FixResult(
        files=tuple(each.fixed for each in fixes if each.fixed),
        left=collect_results(plan.targets, discovered, [each.left for each in fixes]),
        left_alone=tuple(each.left_alone for each in fixes if each.left_alone),
        written=False,
        found=collect_results(plan.targets, discovered, [each.found for each in fixes]),
        root=journal_root(paths),
        ignores=add_ignores is not None,
        unsafe=plan.scan_options.unsafe,
    )
    return write(result) if apply else result


def _untouched(written: Collection[Applicability] | None, scan: FileScan) -> FileFix | None:
    """Return the result for a file that needs no fix; None if there is something to write.

    ``written`` are the fixes that are, None where every finding gets a comment.
    """
    for finding in scan.findings:
        if written is None or (finding.fix and finding.fix.applicability in written):
            return None
    return FileFix(scan, scan)


def _fix(scan_options: ScanOptions, tasks: Sequence[Task]) -> list[Recorded[FileFix]]:
    from kdoctor.engine.fixes.fixpoint import FixLoop  # noqa: PLC0415 - imports libcst

    fixes = []
    for task in tasks:
        examiner = examiner_of(scan_options, task)
        fixes.append(
            record_dependencies(
                task.source,
                scan_options.folder,
                examiner.trace,
                partial(FixLoop(examiner).fix, task),
            )
        )
    return fixes


def _ignore(
    reason: str, scan_options: ScanOptions, tasks: Sequence[Task]
) -> list[Recorded[FileFix]]:
    from kdoctor.engine.suppression.insert import SuppressionInserter  # noqa: PLC0415 - imports libcst

    ignored = []
    for task in tasks:
        examiner = examiner_of(scan_options, task)
        work = partial(SuppressionInserter(examiner, reason).ignore, task)
        ignored.append(record_dependencies(task.source, scan_options.folder, examiner.trace, work))
    return ignored
