"""Code for several targets: findings of each, and fixes that break none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, Protocol

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Document, Unit
from kdoctor.engine.fixes.apply_edits import texts_of
from kdoctor.engine.result import Anchor, FileScan
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.errors import FileProblem
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Applicability, Finding, Fix, Place, Suppressed
from kdoctor.rules.environment._pin_rule import CODE as PINS
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.target import Target

_ABOUT_COMMENTS: Final = "KD9"
_NOT_SHOWN: Final = "no run has shown that the new code does the same on {}"
_ONE_OF_SEVERAL: Final = "the code is to run on {} as well, which is to be mended first"


class Examined(Protocol):
    """A document that was looked at for one target."""

    @property
    def document(self) -> Document:
        """The document."""

    @property
    def modules(self) -> Mapping[int, Module]:
        """Its parsed modules, by the index of the unit."""

    @property
    def scan(self) -> FileScan:
        """What was found."""

    def source(self, index: int) -> Module | Unit:
        """Return a unit's module, or the unit itself if it was not parsed."""


class Examiner(Protocol):
    """What looks at a document for one target."""

    @property
    def scan_options(self) -> ScanOptions:
        """The options, with the target."""

    def examine(
        self,
        path: str,
        data: bytes,
        *,
        like: Document | None = None,
        changed: Collection[int] = (),
    ) -> Examined:
        """Parse a file and run every rule on it."""

    def module(self, unit: Unit) -> Module:
        """Parse a unit."""

    def may_be_imported_elsewhere(self, path: str, binding: ImportBinding) -> bool:
        """Say whether another file may import a binding."""


class OtherTargets:
    """Looks at files for other targets beside that of an examiner."""

    def __init__(self, examiner: Examiner, others: Sequence[Examiner]) -> None:
        self._examiner = examiner
        self._others = others

    def merged(self, examined: Examined, data: bytes) -> FileScan:
        """Return what is found for any of the targets.

        A finding that is not one of all says on which it is one. A fix stays where no target loses
        by it.

        Raises:
            FileProblem: the file cannot be parsed.
        """
        path = examined.document.path
        theirs = [other.examine(path, data) for other in self._others]
        scans = (examined.scan, *(each.scan for each in theirs))
        places = [{(each.place, each.code) for each in scan.findings} for scan in scans]
        found: dict[tuple[Place, str, str], Finding] = {}
        trial = _Trial(self._examiner, examined, list(zip(self._others, theirs, strict=True)))
        for number, scan in enumerate(scans):
            for finding in scan.findings:
                key = finding.place, finding.code
                on = [at for at, each in enumerate(places) if key in each]
                if finding.code.startswith(_ABOUT_COMMENTS):
                    # Once, and not of a comment that silences what another target has.
                    if number == 0 and not _is_of_use(finding, scans[1:]):
                        found[*key, finding.message] = finding
                    continue
                if number != on[0] and key in places[on[0]]:
                    continue
                shown = (
                    trial.with_fix_for_all(finding) if number == 0 else self._without_fix(finding)
                )
                found[*key, finding.message] = self._located(shown, on)
        return _with(scans, sorted(found.values(), key=_order))

    def _targets(self) -> list[Target]:
        return [each.scan_options.target for each in (self._examiner, *self._others)]

    def _located(self, finding: Finding, on: Sequence[int]) -> Finding:
        """Return a finding that says on which of the targets it is one."""
        targets = self._targets()
        if len(on) == len(targets):
            return finding
        named = " and ".join(str(targets[each]) for each in on)
        return replace(finding, message=f"{finding.message} (on {named})")

    def _without_fix(self, finding: Finding) -> Finding:
        """Return a finding of an older target alone: its fix was not tried on the newer."""
        if finding.fix is None:
            return finding
        why = _ONE_OF_SEVERAL.format(self._targets()[0])
        return replace(finding, fix=None, no_fix_because=why)


