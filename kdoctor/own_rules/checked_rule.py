"""Hold a rule of one's own to what the engine relies on, each time that it is asked.

What kdoctor's own rules promise, its tests hold them to. A rule of somebody else is held to it
while it runs: what it raises is told with its file and line, and what it reports must be a finding
of this rule, at a place of this file.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from inspect import unwrap
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kdoctor.analysis.triggers import Trigger, trigger_of
from kdoctor.errors import FileProblem
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, Place, Severity, Span
from kdoctor.project.root import shown
from kdoctor.rules.rule import Check, Rule
from kdoctor.syntax.parsing import is_on_a_deep_stack

if TYPE_CHECKING:
    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.syntax import Module
    from kdoctor.syntax.quick_facts import QuickFacts

_MAX_TEXT = 300  # characters of what an error says
_UNPROVEN = "no run of the rule's own examples is recorded that shows it safe"


def checked(rule: Rule, file: str) -> Rule:
    """Return a rule of the file ``file`` that is held to what the engine relies on."""
    failures: list[Exception] = []  # of its trigger, in the file that is asked about
    trigger = trigger_of(rule.triggers)
    return replace(
        rule,
        triggers=replace(trigger, holds=partial(_holds, trigger, failures, file)),
        check=_check(rule, file, failures),
    )


def _holds(
    trigger: Trigger, failures: list[Exception], file: str, quick: QuickFacts, facts: TargetFacts
) -> bool:
    """Say whether a trigger holds; where it fails, the check is asked, which says so."""
    try:
        with _told_of(file):
            return bool(trigger.holds(quick, facts))
    except FileProblem as problem:
        failures[:] = [problem]
        return True


def _check(rule: Rule, file: str, failures: list[Exception]) -> Check:
    def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
        if failures:
            raise failures.pop()
        with _told_of(file):
            found: Any = list(_each(rule.check(module, facts)))
        safe = rule.applicability() is Applicability.SAFE
        for finding in found:
            wrong = _wrong(finding, rule, module)
            if wrong:
                raise FileProblem(f"{_defined(rule.check, file)}: {wrong}")
            yield finding if safe else _unsafe(finding)

    return check


def _each(found: Iterable[Finding] | None) -> Iterable[Finding]:
    if found is None:
        raise TypeError("check returned None: it must yield findings, or return a list of them")
    return found


@contextlib.contextmanager
def _told_of(file: str) -> Iterator[None]:
    """Let what a rule raises be told with its place; what it prints goes to the error stream.

    Raises:
        FileProblem: it raised something.
    """
    try:
        # Standard output is a report, which programs read.
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except FileProblem:
        raise  # what is wrong with the file, not with the rule
    except RecursionError as error:
        if not is_on_a_deep_stack():
            raise  # the engine tries again on a deeper stack
        raise FileProblem(f"{place_of(error, file)}: {raised(error)}") from None
    except (Exception, SystemExit) as error:
        raise FileProblem(f"{place_of(error, file)}: {raised(error)}") from error


def place_of(error: BaseException, file: str) -> str:
    """Return the last place in a rule's folder that an error went through: ``my_rule.py:12``."""
    folder, found = Path(file).parent, (file, 0)
    traced = error.__traceback__
    while traced is not None:
        name = traced.tb_frame.f_code.co_filename
        if Path(name).parent == folder:
            found = name, traced.tb_lineno
        traced = traced.tb_next
    where = shown(Path(found[0]))
    return f"{where}:{found[1]}" if found[1] else where


def raised(error: BaseException) -> str:
    """Return what an error says, on one line."""
    try:
        text = " ".join(str(error).split())[:_MAX_TEXT]
    except Exception:  # noqa: BLE001 - it may be of a class of the rule's own
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _defined(function: Callable[..., object], file: str) -> str:
    code = getattr(unwrap(function), "__code__", None)
    return shown(Path(file)) + ("" if code is None else f":{code.co_firstlineno}")


def _unsafe(finding: Finding) -> Finding:
    """Return a finding whose fix is not called safe: that word comes from the record alone."""
    fix = finding.fix
    if fix is None or fix.applicability is not Applicability.SAFE:
        return finding
    fix = replace(fix, applicability=Applicability.UNSAFE, unsafe_because=_UNPROVEN)
    return replace(finding, fix=fix)


def _wrong(found: Any, rule: Rule, module: Module) -> str:
    """Say what is wrong with something that a rule reports, nothing where all is right."""
    if not isinstance(found, Finding):
        return f"it yields {type(found).__name__}, and must yield rule.finding(…)"
    if (found.code, found.name) != (rule.code, rule.name):
        return f"it reports {found.code} {found.name}: make findings by rule.finding(…)"
    if not (isinstance(found.severity, Severity) and isinstance(found.confidence, Confidence)):
        return "the severity is one of Severity, the confidence one of Confidence"
    texts = (found.message, found.symbol, found.help, found.no_fix_because or "")
    if not (all(isinstance(each, str) for each in texts) and found.message):
        return "message, symbol, help and no_fix_because are texts, and the message is not empty"
    return _wrong_place(found, module) or _wrong_fix(found.fix, found.no_fix_because, module)


def _wrong_place(found: Finding, module: Module) -> str:
    place = found.place
    is_place = isinstance(place, Place) and _is_inside(place.span, module)
    if not is_place or place != module.unit.place(place.span):
        return "it reports a place outside of the file: make it by module.place(node)"
    return ""


def _wrong_fix(fix: Fix | None, reason: str | None, module: Module) -> str:
    if fix is None:
        return "" if reason else "a finding has a fix, or no_fix_because says why there is none"
    if not (isinstance(fix, Fix) and isinstance(fix.applicability, Applicability) and fix.edits):
        return "a fix is Fix(title, edits, applicability), with one edit or more"
    for edit in fix.edits:
        if not (isinstance(edit, Edit) and _is_inside(edit.span, module)):
            return "it edits a place outside of the file: make it by module.span(node)"
        for part in edit.parts:
            if isinstance(part, Hole):
                if not edit.span.covers(part.span):
                    return "a Hole keeps source of its own edit's span, and this one lies outside"
            elif not isinstance(part, str):
                return "the parts of an edit are texts and holes"
    if any(_clash(one, other) for one, other in combinations(dict.fromkeys(fix.edits), 2)):
        return "two edits of its fix overlap, and neither lies in a hole of the other"
    return ""


def _clash(one: Edit, other: Edit) -> bool:
    if one.span.end <= other.span.start or other.span.end <= one.span.start:
        return False
    return not (_keeps(one, other) or _keeps(other, one))


def _keeps(one: Edit, other: Edit) -> bool:
    """Say whether an edit keeps the source that another one changes."""
    return any(isinstance(part, Hole) and part.span.covers(other.span) for part in one.parts)


def _is_inside(span: Any, module: Module) -> bool:
    return isinstance(span, Span) and 0 <= span.start <= span.end <= len(module.text)
