"""Fix many files: paths in, diffs or written files out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

from kdoctor.engine.applying import write
from kdoctor.engine.journal import journal_root
from kdoctor.engine.options import Options
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.plan import plan_of
from kdoctor.engine.result import FixResult
from kdoctor.engine.scanning import collected, examiner_for, forget
from kdoctor.engine.workers import run

if TYPE_CHECKING:
    from kdoctor.engine.mend import FileFix


def fix(
    paths: Iterable[str | os.PathLike[str]],
    *,
    apply: bool = False,
    unsafe: bool | None = None,
    add_ignores: str | None = None,
    **options: Unpack[Options],
) -> FixResult:
    """Return the repaired files at or below ``paths``; with ``apply``, write them too.

    Fixes that a proof calls safe are used, with ``unsafe`` also the others that can be written.
    With ``add_ignores`` nothing is repaired: each finding gets a comment that silences it, with
    these words as the reason ("" for none). A file is written atomically and only if it still is
    what was read. Standard input (``-``) is never written: its ``after`` is in the result. The
    order of ``left`` and ``files`` is that of the paths.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    paths = list(paths)
    plan = plan_of(paths, options, unsafe=unsafe)
    forget()
    work = _fix if add_ignores is None else partial(_ignore, add_ignores)
    fixes = run(work, plan.orders, plan.tasks, plan.workers, options.get("progress"))
    result = FixResult(
        files=tuple(each.fixed for each in fixes if each.fixed),
        left=collected(plan, [each.left for each in fixes]),
        left_alone=tuple(each.left_alone for each in fixes if each.left_alone),
        written=False,
        found=collected(plan, [each.found for each in fixes]),
        root=journal_root(paths),
        ignores=add_ignores is not None,
    )
    return write(result) if apply else result


def _fix(orders: Orders, tasks: Sequence[Task]) -> list[FileFix]:
    from kdoctor.engine.mend import Mender  # noqa: PLC0415 - imports libcst

    return [Mender(examiner_for(orders.aimed(task))).fix(task) for task in tasks]


def _ignore(reason: str, orders: Orders, tasks: Sequence[Task]) -> list[FileFix]:
    from kdoctor.engine.ignoring import Ignorer  # noqa: PLC0415 - imports libcst

    return [Ignorer(examiner_for(orders.aimed(task)), reason).ignore(task) for task in tasks]