class _Trial:
    """Tries the fixes of one file on the other targets."""

    def __init__(
        self,
        examiner: Examiner,
        examined: Examined,
        others: Sequence[tuple[Examiner, Examined]],
    ) -> None:
        self._examiner = examiner
        self._examined = examined
        self._others = others
        self._refused: dict[tuple[str, str], str] = {}  # by rule and title: the same new code
        self._old = cache(self._old_module)

    def with_fix_for_all(self, finding: Finding) -> Finding:
        """Return a finding with its fix, if no other target loses by it."""
        fix = finding.fix
        if fix is None:
            return finding
        key = finding.code, fix.title
        why = self._refused.get(key) or self._loss(finding, fix)
        if why:
            self._refused[key] = why
            return replace(finding, fix=None, no_fix_because=why)
        if fix.applicability is not Applicability.SAFE:
            return finding
        not_shown = [target for target, safe in self._rated(finding) if not safe]
        if not not_shown:
            return finding
        because = _NOT_SHOWN.format(" and ".join(map(str, not_shown)))
        return replace(
            finding,
            fix=replace(fix, applicability=Applicability.UNSAFE, unsafe_because=because),
        )

    def _rated(self, finding: Finding) -> Iterator[tuple[Target, bool]]:
        """Yield the other targets, and whether the same fix is offered there as a safe one."""
        for other, examined in self._others:
            same = (
                each.fix is not None
                and finding.fix is not None
                and each.fix.applicability is Applicability.SAFE
                and (each.fix.edits, each.fix.imports) == (finding.fix.edits, finding.fix.imports)
                for each in examined.scan.findings
                if (each.place, each.code) == (finding.place, finding.code)
            )
            yield other.scan_options.target, any(same)

    def _loss(self, finding: Finding, fix: Fix) -> str:
        """Say what a fix costs another target, "" where it costs none anything."""
        document, index = self._examined.document, finding.place.unit
        if finding.code == PINS:
            return f"{self._others[0][0].scan_options.target} is to be installed as well"
        keeps = partial(self._examiner.may_be_imported_elsewhere, document.path)
        style = self._examiner.scan_options.style
        texts = texts_of(self._examined.source(index), [fix], keeps, style)
        after = document.replace({index: texts})
        for number, (other, before) in enumerate(self._others):
            target = other.scan_options.target
            try:
                new = other.examine(document.path, after, like=document, changed=(index,))
            except FileProblem as problem:
                return f"its result cannot be checked for {target}: {problem}"
            more = _kinds(new.scan) - _kinds(before.scan)
            worse = next((each for each in new.scan.findings if _kind(each) in more), None)
            if worse is not None:
                return f"on {target}, {worse.message.partition(':')[0]}"
            module = new.modules.get(index)
            facts = TargetFacts(target)
            old = self._old(number, index)
            lacks = "" if module is None else next(_lacking(module, old, facts), "")
            if lacks:
                return f"on {target}, {lacks}"
        return ""

    def _old_module(self, number: int, index: int) -> Module:
        """Return a unit as another target reads it, which parsed it where a rule may say more."""
        other, before = self._others[number]
        return before.modules.get(index) or other.module(before.document.units[index])


def _lacking(new: Module, old: Module, facts: TargetFacts) -> Iterator[str]:
    """Yield what new code uses that the target does not have: keywords and members."""
    for name, keyword in sorted(set(_keywords(new)) - set(_keywords(old))):
        signature = facts.signature(name)
        if signature is None or signature.takes_any_keyword:
            continue
        if signature.parameter(keyword) is None:
            yield f"`{name}` has no `{keyword}`"
    members = _attributes(new) - _attributes(old)
    for use in new.members_named(*sorted(members)) if members else ():
        if not use.owner_defines and facts.member(use.owner, use.member) is Presence.MISSING:
            yield f"`{use.owner.cls or use.owner.kind}` has no `{use.member}`"


def _keywords(module: Module) -> Iterator[tuple[str, str]]:
    for node in descendants(module.tree):
        if isinstance(node, cst.Call) and any(each.keyword for each in node.args):
            name = module.qualified(node.func)
            if name is not None and split_root(name) is not None:
                yield from ((name, each.keyword.value) for each in node.args if each.keyword)


def _attributes(module: Module) -> frozenset[str]:
    return frozenset(
        node.attr.value for node in descendants(module.tree) if isinstance(node, cst.Attribute)
    )


def _is_of_use(about: Finding, scans: Sequence[FileScan]) -> bool:
    """Say whether the comment that a finding is about silences something in one of the scans."""
    place = about.place
    comments = (each.comment for scan in scans for each in scan.suppressed)
    return any(each.unit == place.unit and each.span.covers(place.span) for each in comments)


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.symbol


def _kinds(scan: FileScan) -> Counter[tuple[str, str]]:
    return Counter(_kind(each) for each in scan.findings)


def _order(finding: Finding) -> tuple[Place, str, str]:
    return finding.place, finding.code, finding.message


def _with(scans: Sequence[FileScan], findings: Sequence[Finding]) -> FileScan:
    """Return the scan of the first target with what all of them know of places."""
    lines: dict[Place, str] = {}
    anchors: dict[Place, Anchor] = {}
    regions: dict[Place, object] = {}
    suppressed: dict[tuple[Place, str], Suppressed] = {}
    for scan in scans:
        lines = {**scan.lines, **lines}
        anchors = {**scan.anchors, **anchors}
        regions = {**scan.regions, **regions}
        for each in scan.suppressed:
            suppressed.setdefault((each.finding.place, each.finding.code), each)
    return replace(
        scans[0],
        findings=tuple(findings),
        suppressed=tuple(suppressed.values()),
        lines=lines,
        anchors=anchors,
        regions=regions,
        lasts=all(scan.lasts for scan in scans),
    )
