"""What a fix did or would do: the diff, the written files, and the summary."""

from __future__ import annotations

from kdoctor.engine.result import FixResult
from kdoctor.report import summary
from kdoctor.report.page import Page, printable

_ROLES = {"+": "added", "-": "removed", "@": "hunk"}


def write_diff(result: FixResult, page: Page) -> None:
    """Write the diffs of all changed files: coloured, or byte for byte what ``patch -p1`` takes."""
    for file in result.files:
        if not page.color:
            page.stream.write(file.diff)
            continue
        for line in file.diff.removesuffix("\n").split("\n"):
            page.line(_painted(line, page))


def write_written(result: FixResult, page: Page) -> None:
    """Name the files that were written."""
    if page.verbosity < 0:
        return
    for file in result.files:
        cured = summary.count(len(file.applied), "finding")
        page.line(f"{page.paint('good', 'fixed')} {printable(file.path)}: {cured}")


def write_summary(result: FixResult, page: Page) -> None:
    """Name the files that were left alone or not checked, and sum up."""
    for file in result.left_alone:
        page.line(f"{page.paint('path', printable(file.path))}: not fixed: {printable(file.why)}")
    summary.write_unread(result.left, page)
    summary.write_project(result.left.project, page)
    if page.verbosity >= 0:
        page.line(summary.headline(result.left))
        for line in summary.of_fix(result, page):
            page.line(line)


def _painted(line: str, page: Page) -> str:
    role = "path" if line.startswith(("--- ", "+++ ")) else _ROLES.get(line[:1])
    shown = printable(line.removesuffix("\r"))
    return page.paint(role, shown) if role else shown
