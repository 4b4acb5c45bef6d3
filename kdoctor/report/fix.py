"""Reports of a fix: the diff, the written files, and the summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kdoctor.engine.fixes.undo_journal import Undone, undo_command
from kdoctor.engine.result import FixResult
from kdoctor.model import Finding
from kdoctor.report import summary
from kdoctor.report.formats.json import document_of, finding_of
from kdoctor.report.output import Page, printable

_NAMED = 3  # files in a warning
_ROLES = {"+": "added", "-": "removed", "@": "hunk"}


def write_diff(result: FixResult, page: Page) -> None:
    """Write the diffs of all changed files: in colour, or byte for byte as ``patch -p1`` needs.

    That of a notebook is one of its cells, for people, and no patch.
    """
    for file in result.files:
        if not page.color:
            page.stream.write(file.diff)
            continue
        for line in file.diff.removesuffix("\n").split("\n"):
            page.line(_painted(line, page))


def write_hunks(diff: str, page: Page) -> None:
    """Write what of a diff of one file is not its headers, for people."""
    for line in diff.removesuffix("\n").split("\n"):
        if not line.startswith(("--- ", "+++ ")):
            page.line(_painted(line, page))


def write_json(result: FixResult, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed.

    It is that of a scan after the fix, with what is left as ``left`` and, beside it, what is fixed.
    """
    document = document_of(result.left)
    left = document.pop("findings")
    fixed = [
        {"path": file.path, "findings": list(map(_fixed, file.applied)), "diff": file.diff}
        for file in result.files
    ]
    alone = [{"path": file.path, "why": file.why} for file in result.left_alone]
    written = {"written": result.written, "fixed": fixed, "left": left, "left_alone": alone}
    page.line(json.dumps({**document, **written}, indent=2))


def _fixed(finding: Finding) -> dict[str, Any]:
    """Return a finding without the edits of its fix, which the file's diff contains."""
    told = finding_of(finding)
    told["fix"] = {key: told["fix"][key] for key in ("applicability", "title")}
    return told


def write_written(result: FixResult, page: Page) -> None:
    """Name the files that were written."""
    if page.verbosity < 0:
        return
    done = page.paint("good", "ignored in" if result.ignores else "fixed")
    for file in result.files:
        cured = summary.count(len(file.applied), "finding")
        page.line(f"{done} {printable(file.path)}: {cured}")


def write_summary(result: FixResult, page: Page) -> None:
    """Write the files that were left alone or not checked, and a summary."""
    for file in result.left_alone:
        page.line(f"{page.paint('path', printable(file.path))}: not fixed: {printable(file.why)}")
    summary.write_unread(result.left, page)
    summary.write_project(result.left.project, page)
    for path in result.split:
        what = "other hard links to it keep the old content"
        page.line(f"{page.paint('path', printable(path))}: {what}")
    if result.no_undo:
        page.line(f"kdoctor: this cannot be undone ({printable(result.no_undo)})")
    if page.verbosity >= 0:
        summary.write_lines(summary.headline(result.left).split("\n"), page)
        summary.write_lines(summary.of_fix(result, page), page)
        if (
            result.written
            and not result.no_undo
            and any(not each.is_stdin for each in result.files)
        ):
            page.line(f"`{undo_command(result.root)}` undoes it.")


def write_uncommitted(paths: Sequence[str], root: Path, page: Page) -> None:
    """Warn of files about to be written whose content git cannot restore."""
    if not paths or page.verbosity < 0:
        return
    named = ", ".join(map(printable, paths[:_NAMED])) + (", …" if len(paths) > _NAMED else "")
    has = "has" if len(paths) == 1 else "have"
    page.line(
        f"kdoctor: {summary.count(len(paths), 'file')} to be written {has} changes not committed "
        f"to git ({named}); only `{undo_command(root)}` restores that content"
    )


def write_undone(undone: Undone, page: Page, notes: Page) -> None:
    """Write the restored files, those left alone, and what can be undone next."""
    for file in undone.left_alone:
        notes.line(
            f"{notes.paint('path', printable(file.path))}: left alone: {printable(file.why)}"
        )
    if page.verbosity < 0:
        return
    for path in undone.restored:
        page.line(f"{page.paint('good', 'restored')} {printable(path)}")
    restored = summary.count(len(undone.restored), "file")
    left = f", left alone: {len(undone.left_alone)}" if undone.left_alone else ""
    notes.line(f"Undid the --apply of {undone.when}: restored {restored}{left}.")
    if undone.earlier:
        notes.line(f"Next: `{undone.command}` undoes the one before it ({undone.earlier} left).")


def _painted(line: str, page: Page) -> str:
    role = "path" if line.startswith(("--- ", "+++ ")) else _ROLES.get(line[:1])
    shown = printable(line.removesuffix("\r"))
    return page.paint(role, shown) if role else shown
