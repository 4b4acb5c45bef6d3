"""Insert a suppression comment for each finding of a file."""

from __future__ import annotations

import ast
from collections import defaultdict

from kdoctor import parse_ast
from kdoctor.documents import Document
from kdoctor.engine.examine import (
    Examined,
    Examiner,
    drop_notes_unless_admitted,
    error_text,
)
from kdoctor.engine.fixes.apply_edits import texts_with
from kdoctor.engine.fixes.fixpoint import diff_of
from kdoctor.engine.result import FileFix, FileScan, FixedFile, LeftAlone
from kdoctor.engine.schedule.task import Task
from kdoctor.engine.suppression.suppressions import FAMILY
from kdoctor.errors import FileProblem
from kdoctor.model import Finding
from kdoctor.rules import rule_by_code
from kdoctor.suppression import ignore_edits


class SuppressionInserter:
    """Inserts suppression comments into files, all with the same reason."""

    def __init__(self, examiner: Examiner, reason: str) -> None:
        self._examiner = examiner
        self._reason = " ".join(reason.split())

    def ignore(self, task: Task, data: bytes | None = None) -> FileFix:
        """Return the file with its comments. Errors are part of the result.

        ``data`` are its bytes, where they are read already.
        """
        path = task.source.path
        read = self._examiner.read_and_examine(task, data)
        if isinstance(read, FileScan):
            return FileFix(read, read)
        before, examined, found = read
        only = self._examiner.scan_options.only
        silenced = tuple(
            each
            for each in found.findings
            if _can_be_ignored(each) and (only is None or (each.place, each.code) in only)
        )
        if not silenced:
            return FileFix(found, found)
        try:
            after = self._with_comments(examined, silenced)
            again = self._examiner.examine(
                path, after, like=examined.document, changed=examined.modules.keys()
            )
            _check_same_code(examined.document, again.document)
        except Exception as error:  # noqa: BLE001
            reason = f"its comments were discarded: {error_text(error)}"
            return FileFix(found, found, left_alone=LeftAlone(path, reason))
        diff = diff_of(path, before, after, self._examiner.scan_options.kind)
        is_stdin = task.source.is_stdin
        fixed = FixedFile(path, before, after, diff, silenced, is_stdin=is_stdin)
        return FileFix(found, drop_notes_unless_admitted(task, again.scan), fixed)

    def _with_comments(self, examined: Examined, findings: tuple[Finding, ...]) -> bytes:
        by_unit: defaultdict[int, list[Finding]] = defaultdict(list)
        for finding in findings:
            by_unit[finding.place.unit].append(finding)
        part = examined.document.part
        texts = {
            index: texts_with(part(index), ignore_edits(part(index), found, self._reason))
            for index, found in by_unit.items()
        }
        return examined.document.replace(texts)


def _can_be_ignored(finding: Finding) -> bool:
    """Say whether it is about code: a comment that is of no use is taken out, not silenced."""
    return rule_by_code(finding.code).family != FAMILY


def _check_same_code(before: Document, after: Document) -> None:
    """Hold a file with new comments to what it was.

    Raises:
        FileProblem: Python would read another program.
    """
    one, other = ([_program(unit.text) for unit in each.units] for each in (before, after))
    if one != other:
        raise FileProblem("the code would change with them")


def _program(text: str) -> str:
    try:
        return ast.dump(parse_ast.parse(text))
    except (SyntaxError, ValueError):
        return ""  # code for another Python: libcst parsed it, and the scan checks it
