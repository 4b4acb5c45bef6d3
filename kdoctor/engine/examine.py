"""Examine one file: parse it, run the rules, apply suppressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Document, Unit
from kdoctor.engine.fixes.changelogs import without_fix_in_changelog
from kdoctor.engine.fixes.comment_guard import CommentGuard
from kdoctor.engine.fixes.debug_fstring_guard import DebugFStringGuard
from kdoctor.engine.own_target import Installed, installed_by, own_target
from kdoctor.engine.parse_errors import problem_place, python_2_cells, syntax_problem_text
from kdoctor.engine.requirement_findings import RequirementFindings
from kdoctor.engine.result import Anchor, FileScan, SkippedPart
from kdoctor.engine.rule_prefilter import Question, RulePrefilter, RuleQuestion
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.engine.suppression.apply import apply, old_names
from kdoctor.engine.suppression.handled_errors import ExpectedErrors
from kdoctor.engine.suppression.suppressions import Suppressions
from kdoctor.errors import INTERNAL_ERROR, FileProblem, SyntaxProblem
from kdoctor.keras_api import Presence, oracle, with_tf_keras
from kdoctor.model import Finding, Place, Unreadable
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.legacy_switch import LegacySwitch, open_roots, reads_compat, switch_in
from kdoctor.modules.module_summary import parsed
from kdoctor.own_rules.activating import use_sources
from kdoctor.rules import applies, words
from kdoctor.rules.entry import RuleEntry
from kdoctor.rules.index import rule_index
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.parsing import on_a_deep_stack
from kdoctor.target import LEGACY_SWITCH, Target

if TYPE_CHECKING:
    from kdoctor.engine.fixes.finding_diffs import FindingDiffs
    from kdoctor.suppression import Directives

_T = TypeVar("_T")


class Examined(Struct, frozen=True):
    """A document with its findings and parsed modules."""

    document: Document
    modules: Mapping[int, Module]  # by the index of the unit
    scan: FileScan
    directives: Directives | None  # the user's comments on it

    def source(self, index: int) -> Module | Unit:
        """Return a unit's module, or the unit itself if it was not parsed."""
        return self.modules.get(index) or self.document.part(index)


