"""Fix many files: paths in, diffs or written files out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from kdoctor.documents import write_atomically
from kdoctor.engine.options import Options
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.plan import plan_of
from kdoctor.engine.result import FixedFile, FixResult, LeftAlone
from kdoctor.engine.scanning import collected, examiner_for, forget
from kdoctor.engine.workers import run
from kdoctor.errors import FileProblem

if TYPE_CHECKING:
    from kdoctor.engine.mend import FileFix


def fix(
    paths: Iterable[str | os.PathLike[str]],
    *,
    apply: bool = False,
    unsafe: bool | None = None,
    **options: Unpack[Options],
) -> FixResult:
    """Return the repaired files at or below ``paths``; with ``apply``, write them too.

    Fixes that a proof calls safe are used, with ``unsafe`` also the others that can be written. A
    file is written atomically and only if it still is what was read. Standard input (``-``) is
    never written: its ``after`` is in the result. The order of ``left`` and ``files`` is that of
    the paths.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    plan = plan_of(paths, options, unsafe=unsafe)
    forget()
    fixes = run(_fix, plan.orders, plan.tasks, options.get("jobs"), options.get("progress"))
    if apply:
        fixes = [_written(each) for each in fixes]
    return FixResult(
        files=tuple(each.fixed for each in fixes if each.fixed),
        left=collected(plan, [each.left for each in fixes]),
        left_alone=tuple(each.left_alone for each in fixes if each.left_alone),
        written=apply,
    )


def write(result: FixResult, refused: Collection[str]) -> FixResult:
    """Write the files of a fix that was not applied, all but those of the ``refused`` paths."""
    kept = [file for file in result.files if file.path not in refused]
    reasons = {file.path: None if file.is_stdin else _write(file) for file in kept}
    undone = [file for file in result.files if file.path in refused or reasons[file.path]]
    found = [*result.left.findings, *(each for file in undone for each in file.applied)]
    failed = [LeftAlone(path, reason) for path, reason in reasons.items() if reason]
    return replace(
        result,
        files=tuple(file for file in kept if not reasons[file.path]),
        left=replace(result.left, findings=tuple(found)),
        left_alone=(*result.left_alone, *failed),
        written=True,
    )


def _fix(orders: Orders, tasks: Sequence[Task]) -> list[FileFix]:
    from kdoctor.engine.mend import Mender  # noqa: PLC0415 - imports libcst

    return [Mender(examiner_for(orders.aimed(task))).fix(task) for task in tasks]


def _written(each: FileFix) -> FileFix:
    """Write one repaired file; where that fails, say why and let its findings stand."""
    if each.fixed is None or each.fixed.is_stdin:
        return each
    reason = _write(each.fixed)
    if reason is None:
        return each
    return replace(each, left=each.found, fixed=None, left_alone=LeftAlone(each.fixed.path, reason))


def _write(file: FixedFile) -> str | None:
    """Write a file's new bytes. Return why not, where it was not written."""
    path = Path(file.path)
    try:
        if path.read_bytes() != file.before:
            return "it changed while it was being fixed, and was not written; run again"
        write_atomically(path, file.after)
    except OSError as error:
        return f"it cannot be read again: {error.strerror or error}"
    except FileProblem as problem:
        return str(problem)
    return None
