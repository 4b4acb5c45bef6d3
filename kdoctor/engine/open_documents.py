"""Open editor documents: examine unsaved text again and again.

A file on the disk is read once for as long as it stays the same. What other modules export is seen
as it stands in the editor, where they are open.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kdoctor.engine.examine import Examined, Examiner
from kdoctor.engine.fixes.apply_edits import texts_of
from kdoctor.engine.fixes.conflicts import compatible_fixes
from kdoctor.engine.fixes.fixpoint import FixLoop, masks_beside
from kdoctor.engine.options import Options, scan_options_of
from kdoctor.engine.schedule.task import ScanOptions, Source, Task
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.engine.selection.targets import Targets
from kdoctor.keras_api import oracle
from kdoctor.model import Applicability, Finding
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.module_summary import ModuleSummary, summary_in, summary_of
from kdoctor.project.root import shown
from kdoctor.rules.own import in_use
from kdoctor.suppression import ignore_fix

if TYPE_CHECKING:
    from kdoctor.documents import Kind, Unit
    from kdoctor.syntax import Module

_SETTLED = 10.0  # seconds for which the project's own files are taken to stay as they are
_CACHE_SIZE = 5_000  # modules; memory must not grow with the tree
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True)
class Draft:
    """An open document with its unsaved text. ``path`` is absolute and need not exist."""

    path: str
    data: bytes = field(repr=False)
    kind: Kind


@dataclass(frozen=True, slots=True)
class Reading:
    """An examined draft with its options and the files that it depends on."""

    examined: Examined
    examiner: Examiner
    files_read: frozenset[str]

    def module(self, unit: Unit) -> Module:
        """Return a unit's parsed module, even if no rule concerns it.

        Raises:
            SyntaxProblem: it is no Python that libcst can parse.
        """
        return self.examined.modules.get(unit.index) or self.examiner.module(unit)

    def fixed(self, finding: Finding) -> bytes | None:
        """Return the document with one finding fixed, None where that is impossible."""
        if finding.fix is None or finding.fix.applicability is Applicability.MANUAL:
            return None
        return self._changed(finding)

    def ignored(self, finding: Finding) -> bytes | None:
        """Return the document with a suppression comment for one finding."""
        unit = self.examined.document.part(finding.place.unit)
        return self._changed(replace(finding, fix=ignore_fix(unit, finding)))

    def _changed(self, finding: Finding) -> bytes | None:
        unit = self.examined.document.part(finding.place.unit)
        masks = masks_beside(unit, [finding])
        fixes = compatible_fixes([finding], masks, [cell.span for cell in unit.cells])
        if not fixes:
            return None
        keeps = partial(self.examiner.may_be_imported_elsewhere, unit.path)
        texts = texts_of(
            self.examined.source(unit.index), fixes, keeps, self.examiner.scan_options.style
        )
        return self.examined.document.replace({unit.index: texts})


class OpenDocuments:
    """Examines drafts. Not thread-safe."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._modules = _Modules()
        self._settings: dict[str, _FileSettings] = {}

    def reload_settings(self) -> None:
        """Drop cached settings and targets of the project's files."""
        self._settings.clear()

    def use_unsaved(self, path: str, text: str) -> bool:
        """Use a module's unsaved text; say whether its exports changed for other modules.

        One that cannot be parsed for the moment stays what it was.
        """
        return self._modules.use_unsaved(path, text)

    def restore_saved(self, path: str) -> bool:
        """Use a module's text on disk again; say whether its exports changed."""
        return self._modules.restore_saved(path)

    def is_skipped(self, path: str) -> bool:
        """Say whether a file is excluded, or belongs to an installed package.

        Raises:
            UsageProblem: a setting of the project, or an option, names what does not exist.
        """
        parts = path.replace(os.sep, "/").split("/")
        return not _INSTALLED.isdisjoint(parts) or self._settings_of(path).excluded

    def examine(self, draft: Draft) -> Reading:
        """Return the findings of a draft.

        Raises:
            FileProblem: it is no document of its kind, or its Python cannot be parsed.
            UsageProblem: a setting of the project, or an option, names what does not exist.
        """
        self._modules.files_read.clear()
        terms = self._settings_of(draft.path)
        scan_options = replace(terms.scan_options, kind=draft.kind)
        # A new one each time: it would keep what it learned of the tree.
        package = ProjectPackage(oracle(scan_options.target).star_names, self._modules)
        examiner = Examiner(scan_options, package)
        examined = examiner.examine(draft.path, draft.data)
        return Reading(examined, examiner, frozenset(self._modules.files_read))

    @staticmethod
    def problem_of_own_rules(reading: Reading) -> str:
        """Return what is wrong with the project's own rules, as far as a reading shows it."""
        own, scan = in_use(), reading.examined.scan
        if scan.unreadable is not None and not scan.lasts:
            return f"{shown(Path(scan.unreadable.path))}: {scan.unreadable.why}"
        broken = (f"{each.path}: {each.why}" for each in own.problems)
        return own.sources.withheld or next(broken, "")

    def with_safe_fixes(self, draft: Draft, reading: Reading) -> bytes:
        """Return a draft with all safe fixes applied, as ``kdoctor fix`` does."""
        task = Task(Source(draft.path, draft.data), len(draft.data))
        fixed = FixLoop(reading.examiner).fix(task).fixed
        return draft.data if fixed is None else fixed.after

    def _settings_of(self, path: str) -> _FileSettings:
        terms, now = self._settings.get(path), time.monotonic()
        if terms is None or now - terms.made_at > _SETTLED:
            policy = FileSelection([path], self._options)
            targets = Targets(policy, self._options)
            (task,) = targets.assigned(policy.assigned([Task(Source(path, b""), 0)]))
            scan_options = scan_options_of(targets.main, self._options).aimed(task)
            scan_options = replace(
                scan_options, gate=True, diffs=False, replacements=False, anchors=False
            )
            terms = self._settings[path] = _FileSettings(now, scan_options, policy.excludes(path))
        return terms


@dataclass(frozen=True, slots=True)
class _FileSettings:
    """The settings and target of one file, at one moment."""

    made_at: float
    scan_options: ScanOptions
    excluded: bool


class _Modules:
    """What the modules of the tree bind, each read anew only when it changed.

    ``files_read`` collects the files that were read.
    """

    def __init__(self) -> None:
        self.files_read: set[str] = set()
        self._held: dict[str, ModuleSummary] = {}
        self._read: dict[str, tuple[tuple[int, int, int], ModuleSummary | None]] = {}

    def __call__(self, path: str) -> ModuleSummary | None:
        self.files_read.add(path)
        if path in self._held:
            return self._held[path]
        return self._on_disk(path)

    def use_unsaved(self, path: str, text: str) -> bool:
        summary = summary_in(text)
        if summary is None:
            return False
        before = self._held[path] if path in self._held else self._on_disk(path)
        self._held[path] = summary
        return before != summary

    def restore_saved(self, path: str) -> bool:
        if path not in self._held:
            return False
        return self._held.pop(path) != self._on_disk(path)

    def _on_disk(self, path: str) -> ModuleSummary | None:
        try:
            found = os.stat(path)  # noqa: PTH116 - hot, on str
        except OSError:
            return None
        signature = found.st_mtime_ns, found.st_size, found.st_ino
        known = self._read.get(path)
        if known is None or known[0] != signature:
            if len(self._read) > _CACHE_SIZE:
                self._read.clear()
            known = self._read[path] = signature, summary_of(path)
        return known[1]