class Examiner:
    """Examines files with one set of options; each worker process has one."""

    def __init__(
        self,
        scan_options: ScanOptions,
        package: ProjectPackage | None = None,
        open_roots: frozenset[str] = frozenset(),
    ) -> None:
        self.scan_options = scan_options
        use_sources(scan_options.own_rules)
        codes = scan_options.codes
        known = tuple(
            rule for rule in rule_index() if not rule.preview or codes is None or rule.code in codes
        )
        chosen = [rule for rule in known if codes is None or rule.code in codes]
        self._facts = TargetFacts(
            scan_options.target,
            scan_options.namespace,
            scan_options.keras_2_helpers,
            open_roots,
            scan_options.backends,
        )
        self._suppressions = Suppressions(chosen, known, self._facts)
        self._rules = self._suppressions.rules_to_run
        self._oracle = oracle(scan_options.target)
        self._package = package or ProjectPackage(
            self._oracle.star_names,
            follows_types=scan_options.project_types,
            observations=scan_options.observations,
        )
        self._codes = frozenset(rule.code for rule in self._rules)
        self._requirements = RequirementFindings(scan_options.target, self._codes)
        self._examiners_of_open: dict[frozenset[str], Examiner] = {}
        self._examiners_of_targets: dict[Target, Examiner] = {}
        triggers = {rule.code: self._question(rule) for rule in self._rules}
        needs = {rule.code: rule.needs for rule in self._rules}
        self._gate = RulePrefilter(words(), triggers, self._package, needs, scan_options.backends)

    def _question(self, rule: RuleEntry) -> Question:
        return RuleQuestion(rule, self._facts) if applies(rule, self._facts) else lambda _: False

    @property
    def trace(self) -> Dependencies:
        """The files and folders read beside the examined ones."""
        return self._package.trace

    def prefetch(self, path: str) -> None:
        """Read a file's bindings, and cache its tree for its examination, which is next."""
        self._package.prefetch(path)

    def evict_if_large(self) -> None:
        """Drop cached project modules if they are too many: memory must stay bounded."""
        self._package.evict_if_large()

    def forget(self) -> None:
        """Drop all cached knowledge of the project."""
        self._package.forget()

    def may_be_imported_elsewhere(self, path: str, binding: ImportBinding) -> bool:
        """Say whether another file of the project may import this binding from a file.

        What the target does not have breaks there all the same.
        """
        found = self._facts.lookup(binding.name)
        return found.presence is not Presence.MISSING and self._package.may_be_imported_from(
            path, binding.local
        )

    def scan(self, task: Task, data: bytes | None = None) -> FileScan:
        """Return the findings of one file. Errors are part of the result.

        ``data`` are its bytes, where they are read already.
        """
        read = self.read_and_examine(task, data)
        if isinstance(read, FileScan):
            return read
        return read[2]

    def read_and_examine(
        self, task: Task, data: bytes | None = None
    ) -> tuple[bytes, Examined, FileScan] | FileScan:
        """Return a file's bytes, what was examined and what to report of it.

        Only a failed scan, which says why, where the file cannot be read.

        ``data`` are its bytes, where they are read already.
        """
        path = task.source.path
        try:
            data = task.source.read(self.scan_options.folder) if data is None else data
            examined = self.examine(path, data)
            return data, examined, drop_notes_unless_admitted(task, examined.scan)
        except Exception as error:  # noqa: BLE001 - one file must not cost the others
            return drop_notes_unless_admitted(task, failed_scan(path, error))

    def examine(
        self,
        path: str,
        data: bytes,
        *,
        like: Document | None = None,
        changed: Collection[int] = (),
    ) -> Examined:
        """Parse a file and run every rule on it.

        ``like`` is what it was before a fix. The units named in ``changed`` are parsed whatever
        the gate says.

        Raises:
            FileProblem: it is no document of its kind, or its Python cannot be parsed.
        """
        examined = with_deep_stack(partial(self._examine, path, data, like, changed))
        if self.scan_options.target.beside:
            from kdoctor.engine.other_targets import OtherTargets  # noqa: PLC0415 - few runs have any

            others = [self._for_target(each) for each in self.scan_options.target.beside]
            merged = partial(OtherTargets(self, others).merged, examined, data)
            examined = replace(examined, scan=with_deep_stack(merged))
        if self.scan_options.edits:
            return examined
        return replace(examined, scan=examined.scan.without_edits)

    def _examine(
        self, path: str, data: bytes, like: Document | None, changed: Collection[int]
    ) -> Examined:
        document = Document.parse(data, path, self.scan_options.kind, like)
        if not self.scan_options.target.asked and (own := installed_by(document)) is not None:
            examiner = self._for_target(own.target)
            return self._examine_for(own, examiner, document, data, changed)
        if (legacy := self._legacy_keras_examiner) is None:
            return self.examined(document, data, changed)
        switch = switch_in(document, data)
        if switch and not self.scan_options.is_target_explicit:
            return self._examine_for(switch, legacy, document, data, changed)
        examined = self.examined(document, data, changed)
        # Only now: what others set is asked of the few files in which something may be wrong.
        if not (examined.scan.findings or examined.scan.suppressed or reads_compat(data)):
            return examined
        texts = [unit.text for unit in document.units]
        if not switch and (module := self._package.switched_by(path, texts)):
            switch = LegacySwitch(f"{module} sets {LEGACY_SWITCH}")
        if switch and not self.scan_options.is_target_explicit:
            return self._examine_for(switch, legacy, document, data, changed)
        if switch:
            return self._with_target_note(examined, switch, legacy)
        if not self._facts.open_roots and self._package.switched_late_by(path, texts):
            return self._with_open(open_roots(texts)).examined(document, data, changed)
        return examined

    def _with_open(self, roots: frozenset[str]) -> Examiner:
        """Return the examiner of files in which these roots may lead to Keras 2 or to Keras 3."""
        if roots not in self._examiners_of_open:
            self._examiners_of_open[roots] = Examiner(self.scan_options, self._package, roots)
        return self._examiners_of_open[roots]

    def _for_target(self, target: Target) -> Examiner:
        if target not in self._examiners_of_targets:
            options = replace(self.scan_options, target=target, edits=True)
            self._examiners_of_targets[target] = Examiner(options, self._package)
        return self._examiners_of_targets[target]

    def _examine_for(
        self,
        because: LegacySwitch | Installed,
        examiner: Examiner,
        document: Document,
        data: bytes,
        changed: Collection[int],
    ) -> Examined:
        """Run the rules on a document that has another target by its own code."""
        examined = examiner.examined(document, data, changed)
        could_tell = any(
            self._gate.may_fire(document.path, unit.text, parsed(unit.text))
            for unit in document.units
        )
        is_told = could_tell or examined.scan.findings or examined.scan.suppressed
        return self._with_target_note(examined, because, examiner) if is_told else examined

    def _with_target_note(
        self, examined: Examined, because: LegacySwitch | Installed, examiner: Examiner
    ) -> Examined:
        """Return the result with a note that the file has its own target, and why."""
        path, target = examined.document.path, examiner.scan_options.target
        own = own_target(path, self.scan_options, target, because)
        return replace(examined, scan=replace(examined.scan, own_target=own))

    @cached_property
    def _legacy_keras_examiner(self) -> Examiner | None:
        """The examiner of files in which ``tf.keras`` is tf_keras, None if it is that anyway."""
        target = self.scan_options.target
        is_tensorflow = target.name == "tensorflow"
        switched = with_tf_keras(target, Version(target.version) if is_tensorflow else None)
        if switched is target:
            return None
        return Examiner(replace(self.scan_options, target=switched), self._package)

    def examined(self, document: Document, data: bytes, changed: Collection[int]) -> Examined:
        """Run the rules on a document, for this examiner's own target.

        Raises:
            FileProblem: its Python cannot be parsed.
        """
        path = document.path
        modules: dict[int, Module] = {}
        unparsed: list[int] = []
        codes_to_run: dict[int, Collection[str]] = {}
        skipped = [
            SkippedPart(path, part.cell, part.line, part.why, part.python_2)
            for part in document.skipped
        ]
        for unit in document.units:
            tree = self._package.tree(path, unit.text)
            codes = self._gate.may_fire(path, unit.text, tree)
            admitted = bool(codes) or unit.index in changed
            if self.scan_options.gate and not admitted:
                continue
            if not self.scan_options.gate and self._gate.concerns(path, unit.text, tree):
                codes = self._codes
            codes_to_run[unit.index] = codes
            try:
                modules[unit.index] = self.module(unit, tree)
                del tree  # much memory
            except SyntaxProblem as problem:
                if not admitted or not self._gate.has_decisive_word(unit.text):
                    continue  # nothing of Keras can be hidden in it
                if document.kind in ("python", "notebook") or unit.index in changed:
                    raise FileProblem(syntax_problem_text(problem, unit)) from problem
                place = problem_place(problem, unit)
                unparsed.append(unit.index)
                skipped.append(SkippedPart(path, place.cell, place.line, problem.why))
        try:
            scan, directives = self._ask(document, data, modules, unparsed, codes_to_run)
        finally:
            self._package.drop_modules()
        scan = replace(scan, skipped=tuple(skipped))
        if document.kind == "notebook" and scan.unreadable is None:
            scan = replace(scan, unreadable=python_2_cells(path, skipped))
        return Examined(document, modules, scan, directives)

    def module(self, unit: Unit, tree: ast.Module | None = None) -> Module:
        """Parse a unit regardless of the prefilter; ``tree`` is its ``ast``, if available.

        Raises:
            SyntaxProblem: it is no Python that libcst can parse.
        """
        return Module.parse(unit, self._oracle, self._package, tree)

    def _ask(
        self,
        document: Document,
        data: bytes,
        modules: Mapping[int, Module],
        unparsed: Collection[int],
        codes_to_run: Mapping[int, Collection[str]],
    ) -> tuple[FileScan, Directives | None]:
        """Run every rule on every module. A rule that fails loses only its own findings."""
        findings: set[Finding] = set()
        lines: dict[Place, str] = {}
        anchors: dict[Place, Anchor] = {}
        problems: list[str] = []
        diffs = self._diffs(document, data)
        for index, module in modules.items():
            for finding in self._found_in(module, codes_to_run[index], problems):
                lines[finding.place] = module.unit.line_of(finding.place.span.start)
                try:
                    shown = diffs.with_diff(finding, module) if diffs else finding
                except Exception as error:  # noqa: BLE001
                    problems.append(f"{error_text(error)} (in the fix of {finding.code})")
                    shown = finding
                findings.add(shown)
            places = [place for place in lines if place.unit == index]
            # They ask where half of the tree stands: not done where nobody looks at them.
            if places and self.scan_options.anchors:
                from kdoctor.engine.identity.finding_identity import finding_anchors  # noqa: PLC0415

                anchors |= finding_anchors(module, places)
        for unit, finding in self._requirements.beside(document, findings):
            lines[finding.place] = unit.line_of(finding.place.span.start)
            findings.add(diffs.with_diff(finding, unit) if diffs else finding)
        failed = Unreadable(document.path, "; ".join(dict.fromkeys(problems))) if problems else None
        # Where a rule failed, no comment is called unused either.
        parts = self._requirements.parts(document)
        not_examined = range(len(parts)) if failed else unparsed
        applied = apply(
            self._suppressions, parts, sorted(findings, key=finding_order), not_examined
        )
        reported = list(applied.findings)
        for finding in applied.about_comments:
            unit = document.part(finding.place.unit)
            lines[finding.place] = unit.line_of(finding.place.span.start)
            reported.append(diffs.with_diff(finding, unit) if diffs else finding)
        suppressed = (each.finding for each in applied.suppressed)
        of_use = dict.fromkeys(finding.place for finding in (*reported, *suppressed))
        lines = {place: lines[place] for place in of_use}
        scan = FileScan(
            tuple(sorted(reported, key=finding_order)),
            applied.suppressed,
            lines,
            regions=document.regions(lines),
            unreadable=failed,
            anchors={place: anchors[place] for place in of_use if place in anchors},
            lasts=not problems,
            old_names=tuple(dict.fromkeys(old_names(applied.directives))),
        )
        return scan, applied.directives

    def _found_in(
        self, module: Module, codes: Collection[str], problems: list[str]
    ) -> Iterator[Finding]:
        """Yield the findings of some rules in a module; rules that fail are recorded."""
        expected = ExpectedErrors(module)
        comments, texts = CommentGuard(module.text), DebugFStringGuard(module)
        for rule in self._rules:
            if rule.code not in codes:
                continue
            try:
                found = with_deep_stack(partial(_checked, rule, module, self._facts))
            except Exception as error:  # noqa: BLE001 - a bug in one rule
                problems.append(f"{error_text(error)} (in rule {rule.code})")
                continue
            for each in found:
                if not expected.include(each):
                    yield without_fix_in_changelog(
                        module.path, texts.guarded(comments.guarded(each))
                    )

    def _diffs(self, document: Document, data: bytes) -> FindingDiffs | None:
        """Return the diffs of fixes, None if they are not requested."""
        diffs, replacements = self.scan_options.diffs, self.scan_options.replacements
        if not (diffs or replacements):
            return None
        from kdoctor.engine.fixes.finding_diffs import FindingDiffs  # noqa: PLC0415

        keeps = partial(self.may_be_imported_elsewhere, document.path)
        made = FindingDiffs(document, data, keeps, diffs=diffs, replacements=replacements)
        made.style = self.scan_options.style
        return made


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """Return ``work()``, retried on a larger stack if it recurses too deeply.

    Raises:
        RecursionError: there is no room for it anywhere.
    """
    try:
        return work()
    except RecursionError:
        return on_a_deep_stack(lambda _: work(), None)


