"""One file: bytes in, findings out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Holds, trigger_of
from kdoctor.documents import Document, Unit
from kdoctor.documents.python_2 import CURE, construct_of_python_2
from kdoctor.engine.fixes.changelogs import kept
from kdoctor.engine.fixes.comment_guard import CommentGuard
from kdoctor.engine.fixes.debug_fstring_guard import DebugFStringGuard
from kdoctor.engine.result import Anchor, FileScan, OwnTarget, SkippedPart
from kdoctor.engine.rule_prefilter import Question, RulePrefilter
from kdoctor.engine.schedule.jobs import ScanOptions, Task
from kdoctor.engine.suppression.apply import apply, old_names
from kdoctor.engine.suppression.handled_errors import ExpectedErrors
from kdoctor.engine.suppression.suppressions import Suppressions
from kdoctor.errors import INTERNAL_ERROR, FileProblem, SyntaxProblem
from kdoctor.keras_api import Presence, oracle, with_tf_keras
from kdoctor.model import Finding, Place, Span, Suppressed, Unreadable
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.legacy_switch import LegacySwitch, switch_in
from kdoctor.modules.module_summary import parsed
from kdoctor.rules import applies, words
from kdoctor.rules.entry import RuleEntry
from kdoctor.rules.index import rule_index
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.parsing import on_a_deep_stack
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.target import LEGACY_SWITCH

if TYPE_CHECKING:
    from kdoctor.engine.fixes.finding_diffs import FindingDiffs
    from kdoctor.suppression import Directives

_T = TypeVar("_T")


class Examined(Struct, frozen=True):
    """A document with what the rules say about it, and the modules that were parsed for that."""

    document: Document
    modules: Mapping[int, Module]  # by the index of the unit
    scan: FileScan
    directives: Directives | None  # the user's comments on it

    def source(self, index: int) -> Module | Unit:
        """Return a unit's module, or the unit itself where nothing asked for a parse."""
        return self.modules.get(index) or self.document.units[index]


