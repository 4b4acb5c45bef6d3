"""Reduce a fix to what was verified; the rest is left unchanged, and listed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from kdoctor import engine
from kdoctor.cli.run_verify import Texts, Verified
from kdoctor.documents import Document, Kind
from kdoctor.engine import FixResult
from kdoctor.engine.fixes.top_level import TopLevelFixes, statement_at, top_level_statements
from kdoctor.engine.fixes.write import with_files_fixed_again
from kdoctor.engine.result import FixedFile
from kdoctor.model import Finding, Place
from kdoctor.verify.user.evidence import Evidence, evidence_for, still_runs
from kdoctor.verify.user.results import Verdict

_NAMED = 4  # lines in a reason


class KeptBack(NamedTuple):
    """The verified part of a fix, and by path why a file is not written, or only in part."""

    result: FixResult
    unwritten: dict[str, str]
    in_part: dict[str, str]


def only_verified(
    fixed: FixResult, verified: Verified, how: engine.Options, *, unsafe: bool | None
) -> KeptBack:
    """Return the part of a fix that ran and gave equal results.

    A statement is fixed where a definition that needs it was equal, and everything else that this
    one ran is fixed as well: what is written is what was compared. A file of which a definition is
    not the same after the fix stays whole.
    """
    verdicts = verified.report.verdicts
    bad = _bad(verdicts)
    # With each backend that was asked for.
    held_back = {(each.path, each.cell, each.line) for each in verdicts if not each.is_whole}
    equal = {
        (each.path, each.name)
        for each in verdicts
        if (each.path, each.cell, each.line) not in held_back
    }
    evidence = [
        each
        for each in evidence_for(verified.sources, verified.texts, equal)
        if verified.sources[each.source].path not in bad
    ]
    names, again = dict[str, frozenset[str]](), dict[str, FixResult]()
    while True:
        for file in fixed.files:
            path, before = file.path, names.get(file.path)
            names[path] = frozenset() if path in bad else _names_in(path, evidence)
            if names[path] != before:
                again[path] = _fixed_within(path, names[path], fixed, how, unsafe=unsafe)
        written = _Written(verified.texts, fixed.files, again)
        holding = [each for each in evidence if _holds(each, verified, written)]
        if len(holding) == len(evidence):
            break
        evidence = holding
    unwritten, in_part = dict(bad), dict[str, str]()
    seen = {(each.code, each.place) for each in fixed.found.findings}
    for file in fixed.files:
        if file.path in bad:
            continue
        done = again[file.path].files
        left = _left(file, done, seen)
        if left:
            own = [each for each in verdicts if each.path == file.path]
            why = _why(file, left, own, verified.kind)
            (in_part if done else unwritten)[file.path] = why
    return KeptBack(with_files_fixed_again(fixed, again), unwritten, in_part)


def _bad(verdicts: tuple[Verdict, ...]) -> dict[str, str]:
    """Return the files in which something differs after the fix."""
    found: dict[str, dict[str, None]] = {}
    for each in verdicts:
        if each.is_bad and each.changed:
            found.setdefault(each.path, {})[each.name] = None
    return {
        path: f"not the same after the fix: {', '.join(names)}" for path, names in found.items()
    }


def _names_in(path: str, evidence: list[Evidence]) -> frozenset[str]:
    """Return the names of a file's statements that ran."""
    real = os.path.realpath(path)
    return frozenset[str]().union(*(each.names.get(real, ()) for each in evidence))


def _fixed_within(
    path: str, names: frozenset[str], fixed: FixResult, how: engine.Options, *, unsafe: bool | None
) -> FixResult:
    """Fix one file where these names are bound; ``fixed`` is the fix of all of it."""
    if not names:
        return replace(fixed, files=(), left=fixed.found)
    alone = how.copy()
    alone["within"] = names
    alone["jobs"], alone["cache"] = 1, False
    alone["executor"], alone["progress"] = None, None
    return engine.fix([path], unsafe=unsafe, **alone)