def _checked(rule: RuleEntry, module: Module, facts: TargetFacts) -> list[Finding]:
    return list(rule.load().check(module, facts))


def finding_order(finding: Finding) -> tuple[Place, str, str]:
    """Sort key of findings: position, then code."""
    return finding.place, finding.code, finding.message


def failed_scan(path: str, error: Exception) -> FileScan:
    """Return the result of a file that could not be examined."""
    lasts = isinstance(error, FileProblem)  # what is wrong with the file itself stays
    return FileScan(unreadable=Unreadable(path, error_text(error)), lasts=lasts)


def drop_notes_unless_admitted(task: Task, scan: FileScan) -> FileScan:
    """Drop parse errors and notes of a file that the prefilter would skip.

    So the gate changes nothing of what is reported: a file in which no rule could fire has no
    news, also where it cannot be parsed.
    """
    return scan if task.admitted else scan.without_notes


def error_text(error: Exception) -> str:
    """Return one line that says why a file was not examined."""
    match error:
        case FileProblem():
            return str(error)
        case OSError():
            return f"cannot be read: {error.strerror or error}"
        case RecursionError():
            return "the code is nested too deeply; split it, or exclude the file"
        case _:
            text = " ".join(str(error).split())
            return f"{INTERNAL_ERROR}: {type(error).__name__}: {text}"