class Examiner:
    """Examines one file after another by the same orders; each worker process has one."""

    def __init__(self, scan_options: ScanOptions, package: ProjectPackage | None = None) -> None:
        self.scan_options = scan_options
        codes = scan_options.codes
        known = tuple(
            rule for rule in rule_index() if not rule.preview or codes is None or rule.code in codes
        )
        chosen = [rule for rule in known if codes is None or rule.code in codes]
        self._facts = TargetFacts(scan_options.target, scan_options.namespace)
        self._suppressions = Suppressions(chosen, known, self._facts)
        self._rules = self._suppressions.asked
        self._oracle = oracle(scan_options.target)
        self._package = package or ProjectPackage(self._oracle.star_names)
        self._codes = frozenset(rule.code for rule in self._rules)
        triggers = {rule.code: self._question(rule) for rule in self._rules}
        needs = {rule.code: rule.needs for rule in self._rules}
        self._gate = RulePrefilter(words(), triggers, self._package, needs)

    def _question(self, rule: RuleEntry) -> Question:
        return _Question(rule, self._facts) if applies(rule, self._facts) else lambda _: False

    @property
    def trace(self) -> Dependencies:
        """What was looked at beside the files themselves."""
        return self._package.trace

    def foresee(self, path: str) -> None:
        """Read what a file binds: its tree is kept until the file is examined, which is next."""
        self._package.foresee(path)

    def forget_much(self) -> None:
        """Forget what it knows of the tree, where that is much: memory must not grow with it."""
        self._package.forget_much()

    def forget(self) -> None:
        """Forget all that it knows of the tree."""
        self._package.forget()

    def is_taken_elsewhere(self, path: str, binding: ImportBinding) -> bool:
        """Say whether another file of the project takes what a file imports out of that file.

        What the target does not have breaks there all the same.
        """
        found = self._facts.lookup(binding.name)
        return found.presence is not Presence.MISSING and self._package.is_taken(
            path, binding.local
        )

    def scan(self, task: Task, data: bytes | None = None) -> FileScan:
        """Return what is wrong with one file. Whatever goes wrong is part of the answer.

        ``data`` are its bytes, where they are read already.
        """
        path = task.source.path
        try:
            data = task.source.read(self.scan_options.folder) if data is None else data
            scan = self.examine(path, data).scan
        except Exception as error:  # noqa: BLE001 - one file must not cost the others
            scan = failed(path, error)
        return heard(task, scan)

    def examine(
        self,
        path: str,
        data: bytes,
        *,
        like: Document | None = None,
        changed: Collection[int] = (),
    ) -> Examined:
        """Parse a file and ask every rule about it.

        ``like`` is what it was before a fix. The units named in ``changed`` are parsed whatever
        the gate says.

        Raises:
            FileProblem: it is no document of its kind, or its Python cannot be parsed.
        """
        return with_room(partial(self._examine, path, data, like, changed))

    def _examine(
        self, path: str, data: bytes, like: Document | None, changed: Collection[int]
    ) -> Examined:
        document = Document.parse(data, path, self.scan_options.kind, like)
        if self._switched is None:
            return self.examined(document, data, changed)
        switch = switch_in(document, data)
        if switch and not self.scan_options.asked:
            return self._on_its_own(document, switch, self._switched, data, changed)
        examined = self.examined(document, data, changed)
        # Only now: what others set is asked of the few files in which something is wrong.
        if not (examined.scan.findings or examined.scan.suppressed):
            return examined
        if not switch:
            texts = (document.units[index].text for index in examined.modules)
            module = self._package.switched_by(path, texts)
            switch = LegacySwitch(f"{module} sets {LEGACY_SWITCH}") if module else None
        if switch and not self.scan_options.asked:
            return self._on_its_own(document, switch, self._switched, data, changed)
        return self._noted(examined, switch, self._switched) if switch else examined

    def _on_its_own(
        self,
        document: Document,
        switch: LegacySwitch,
        examiner: Examiner,
        data: bytes,
        changed: Collection[int],
    ) -> Examined:
        """Ask the rules about a document of which ``switch`` makes another target the right one."""
        examined = examiner.examined(document, data, changed)
        could_tell = any(
            self._gate.may_fire(document.path, unit.text, parsed(unit.text))
            for unit in document.units
        )
        is_told = could_tell or examined.scan.findings or examined.scan.suppressed
        return self._noted(examined, switch, examiner) if is_told else examined

    def _noted(self, examined: Examined, switch: LegacySwitch, examiner: Examiner) -> Examined:
        """Return the same with a note that the file has a target of its own, and why."""
        own = OwnTarget(
            examined.document.path,
            str(self.scan_options.target),
            examiner.scan_options.target.tf_keras_version,
            switch.why,
            counts=not self.scan_options.asked,
            place=switch.place,
        )
        return replace(examined, scan=replace(examined.scan, own_target=own))

    @cached_property
    def _switched(self) -> Examiner | None:
        """The examiner of files in which ``tf.keras`` is tf_keras, None where it is so in all."""
        target = self.scan_options.target
        is_tensorflow = target.name == "tensorflow"
        switched = with_tf_keras(target, Version(target.version) if is_tensorflow else None)
        if switched is target:
            return None
        return Examiner(replace(self.scan_options, target=switched), self._package)

    def examined(self, document: Document, data: bytes, changed: Collection[int]) -> Examined:
        """Ask the rules about a document on this examiner's own target.

        Raises:
            FileProblem: its Python cannot be parsed.
        """
        path = document.path
        modules: dict[int, Module] = {}
        unparsed: list[int] = []
        asked: dict[int, Collection[str]] = {}
        skipped = [
            SkippedPart(path, part.cell, part.line, part.why, part.python_2)
            for part in document.skipped
        ]
        for unit in document.units:
            tree = self._package.trees.take(unit.text)
            codes = self._gate.may_fire(path, unit.text, tree)
            admitted = bool(codes) or unit.index in changed
            if self.scan_options.gate and not admitted:
                continue
            if not self.scan_options.gate and self._gate.concerns(path, unit.text, tree):
                codes = self._codes
            asked[unit.index] = codes
            try:
                modules[unit.index] = self.module(unit, tree)
                del tree  # much memory
            except SyntaxProblem as problem:
                if not admitted or not self._gate.says_a_word(unit.text):
                    continue  # nothing of Keras can be hidden in it
                if document.kind in ("python", "notebook") or unit.index in changed:
                    raise FileProblem(_syntax(problem, unit)) from problem
                place = _place(problem, unit)
                unparsed.append(unit.index)
                skipped.append(SkippedPart(path, place.cell, place.line, problem.why))
        scan, directives = self._ask(document, data, modules, unparsed, asked)
        scan = replace(scan, skipped=tuple(skipped))
        if document.kind == "notebook" and scan.unreadable is None:
            scan = replace(scan, unreadable=_in_python_2(path, skipped))
        return Examined(document, modules, scan, directives)

    def module(self, unit: Unit, tree: ast.Module | None = None) -> Module:
        """Parse a unit, whatever the gate says; ``tree`` is Python's own of it, if at hand.

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
        asked: Mapping[int, Collection[str]],
    ) -> tuple[FileScan, Directives | None]:
        """Ask every rule about every module. A rule that fails costs its own findings only."""
        findings: set[Finding] = set()
        lines: dict[Place, str] = {}
        anchors: dict[Place, Anchor] = {}
        problems: list[str] = []
        diffs = self._diffs(document, data)
        for index, module in modules.items():
            for finding in self._found_in(module, asked[index], problems):
                lines[finding.place] = module.unit.line_of(finding.place.span.start)
                try:
                    shown = diffs.filled(finding, module) if diffs else finding
                except Exception as error:  # noqa: BLE001
                    problems.append(f"{why(error)} (in the fix of {finding.code})")
                    shown = finding
                findings.add(shown)
            places = [place for place in lines if place.unit == index]
            # They ask where half of the tree stands: not done where nobody looks at them.
            if places and self.scan_options.anchors:
                from kdoctor.engine.identity.finding_identity import anchors_of  # noqa: PLC0415

                anchors |= anchors_of(module, places)
        failed = Unreadable(document.path, problems[0]) if problems else None
        # Where a rule failed, no comment is called unused either.
        unasked = range(len(document.units)) if failed else unparsed
        applied = apply(self._suppressions, document, sorted(findings, key=order), unasked)
        told = list(applied.findings)
        for finding in applied.about_comments:
            unit = document.units[finding.place.unit]
            lines[finding.place] = unit.line_of(finding.place.span.start)
            told.append(diffs.filled(finding, unit) if diffs else finding)
        suppressed = (each.finding for each in applied.suppressed)
        of_use = dict.fromkeys(finding.place for finding in (*told, *suppressed))
        lines = {place: lines[place] for place in of_use}
        scan = FileScan(
            tuple(map(self._kept, sorted(told, key=order))),
            tuple(map(self._kept_suppressed, applied.suppressed)),
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
        """Yield what the rules of some codes say about a module; the rules that fail are named."""
        expected = ExpectedErrors(module)
        comments, texts = CommentGuard(module.text), DebugFStringGuard(module)
        for rule in self._rules:
            if rule.code not in codes:
                continue
            try:
                found = with_room(partial(_checked, rule, module, self._facts))
            except Exception as error:  # noqa: BLE001 - a bug in one rule
                problems.append(f"{why(error)} (in rule {rule.code})")
                continue
            for each in found:
                if not expected.include(each):
                    yield kept(module.path, texts.watched(comments.watched(each)))

    def _diffs(self, document: Document, data: bytes) -> FindingDiffs | None:
        """Return what knows what fixes would change, None where nobody asks for that."""
        diffs, replacements = self.scan_options.diffs, self.scan_options.replacements
        if not (diffs or replacements):
            return None
        from kdoctor.engine.fixes.finding_diffs import FindingDiffs  # noqa: PLC0415

        keeps = partial(self.is_taken_elsewhere, document.path)
        made = FindingDiffs(document, data, keeps, diffs=diffs, replacements=replacements)
        made.style = self.scan_options.style
        return made

    def _kept(self, finding: Finding) -> Finding:
        """Return the finding with as much of its fix as is asked for."""
        if self.scan_options.edits or finding.fix is None:
            return finding
        fix = replace(finding.fix, edits=(), imports=(), drops=())
        return replace(finding, fix=fix)

    def _kept_suppressed(self, silenced: Suppressed) -> Suppressed:
        return replace(silenced, finding=self._kept(silenced.finding))


def with_room(work: Callable[[], _T]) -> _T:
    """Return ``work()``, done once more with more room where a usual stack is too small for it.

    Raises:
        RecursionError: there is no room for it anywhere.
    """
    try:
        return work()
    except RecursionError:
        return on_a_deep_stack(lambda _: work(), None)


def _checked(rule: RuleEntry, module: Module, facts: TargetFacts) -> list[Finding]:
    return list(rule.load().check(module, facts))


class _Question:
    """Whether a rule could fire in a source; to ask it imports the rule."""

    def __init__(self, rule: RuleEntry, facts: TargetFacts) -> None:
        self._rule = rule
        self._facts = facts
        self._holds: Holds | None = None

    def __call__(self, quick: QuickFacts) -> bool:
        if self._holds is None:
            self._holds = trigger_of(self._rule.load().triggers).holds
        return self._holds(quick, self._facts)


def order(finding: Finding) -> tuple[Place, str, str]:
    """Sort findings by place, then by code."""
    return finding.place, finding.code, finding.message


def failed(path: str, error: Exception) -> FileScan:
    """Return the result of a file that could not be handled."""
    lasts = isinstance(error, FileProblem)  # what is wrong with the file itself stays
    return FileScan(unreadable=Unreadable(path, why(error)), lasts=lasts)


def heard(task: Task, scan: FileScan) -> FileScan:
    """Keep, of what the prefilter would have passed over, the findings only.

    So the gate changes nothing of what is reported: a file in which no rule could fire has no
    news, also where it cannot be parsed.
    """
    return (
        scan
        if task.admitted
        else replace(scan, skipped=(), unreadable=None, own_target=None, old_names=())
    )


def why(error: Exception) -> str:
    """Say in one line why a file was not handled."""
    match error:
        case FileProblem():
            return str(error)
        case OSError():
            return f"it cannot be read: {error.strerror or error}"
        case RecursionError():
            return "the code is nested too deeply; split it, or exclude the file"
        case _:
            text = " ".join(str(error).split())
            return f"{INTERNAL_ERROR}: {type(error).__name__}: {text}"


def _syntax(problem: SyntaxProblem, unit: Unit) -> str:
    place = _place(problem, unit)
    cell = "" if place.cell is None else f"cell {place.cell}, "
    where = f"({cell}line {place.line}, column {place.column})"
    old = construct_of_python_2(unit.text, problem.line, problem.why)
    return f"Python 2: {old} {where}; {CURE}" if old else f"{problem.why} {where}"


def _in_python_2(path: str, skipped: Iterable[SkippedPart]) -> Unreadable | None:
    """Say that cells of a notebook are Python 2, and were not checked; None where none is."""
    old = [part for part in skipped if part.python_2]
    if not old:
        return None
    more = f" and {len(old) - 1} more" if len(old) > 1 else ""
    where = f"(cell {old[0].cell}, line {old[0].line}{more})"
    return Unreadable(path, f"Python 2: {old[0].python_2} {where}; {CURE}")


def _place(problem: SyntaxProblem, unit: Unit) -> Place:
    """Say where a syntax error is as the user counts: in a notebook, within the cell."""
    offset = 0
    for _ in range(problem.line - 1):
        offset = unit.text.find("\n", offset) + 1
    offset = min(offset + problem.column - 1, len(unit.text))
    return unit.place(Span(offset, offset))
