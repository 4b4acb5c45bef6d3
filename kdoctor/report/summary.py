"""Summary lines of a report: what was found, what can be fixed, what to run next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kdoctor import __version__
from kdoctor.model import Applicability, Confidence, Finding, Severity
from kdoctor.report.locations import where_skipped
from kdoctor.report.output import Page, printable
from kdoctor.target import Target

if TYPE_CHECKING:
    from kdoctor.engine.result import FixResult, ProjectNotes, ScanResult
    from kdoctor.project.changed_lines import ChangedLines

_NAMED = 5  # files that have a target of their own


def headline(result: ScanResult) -> str:
    """Return the lines that name the target, and how it was determined.

    Who is about to leave Keras 2 must not take silence for a clean bill: the project's own files
    still name the Keras that it leaves, and a last line says how to ask about the next one. Files
    that have another target by their own code are named.
    """
    lines = [f"kdoctor {__version__}: checking for {_named(result.target)}"]
    uses = [use for use in result.targets if use.files]
    lines += [f"  {count(use.files, 'file')}: {_named(use.target)}" for use in uses[1:]]
    own = result.own_targets
    lines += [f"  {printable(each.path)}: {printable(each.description)}" for each in own[:_NAMED]]
    if own[_NAMED:]:
        lines.append(f"  … and so on: {count(len(own), 'file')}, all named by --format json")
    targets = [use.target for use in uses] or [result.target]
    old = [target for target in targets if target.inferred and target.is_before_keras_3]
    if old or any(each.is_keras_2 for each in own):
        what = "That" if old and len(old) == len(targets) else "Part of it"
        lines.append(
            f"{what} is Keras 2. To see what Keras 3 breaks: kdoctor scan --target keras==3"
        )
    return "\n".join(lines)


def _named(target: Target) -> str:
    every = " and ".join(map(str, target.every))
    return f"{every} ({printable(target.source)})"


def write_lines(lines: Iterable[str], page: Page) -> None:
    """Write sentences, each on as many lines as the page needs for it."""
    for line in lines:
        for part in page.wrapped(line, "  "):
            page.line(part)


def write_project(notes: ProjectNotes, page: Page) -> None:
    """Write conflicts between the project's files, and what was not read or not done."""
    for file in notes.unreadable:
        page.line(f"kdoctor: {printable(file.path)}: {printable(file.why)}")
    if page.verbosity >= 0:
        for sentence in (*notes.conflicts, *notes.remarks):
            page.line(f"kdoctor: {printable(sentence)}")


def write_unread(result: ScanResult, page: Page) -> None:
    """Write each file that could not be read, and if verbose each code block that is not Python."""
    for line in unread(result, page):
        page.line(line)
    if result.unreadable:
        page.line()
    if page.verbosity > 0 and result.skipped:
        for part in result.skipped:
            page.line(f"{where_skipped(part)}: skipped: {printable(part.why)}")
        page.line()


def write_nothing_read(page: Page) -> None:
    """Report that no file was read: silence would pass for a clean bill of health."""
    page.line(
        "kdoctor: no file was read: the paths contain no Python, notebook, Markdown or "
        "reStructuredText files, or .gitignore or an exclude leaves all of them out; name a file "
        "to have it read"
    )


def write_pins(paths: Sequence[str], result: ScanResult, page: Page) -> None:
    """Where nothing is left in the code, name what still installs Keras 2."""
    # Files that contradict each other are named already.
    open_points = (result.findings, result.unhandled, result.project.conflicts)
    done = result.read and not any(open_points)
    if page.verbosity < 0 or not done or result.target.is_before_keras_3:
        return
    from kdoctor.project.pins import pins  # noqa: PLC0415 - of a clean project only
    from kdoctor.project.root import start_of  # noqa: PLC0415
    from kdoctor.rules.environment._pin_rule import CODE as PINS  # noqa: PLC0415

    # Those that the rule on pins has found are accepted by now, by a comment or a baseline.
    accepted = [each.finding for each in result.suppressed] + list(result.known)
    known = {finding.place.path for finding in accepted if finding.code == PINS}
    held = [pin for pin in pins([start_of(paths)], result.target) if pin.path not in known]
    if held:
        first = f"{printable(held[0].place)} ({printable(held[0].requirement)})"
        others = f" and {len(held) - 1} more" if len(held) > 1 else ""
        keeps = "keep" if others else "keeps"
        page.line(
            f"kdoctor: {first}{others} {keeps} the project on Keras 2; "
            f"`{page.command('migrate')}` tells what to write instead"
        )


def write_changed_only(
    everything: ScanResult, shown: ScanResult, commit: str, changed: ChangedLines, page: Page
) -> None:
    """Write one line on what the scan leaves out, for it stands on lines that did not change."""
    if page.verbosity < 0:
        return
    foreign = [each for each in everything.findings if not changed.compares(each.place.path)]
    hidden = len(everything.findings) - len(shown.findings) - len(foreign)
    unread = len(everything.unreadable) - len(shown.unreadable)
    left_out = [f"{count(hidden, 'finding')} elsewhere"] * bool(hidden)
    left_out += [f"{count(unread, 'file')} that could not be read"] * bool(unread)
    if foreign:
        path = printable(foreign[0].place.path)
        left_out.append(f"{count(len(foreign), 'finding')} in another repository, as {path}")
    line = f"only lines changed since {printable(commit)} ({changed.base[:9]}) are reported"
    if left_out:
        line += f"; not shown: {' and '.join(left_out)}"
    if shown.findings:
        line += "; `kdoctor fix` goes by files, not by lines"
    page.line(f"kdoctor: {line}")


