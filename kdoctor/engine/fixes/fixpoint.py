"""Apply a file's fixes in passes until nothing changes; on failure keep the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial

from kdoctor import parse_ast
from kdoctor.documents import Document, Kind, Unit
from kdoctor.engine.examine import (
    Examined,
    Examiner,
    error_text,
)
from kdoctor.engine.fixes.apply_edits import source_of, texts_of
from kdoctor.engine.fixes.conflicts import compatible_fixes
from kdoctor.engine.fixes.diffs import decoded, unified
from kdoctor.engine.fixes.top_level import findings_at_bindings
from kdoctor.engine.result import FileFix, FileScan, FixedFile, LeftAlone
from kdoctor.engine.schedule.task import Task
from kdoctor.engine.selection.file_selection import applicable
from kdoctor.errors import FileProblem
from kdoctor.model import Edit, Finding, Fix

MAX_PASSES = 10


class FixLoop:
    """Fixes files with one examiner."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self._applicable = applicable(unsafe=examiner.scan_options.unsafe)

    def fix(self, task: Task, data: bytes | None = None) -> FileFix:
        """Return the fix of a file. Errors are part of the result.

        ``data`` are its bytes, where they are read already.
        """
        path = task.source.path
        read = self._examiner.read_and_examine(task, data)
        if isinstance(read, FileScan):
            return FileFix(read, read)
        before, examined, found = read
        try:
            after, applied, left = self._apply_until_stable(before, examined)
        except Exception as error:  # noqa: BLE001
            reason = f"its fix failed and was discarded: {error_text(error)}"
            return FileFix(found, found, left_alone=LeftAlone(path, reason))
        if after == before:
            return FileFix(found, found)
        diff = diff_of(path, before, after, self._examiner.scan_options.kind)
        fixed = FixedFile(path, before, after, diff, applied, is_stdin=task.source.is_stdin)
        return FileFix(found, left, fixed)

    def _apply_until_stable(
        self, before: bytes, examined: Examined
    ) -> tuple[bytes, tuple[Finding, ...], FileScan]:
        """Apply fixes until none is left to apply.

        Raises:
            FileProblem: the result would be no Python, or fixes go round in circles.
        """
        data, applied = before, list[Finding]()
        keeps = partial(self._examiner.may_be_imported_elsewhere, examined.document.path)
        style = self._examiner.scan_options.style
        for _ in range(MAX_PASSES):
            chosen = self._choose(examined)
            document = examined.document
            texts = {
                index: texts_of(examined.source(index), fixes, keeps, style)
                for index, fixes in chosen.items()
            }
            after = document.replace(texts) if texts else data
            if after == data:
                return data, tuple(applied), examined.scan
            applied += _fixed_by(examined.scan.findings, chosen)
            directives = examined.directives
            needed = directives.used_words() if directives else Counter[str]()
            changed = texts.keys() & examined.modules.keys()
            examined = self._examiner.examine(document.path, after, like=document, changed=changed)
            check_still_python(document, examined.document, texts.keys())
            _check_suppressions_hold(needed, examined)
            data = after
            if self._examiner.scan_options.only is not None:
                return data, tuple(applied), examined.scan  # places are those of the first pass
        raise FileProblem(f"its fixes did not converge within {MAX_PASSES} passes")

    def _choose(self, examined: Examined) -> dict[int, list[Fix]]:
        """Return the fixes to apply now, by the unit that they belong to."""
        chosen = {}
        only = self._examiner.scan_options.only
        findings = [finding for finding in examined.scan.findings if finding.fix is not None]
        for index in sorted({finding.place.unit for finding in findings}):
            unit = examined.document.part(index)
            wanted = [
                finding
                for finding in findings
                if finding.place.unit == index
                and finding.fix is not None
                and finding.fix.applicability in self._applicable
                and (only is None or (finding.place, finding.code) in only)
            ]
            if self._examiner.scan_options.within is not None:
                wanted = findings_at_bindings(wanted, unit.text, self._examiner.scan_options.within)
            kept = [*masks_beside(unit, wanted), *_suppressed_edits(examined.scan, index)]
            fixes = (
                compatible_fixes(wanted, kept, [cell.span for cell in unit.cells]) if wanted else []
            )
            if fixes:
                chosen[index] = fixes
        return chosen


def masks_beside(unit: Unit, findings: Collection[Finding]) -> list[Edit]:
    """Return the masks of a unit but those of magics that a fix writes anew."""
    written = {each.span for finding in findings if finding.fix for each in finding.fix.edits}
    return [mask for mask in unit.masks if mask.span not in written]


def _fixed_by(findings: Collection[Finding], chosen: dict[int, list[Fix]]) -> list[Finding]:
    made = {unit: frozenset(fixes) for unit, fixes in chosen.items()}
    return [finding for finding in findings if finding.fix in made.get(finding.place.unit, ())]


def _suppressed_edits(scan: FileScan, unit: int) -> Iterator[Edit]:
    """Yield the fixes of a unit's suppressed findings: no other fix may make these edits."""
    for each in scan.suppressed:
        if each.finding.place.unit == unit and each.finding.fix is not None:
            yield from each.finding.fix.edits


def _check_suppressions_hold(needed: Counter[str], after: Examined) -> None:
    """Check that fixes keep the suppression comments that are still needed.

    Raises:
        FileProblem: a comment that silenced something went.
    """
    lost = needed - (after.directives.words() if after.directives else Counter[str]())
    if lost:
        comment = f"`# kdoctor: {min(lost)}`".replace("kdoctor: noqa", "noqa")
        raise FileProblem(f"a suppression comment ({comment}) would be lost")


def check_still_python(before: Document, after: Document, changed: Collection[int]) -> None:
    """Check that the fixed text is valid Python, if the input was.

    Raises:
        FileProblem: it does not.
    """
    if len(before.units) != len(after.units):
        raise FileProblem("the result has a different number of code blocks")
    for index in (each for each in changed if each < len(before.units)):
        # Asked in this order, the text before is parsed only where something is wrong.
        if not _is_python(after.units[index].text) and _is_python(before.units[index].text):
            raise FileProblem("the result is not valid Python")


def _is_python(source: str) -> bool:
    try:
        parse_ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def diff_of(path: str, before: bytes, after: bytes, kind: Kind | None) -> str:
    """Return the diff of a file; for a notebook the diff of its cells."""
    old, new = Document.parse(before, path, kind), Document.parse(after, path, kind)
    if old.kind != "notebook":
        return unified(decoded(before), decoded(after), path)
    parts = []
    for unit_before, unit_after in zip(old.units, new.units, strict=True):
        cells = zip(unit_before.cells, unit_after.cells, strict=True)
        for cell_before, cell_after in cells:
            parts.append(
                unified(
                    source_of(unit_before, cell_before),
                    source_of(unit_after, cell_after),
                    f"{path}:cell {cell_before.number}",
                )
            )
    return "".join(parts)
