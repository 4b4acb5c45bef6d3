"""Reports of a scan compared with a baseline: what is new, known or fixed."""

from __future__ import annotations

from collections import Counter

from kdoctor.engine.baseline import Comparison
from kdoctor.project.root import shown
from kdoctor.report import summary
from kdoctor.report.formats.text import write_findings
from kdoctor.report.output import Page, printable

PRUNE = "kdoctor baseline prune"


def write_unread(compared: Comparison, page: Page) -> None:
    """Name what could not be read."""
    summary.write_unread(compared.result, page)


def write_new(compared: Comparison, page: Page) -> None:
    """Write the new findings as a scan does, and what could not be read."""
    write_findings(compared.result, page)
    summary.write_unread(compared.result, page)


def write_check(compared: Comparison, page: Page) -> None:
    """Write how the findings compare with the baseline."""
    if page.verbosity < 0:
        return
    new, known = len(compared.result.findings), len(compared.result.known)
    _write_fixed(compared, page)
    if new:
        page.line(f"{_findings(new)} {_are(new)} new; {known} known.")
    elif known:
        page.line(page.paint("good", f"Nothing new: {_findings(known)} {_are(known)} known."))
    else:
        page.line(page.paint("good", "Nothing new, and no known findings left."))
    if compared.fixed:
        fixed = len(compared.fixed)
        page.line(f"{fixed} known {_are(fixed)} fixed: `{PRUNE}` removes {_them(fixed)}.")
    if compared.accepted:
        page.line(f"Known as not checked: {_files(len(compared.accepted))}.")
    if compared.checked_again:
        again = len(compared.checked_again)
        page.line(
            f"{_files(again)} known as not checked can be checked now, or {_are(again)} "
            f"gone: `{PRUNE}` removes {_them(again)}."
        )
    _write_renamed(compared, page)


def write_pruned(compared: Comparison, page: Page) -> None:
    """Write what was removed from the baseline."""
    if page.verbosity < 0:
        return
    _write_fixed(compared, page)
    left, out = len(compared.pruned), len(compared.fixed)
    name = _name(compared)
    if out:
        page.line(page.paint("good", f"Removed {_findings(out)} from {name}; {left} left."))
    elif compared.checked_again:
        again = len(compared.checked_again)
        page.line(
            page.paint("good", f"Removed {_files(again)} that could not be checked from {name}.")
        )
    else:
        page.line(f"Nothing to remove from {name}; {left} left.")
    if compared.unseen:
        page.line(f"Of these, {len(compared.unseen)} are in files, or of rules, not checked now.")
    if not (left or compared.pruned_not_checked):
        page.line("The baseline is empty: delete it, or keep it so that nothing comes back.")
    new = len(compared.result.findings)
    if new:
        page.line(f"{_findings(new)} {_are(new)} new: `kdoctor baseline check` shows {_them(new)}.")


def write_written(compared: Comparison, page: Page) -> None:
    """Write what the baseline contains now."""
    if page.verbosity < 0:
        return
    entries = [*compared.entries, *compared.unseen]
    files = len({entry.path for entry in entries})
    what = f"{_findings(len(entries))} in {_files(files)} known"
    if compared.not_checked:
        what += f", {_files(len(compared.not_checked))} that cannot be checked"
    page.line(page.paint("good", f"Wrote {_name(compared)}: {what}."))
    if compared.baseline.entries:
        new, fixed = len(compared.result.findings), len(compared.fixed)
        page.line(f"Added: {new}; removed: {fixed}.")


def write_refused(compared: Comparison, page: Page) -> None:
    """Write why the baseline was not written."""
    new, unhandled = len(compared.result.findings), len(compared.result.unhandled)
    what = [_findings(new)] * bool(new)
    what += [f"{_files(unhandled)} that cannot be checked"] * bool(unhandled)
    number = new + unhandled
    page.line(
        f"kdoctor: {' and '.join(what)} {_are(number)} not in {_name(compared)}, which was not "
        f"changed: fix {_them(number)}, or add {_them(number)} with --force"
    )


def write_note(compared: Comparison, page: Page) -> None:
    """Write one line on what the scan hides, and what can be pruned."""
    if page.verbosity < 0:
        return
    known, fixed = len(compared.result.known), len(compared.fixed)
    parts = [f"{_findings(known)} known to {_name(compared)} {_are(known)} not shown"] * bool(known)
    if fixed:
        parts.append(f"{fixed} of its findings {_are(fixed)} fixed: `{PRUNE}`")
    if compared.accepted:
        parts.append(f"known as not checked: {_files(len(compared.accepted))}")
    if compared.checked_again:
        parts.append(f"{_files(len(compared.checked_again))} can be checked again: `{PRUNE}`")
    if parts:
        page.line(f"kdoctor: {'; '.join(parts)}")


def _write_fixed(compared: Comparison, page: Page) -> None:
    for path, number in sorted(Counter(entry.path for entry in compared.fixed).items()):
        page.line(f"{page.paint('good', 'fixed')} {printable(path)}: {_findings(number)}")


def _write_renamed(compared: Comparison, page: Page) -> None:
    if compared.renamed:
        page.line(
            f"{compared.renamed} of the known {_are(compared.renamed)} in files that were renamed: "
            "`kdoctor baseline write` records the new names."
        )


def _name(compared: Comparison) -> str:
    return printable(shown(compared.baseline.path))


def _findings(number: int) -> str:
    return summary.count(number, "finding")


def _files(number: int) -> str:
    return summary.count(number, "file")


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
