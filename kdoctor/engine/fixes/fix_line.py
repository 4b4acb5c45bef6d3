"""Fix chosen findings of one source, for a line with an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kdoctor.engine.examine import Examined, Examiner, finding_order
from kdoctor.engine.fixes.apply_edits import texts_of
from kdoctor.engine.fixes.conflicts import compatible_fixes
from kdoctor.engine.fixes.diffs import decoded, unified
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.model import Applicability, Finding
from kdoctor.target import Target

Choose = Callable[[Sequence[Finding]], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class ChosenFix:
    """Chosen findings of a source, the fixed source, and the diff.

    ``others`` counts the findings that were not chosen. ``after`` is ``before`` and ``diff`` empty
    where none of the chosen has a fix that can be written.
    """

    findings: tuple[Finding, ...]
    before: str
    after: str
    diff: str
    others: int


def fix_chosen(path: str, data: bytes, target: Target, choose: Choose) -> ChosenFix:
    """Fix the findings of a Python source that ``choose`` picks, in one diff.

    Raises:
        FileProblem: the source cannot be parsed.
    """
    scan_options = ScanOptions(
        target, kind="python", gate=False, diffs=False, anchors=False, project_types=False
    )
    examined = Examiner(scan_options).examine(path, data)
    # What the user told us to leave alone is what went wrong there all the same.
    silenced = (each.finding for each in examined.scan.suppressed)
    findings = sorted([*examined.scan.findings, *silenced], key=finding_order)
    findings = [each for each in findings if not each.code.startswith("KD9")]
    chosen = tuple(choose(findings))
    after = _fixed(examined, chosen) if chosen else data
    before = decoded(data)
    return ChosenFix(
        chosen,
        before,
        decoded(after),
        unified(before, decoded(after), path),
        len(findings) - len(chosen),
    )


def _fixed(examined: Examined, chosen: Sequence[Finding]) -> bytes:
    texts = {}
    for index, module in examined.modules.items():
        wanted = [
            finding
            for finding in chosen
            if finding.place.unit == index
            and finding.fix is not None
            and finding.fix.applicability is not Applicability.MANUAL
        ]
        unit = module.unit
        fixes = compatible_fixes(wanted, unit.masks, [cell.span for cell in unit.cells])
        if fixes:
            texts[index] = texts_of(module, fixes)
    return examined.document.replace(texts)
