"""Apply chosen fixes to the files of a working tree, and know which lines each has changed."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from kdoctor import engine
from kdoctor.documents import write_atomically
from kdoctor.engine import FixedFile, Options, ScanResult
from kdoctor.engine.baseline.entry import BaselineEntry, entry_of
from kdoctor.errors import FileProblem
from kdoctor.migrate.plan import without_pins
from kdoctor.model import Applicability, Finding

Lines = frozenset[int]
USUAL: Final[Options] = {}
"""No options of a scan beside those of the migration."""


class Applied(Struct, frozen=True):
    """Fixes that were written: the findings, and the files before and after."""

    findings: tuple[Finding, ...]
    files: tuple[FixedFile, ...]


class Code:
    """The code of a migration: what is found in it, and what is fixed.

    ``tracked`` are the only files that are fixed, from the working folder.
    """

    def __init__(self, paths: Sequence[str], options: Options, tracked: Collection[str]) -> None:
        self._paths = list(paths)
        own = {**without_pins(options), "cache": False, "diffs": False}
        self._options = cast("Options", own)
        self._tracked = tracked

    def scan(self, how: Options = USUAL, paths: Sequence[str] = ()) -> ScanResult:
        """Return what is found now, at these paths or at all of the migration's."""
        options = cast("Options", {**self._options, **how})
        found = engine.scan(paths or self._paths, **options)
        return replace(found, findings=_rated(found.findings, how))

    def fixable(self, scan: ScanResult, kinds: Collection[Applicability]) -> list[Finding]:
        """Return the findings with a fix of these kinds in files that may be written, in order."""
        return [
            each
            for each in scan.findings
            if each.fix is not None
            and each.fix.applicability in kinds
            and os.path.normpath(each.place.path) in self._tracked
        ]

    def apply(self, findings: Iterable[Finding], how: Options = USUAL) -> Applied:
        """Fix these findings of the files as they are. Of two that overlap, one is left out."""
        only = frozenset((each.place, each.code) for each in findings)
        if not only:
            return Applied((), ())
        options = cast("Options", {**self._options, **how, "only": only})
        done = self._write(engine.fix(self._paths, unsafe=True, **options).files)
        return replace(done, findings=_rated(done.findings, how))

    def apply_safe(self) -> Applied:
        """Write all fixes that are proven safe."""
        return self._write(engine.fix(self._paths, unsafe=False, **self._options).files)

    def _write(self, files: Iterable[FixedFile]) -> Applied:
        written = list[FixedFile]()
        for file in files:
            if os.path.normpath(file.path) not in self._tracked:
                continue
            try:
                write_atomically(file.path, file.after)
            except FileProblem:
                continue
            written.append(file)
        return Applied(tuple(each for file in written for each in file.applied), tuple(written))


def _rated(findings: Iterable[Finding], how: Options) -> tuple[Finding, ...]:
    """Return findings, none of them safe that may rest on what was seen in one run."""
    if not how.get("observations"):
        return tuple(findings)
    return tuple(
        each
        if each.fix is None or each.fix.applicability is not Applicability.SAFE
        else replace(each, fix=replace(each.fix, applicability=Applicability.UNSAFE))
        for each in findings
    )


def identities(findings: Iterable[Finding], scan: ScanResult) -> dict[BaselineEntry, Finding]:
    """Return findings by what they are known by when their lines move."""
    folder = Path.cwd()
    return {entry_of(each, scan, folder): each for each in findings}


def changed_lines(file: FixedFile, finding: Finding) -> tuple[Lines, ...]:
    """Return the lines of the fixed file that a fix stands on, by statement.

    Each of the sets is one statement: it was run where one of its lines was. Nothing is returned
    for what is no module of Python.
    """
    before, after = _text(file.before), _text(file.after)
    if before is None or after is None or not file.path.endswith((".py", ".pyw")):
        return ()
    wanted = _mapped(before, after, range(finding.place.line, finding.place.end_line + 1))
    try:
        statements = list(_statements(ast.parse(after)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    hit = [each for each in statements if each & wanted]
    return tuple(dict.fromkeys(hit))


def top_level_lines(data: bytes) -> Lines:
    """Return the lines of a module that run as it is imported."""
    text = _text(data)
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    inside = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    }
    return frozenset(range(1, len((text or "").splitlines()) + 1)) - inside


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _mapped(before: str, after: str, lines: Iterable[int]) -> Lines:
    """Return the lines that some lines have become; where it cannot be told, all they may be."""
    old, new, found = before.splitlines(), after.splitlines(), set[int]()
    asked = set(lines)
    for tag, start, end, to_start, to_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "delete" and asked & set(range(start + 1, end + 1)):
            # The statement around it; where it was a whole one, those before and after.
            found |= {to_start, to_start + 1} & set(range(1, len(new) + 1))
            continue
        one_to_one = tag == "equal" or end - start == to_end - to_start
        for line in range(start + 1, end + 1):
            if line in asked:
                shifted = line - start + to_start
                found.update([shifted] if one_to_one else range(to_start + 1, to_end + 1))
    return frozenset(found)


def _statements(tree: ast.AST) -> Iterator[Lines]:
    """Yield the lines of each statement, of one with a body only those before it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        yield frozenset(range(first, max(first, last or first) + 1))