class _Written:
    """Gives modules of the project as they will be."""

    def __init__(
        self, texts: Texts, files: tuple[FixedFile, ...], again: Mapping[str, FixResult]
    ) -> None:
        self._texts = texts
        self._after = {os.path.realpath(file.path): file.before for file in files}
        for each in (file for result in again.values() for file in result.files):
            self._after[os.path.realpath(each.path)] = each.after

    def after(self, path: str) -> bytes | None:
        """Return a file's bytes as they will be; None where it is not fixed."""
        return self._after.get(os.path.realpath(path))

    def __call__(self, path: Path) -> tuple[str, str] | None:
        """Return a module as it is and as it will be: what is beside the paths stays."""
        pair = self._texts(path)
        data = self.after(str(path))
        if pair is None:
            return None
        return pair[0], pair[0] if data is None else data.decode("utf-8-sig", "replace")


def _holds(evidence: Evidence, verified: Verified, written: _Written) -> bool:
    """Say whether what will be written is what was compared."""
    from kdoctor.verify.user.sources import sources_of  # noqa: PLC0415 - libcst

    source = verified.sources[evidence.source]
    after = written.after(source.path)
    if after is None:
        return still_runs(evidence, source, source.before, written)
    before = verified.texts.bytes_of(source.path)[0]
    place = [n for n, each in enumerate(verified.sources) if each.path == source.path]
    texts = list(sources_of(source.path, before, after, verified.kind))
    return still_runs(evidence, source, texts[place.index(evidence.source)].after, written)


def _left(
    file: FixedFile, done: tuple[FixedFile, ...], seen: Collection[tuple[str, Place]]
) -> list[Finding]:
    """Return what was ``seen`` of a file, and is cured by the whole fix and not by the part."""
    cured = {(each.code, each.place) for one in done for each in one.applied}
    return [
        each
        for each in file.applied
        if (each.code, each.place) in seen and (each.code, each.place) not in cured
    ]


def _why(file: FixedFile, left: list[Finding], verdicts: list[Verdict], kind: Kind | None) -> str:
    """Name the definitions that the remaining findings are in, and their verdicts."""
    # Of several backends, the one that keeps the fix back.
    last_bad = sorted(verdicts, key=lambda each: not each.is_whole)
    states = {each.name: _shown(each) for each in last_bad}
    reasons: dict[str, None] = {}
    outside: list[int] = []
    for finding, around in _placed(file, left, kind):
        names = sorted(around.binds & states.keys()) if around else []
        for name in names:
            reasons[f"{name} ({states[name]})"] = None
        if not names:
            outside.append(finding.place.line)
    parts = list(reasons)
    if outside:
        lines = [str(line) for line in sorted(set(outside))]
        shown = ", ".join(lines[:_NAMED]) + (", …" if len(lines) > _NAMED else "")
        word = "line" if len(lines) == 1 else "lines"
        parts.append(f"{word} {shown} (outside of what was verified)")
    count = len(left)
    return f"{count} of {len(file.applied)} fixes left out: {', '.join(parts)}"


def _shown(verdict: Verdict) -> str:
    """Explain why a definition is not fixed."""
    if verdict.is_whole:
        return "needs a fix that is left out"
    if verdict.unreached:
        return f"{', '.join(verdict.unreached)} of the fixed code did not run"
    return verdict.state.value


def _placed(
    file: FixedFile, left: list[Finding], kind: Kind | None
) -> Iterator[tuple[Finding, TopLevelFixes | None]]:
    """Yield findings with the statement that each stands in."""
    document = Document.parse(file.before, file.path, kind)
    statements = [list(top_level_statements(unit.text)) for unit in document.units]
    for finding in left:
        unit = finding.place.unit
        inside = statements[unit] if unit < len(statements) else []
        yield finding, statement_at(inside, finding.place.span)