def unread(result: ScanResult, page: Page) -> list[str]:
    """Return a line for each file that could not be read."""
    return [
        f"{page.paint('path', printable(file.path))}: not checked: {printable(file.why)}"
        for file in result.unreadable
    ]


def of_scan(result: ScanResult, page: Page) -> list[str]:
    """Sum up a scan in at most four lines, and one more if verbose."""
    return [*_saved_models(result, page), *_of_findings(result, page)]


def _saved_models(result: ScanResult, page: Page) -> list[str]:
    """Return a line that names the command for saved models, if any were passed."""
    if not result.saved_models or page.verbosity < 0:
        return []
    paths = f" {page.arguments}".partition(" --")[0].strip()  # it has options of its own
    files, them = (
        count(result.saved_models, "saved model"),
        "it" if result.saved_models == 1 else "them",
    )
    command = f"kdoctor model {paths}".strip()
    return [f"Passed {files}; `{command}` tells whether Keras 3 loads {them}."]


def _of_findings(result: ScanResult, page: Page) -> list[str]:
    findings = result.findings
    if not findings:
        nothing = _nothing("Nothing to report.", result, page)
        return [f"{nothing} {_files(result)}", *_suppressed(result, page)]
    paths = len({finding.place.path for finding in findings})
    lines = [
        (
            f"Found {count(len(findings), 'finding')} in {count(paths, 'file')}: "
            f"{by_severity(findings)}. {_files(result)}"
        )
    ]
    lines += _suppressed(result, page)
    fixable = fixable_counts(findings)
    if not fixable:
        return [*lines, "None of them has an automatic fix."]
    parts = [f"{number} {applicability}" for applicability, number in fixable.items()]
    rest = len(findings) - sum(fixable.values())
    lines.append(f"Fixable: {', '.join(parts)}; by hand: {rest}.")
    command = page.command("fix", *[] if Applicability.SAFE in fixable else ["--unsafe"])
    lines.append(
        f"Next: `{command}` shows the fixes as a diff; add --apply to write them"
        + (", --unsafe for the unsafe ones." if len(fixable) > 1 else ".")
    )
    return lines


def of_fix(result: FixResult, page: Page) -> list[str]:
    """Sum up a fix: what was done or would be, and what is left."""
    cured = sum(len(file.applied) for file in result.files)
    left = result.left.findings
    lines = []
    if result.files:
        verbs = ("Ignored", "Would ignore") if result.ignores else ("Fixed", "Would fix")
        verb = verbs[0] if result.written else verbs[1]
        done = f"{verb} {count(cured, 'finding')} in {count(len(result.files), 'file')}"
        lines.append(f"{page.paint('good', done)}; {_left(left)}.")
    elif left:
        nothing = "Nothing to ignore" if result.ignores else "Nothing to fix automatically"
        lines.append(f"{nothing}; {_left(left)}.")
    else:
        nothing = _nothing("Nothing to fix.", result.left, page)
        lines.append(f"{nothing} {_files(result.left)}")
    hints = []
    if result.files and not result.written:
        hints.append("add --apply to write it")
    if Applicability.UNSAFE in fixable_counts(left) and not (result.ignores or result.unsafe):
        hints.append("add --unsafe for the fixes that are not proven safe")
    if left:
        hints.append(f"`{page.command('scan')}` shows what is left")
    next_steps = [f"Next: {'; '.join(hints)}."] if hints else []
    return [*lines, *_suppressed(result.left, page), *next_steps]


def fixable_counts(findings: Iterable[Finding]) -> dict[Applicability, int]:
    """Count the findings whose fix can be written, safe ones first."""
    counts = Counter(finding.fix.applicability for finding in findings if finding.fix)
    kinds = (Applicability.SAFE, Applicability.UNSAFE)
    return {kind: counts[kind] for kind in kinds if counts[kind]}


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _nothing(text: str, result: ScanResult, page: Page) -> str:
    return text if result.unreadable else page.paint("good", text)


def _suppressed(result: ScanResult, page: Page) -> list[str]:
    """Return, if verbose, a line with the number of findings that comments suppress."""
    if page.verbosity <= 0 or not result.suppressed:
        return []
    return [f"Ignored by comments in the code: {count(len(result.suppressed), 'finding')}."]


def in_brackets(finding: Finding) -> str:
    """Return ``error``, or ``error, likely`` for a finding that is not certain."""
    return ", ".join([finding.severity, *how_sure(finding)])


def how_sure(finding: Finding) -> list[str]:
    """Return ``["likely"]`` if the meaning of a name was inferred, nothing if it is certain."""
    return [finding.confidence] if finding.confidence is not Confidence.CERTAIN else []


def by_severity(findings: Sequence[Finding]) -> str:
    """Return ``2 errors, 1 change``."""
    counts = Counter(finding.severity for finding in findings)
    nouns = {Severity.ERROR: "error", Severity.CHANGE: "change"}
    return ", ".join(
        count(counts[severity], nouns[severity])
        if severity in nouns
        else f"{counts[severity]} {severity}"
        for severity in Severity
        if counts[severity]
    )


def _left(left: Sequence[Finding]) -> str:
    return f"left: {by_severity(left)}" if left else "nothing is left"


def _files(result: ScanResult) -> str:
    parts = [f"{count(result.read, 'file')} read"]
    if result.skipped:
        old = sum(bool(part.python_2) for part in result.skipped)
        what = "Python 2" if old == len(result.skipped) else f"not Python, {old} of them Python 2"
        what = what if old else "not Python"
        parts.append(f"{count(len(result.skipped), 'code block')} skipped ({what})")
    if result.unreadable:
        parts.append(f"{count(len(result.unreadable), 'file')} not checked")
    return f"({', '.join(parts)})"
