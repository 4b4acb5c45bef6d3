"""Fix files again for which the fix of another file has changed what they import.

Each file is fixed for the project as it lies on the disk. What a module binds is another thing
after its own fix: `from tensorflow import keras as k`, and no longer TensorFlow's private copy. To
a file with `from .module import *`, `k` is then something that more is known of.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from kdoctor.documents.reading import as_if_written
from kdoctor.engine.examiners import examiner_of, forget
from kdoctor.engine.result import FileFix, FixedFile
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.modules.module_summary import summary_in
from kdoctor.modules.reverse_imports import ReverseImports

MAX_ROUNDS: Final = 5  # beside the first; a chain of modules that only hand on is longer in no tree


def settled(
    scan_options: ScanOptions, tasks: Iterable[Task], fixes: Sequence[FileFix]
) -> list[FileFix]:
    """Return the fixes of these tasks, with those that other fixes make possible."""
    settled = list(fixes)
    texts: dict[str, bytes] = {}  # of what is fixed, by the absolute path
    changed = _names_changed(scan_options, (each.fixed for each in fixes if each.fixed), texts)
    if not changed or scan_options.within is not None or scan_options.only is not None:
        return settled
    asked = {_absolute(scan_options, each.source.path): each for each in tasks}
    places = {path: at for at, path in enumerate(asked)}
    if len(places) != len(settled):  # one file by two names, or standard input
        return settled
    for _ in range(MAX_ROUNDS):
        users = _users(scan_options, changed) & asked.keys()
        if not users:
            break
        now = {places[path]: asked[path] for path in sorted(users, key=places.__getitem__)}
        again = _fixed_again(scan_options, now, texts)
        for at, fix in again.items():
            settled[at] = _joined(scan_options, settled[at], fix)
        fixed = [each.fixed for each in again.values() if each.fixed]
        changed = _names_changed(scan_options, fixed, texts)
        if not changed:
            break
    forget()  # what was read is not what lies on the disk
    return settled


def _absolute(scan_options: ScanOptions, path: str) -> str:
    return os.path.abspath(os.path.join(scan_options.folder, path))  # noqa: PTH100, PTH118 - links stay


def _names_changed(
    scan_options: ScanOptions, fixed: Iterable[FixedFile], texts: dict[str, bytes]
) -> dict[str, Collection[str]]:
    """Return the names that mean something else now, by the module; keep the new texts."""
    changed: dict[str, Collection[str]] = {}
    for each in fixed:
        if each.is_stdin or not each.path.endswith(".py"):
            continue
        path = _absolute(scan_options, each.path)
        texts[path] = each.after
        before, after = summary_in(each.before), summary_in(each.after)
        if before is None or after is None:
            continue
        names = before.names.keys() | after.names.keys()
        if others := {n for n in names if before.names.get(n) != after.names.get(n)}:
            changed[path] = others
    return changed


def _users(scan_options: ScanOptions, changed: Mapping[str, Collection[str]]) -> set[str]:
    importers = ReverseImports(scan_options.folder)
    return {
        user for path, names in changed.items() for user in importers.users(path, frozenset(names))
    }


def _fixed_again(
    scan_options: ScanOptions, tasks: Mapping[int, Task], texts: Mapping[str, bytes]
) -> dict[int, FileFix]:
    """Return the fixes of these tasks where all others are written already."""
    from kdoctor.engine.fixes.fixpoint import FixLoop  # noqa: PLC0415 - imports libcst

    uncached = replace(scan_options, cached=False)
    forget()
    with as_if_written(texts):
        return {at: FixLoop(examiner_of(uncached, task)).fix(task) for at, task in tasks.items()}


def _joined(scan_options: ScanOptions, first: FileFix, second: FileFix) -> FileFix:
    """Return one fix of two after another; the first alone where the second came to nothing."""
    from kdoctor.engine.fixes.fixpoint import diff_of  # noqa: PLC0415 - imports libcst

    if second.left_alone or first.left_alone:
        return first
    if second.fixed is None:
        return replace(first, left=second.left)
    if first.fixed is None:
        return replace(second, found=first.found)
    path, before, after = first.fixed.path, first.fixed.before, second.fixed.after
    diff = diff_of(path, before, after, scan_options.kind)
    applied = (*first.fixed.applied, *second.fixed.applied)
    fixed = replace(first.fixed, after=after, diff=diff, applied=applied)
    return FileFix(first.found, second.left, fixed)
