"""Apply suppression comments; report unused or malformed ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Unit
from kdoctor.engine.selection.codes import codes_beyond_its_text, codes_of, may_be_withheld
from kdoctor.engine.suppression.suppressions import FAMILY, Applied, Suppressions
from kdoctor.errors import UsageProblem
from kdoctor.model import Finding, Suppressed
from kdoctor.rules import applies
from kdoctor.rules.index import rule_index
from kdoctor.rules.own import OwnRules, in_use
from kdoctor.rules.suppression import invalid_ignore, unused_ignore
from kdoctor.suppression import Directive, Directives, Entry, Form

_HIDDEN_BESIDE = "its fix would also change code that a suppression comment protects"


def apply_comments(
    suppressions: Suppressions,
    parts: Sequence[Unit],
    findings: Iterable[Finding],
    unparsed: Collection[int],
) -> Applied:
    """Split findings by suppression comments, and report bad comments."""
    directives = Directives(parts, codes_beyond_its_text)
    silenced = directives.apply(findings)
    if not directives:
        return Applied(suppressions.reported(silenced.left), directives=directives)
    about = directives.apply(_about(suppressions, directives, judges_use=not unparsed))
    left = _without_fixes_of(silenced.left, silenced.suppressed)
    return Applied(
        suppressions.reported(left),
        () if suppressions.comments_only else silenced.suppressed,
        about.left,
        directives,
    )


def _about(
    suppressions: Suppressions, directives: Directives, *, judges_use: bool
) -> Iterator[Finding]:
    for unit, directive in directives:
        if invalid_ignore.rule.code in suppressions.reported_codes:
            yield from _invalid(unit, directive)
        if judges_use and unused_ignore.rule.code in suppressions.reported_codes:
            yield from _unused(suppressions, directives, unit, directive)


def _unused(
    suppressions: Suppressions, directives: Directives, unit: Unit, directive: Directive
) -> Iterator[Finding]:
    unused_entries = directives.unused_entries(unit, directive)
    if unused_entries is None or (directive.is_blanket and directive.form is Form.NOQA):
        return
    if directive.form is not Form.ON:
        if not directive.is_blanket:
            unused_entries = tuple(
                entry for entry in unused_entries if _is_decided(suppressions, entry)
            )
        elif not _is_decided(suppressions, None):
            return
    if unused_entries or directive.is_blanket:
        yield unused_ignore.unused(unit, directive, unused_entries)


def _is_decided(suppressions: Suppressions, entry: Entry | None) -> bool:
    """Say whether all rules of an entry ran, and at least one could have reported."""
    if suppressions.facts.target.is_before_keras_3:
        return False  # what is silenced was written for the Keras that the code is to move to
    if entry is None:
        return not suppressions.codes_not_run - _unable(suppressions.facts)
    if entry.is_about_comments:
        return False
    codes = _meant(entry)
    return bool(codes & suppressions.applicable_codes) and not (
        codes & suppressions.codes_not_run - _unable(suppressions.facts)
    )


def _invalid(unit: Unit, directive: Directive) -> Iterator[Finding]:
    if directive.form is Form.UNKNOWN:
        yield invalid_ignore.not_understood(unit, directive)
    for entry in directive.entries:
        if problem := _unknown(entry.text):
            yield invalid_ignore.unknown_rule(unit, directive, entry, problem)


def _without_fixes_of(
    findings: tuple[Finding, ...], suppressed: Collection[Suppressed]
) -> tuple[Finding, ...]:
    """Take away the fixes that cure something silenced, too."""
    hidden = {each.finding.fix for each in suppressed if each.finding.fix is not None}
    return tuple(
        replace(finding, fix=None, no_fix_because=_HIDDEN_BESIDE)
        if finding.fix in hidden
        else finding
        for finding in findings
    )


def _unable(facts: TargetFacts) -> frozenset[str]:
    """Return the rules that cannot fire on the target."""
    return _unable_beside(in_use(), facts)


@lru_cache(maxsize=8)
def _unable_beside(_: OwnRules, facts: TargetFacts) -> frozenset[str]:
    return frozenset(rule.code for rule in rule_index() if not applies(rule, facts))


def _meant(entry: Entry) -> frozenset[str]:
    return frozenset(
        rule.code
        for rule in rule_index()
        if rule.family != FAMILY and entry.covers(rule.code, rule.name)
    )


def _unknown(text: str) -> str:
    """Say why an entry names no rule, nothing where it names one."""
    return _unknown_beside(in_use(), text)


@lru_cache(maxsize=256)
def _unknown_beside(_: OwnRules, text: str) -> str:
    try:
        codes_of([text])
    except UsageProblem as problem:
        return "" if may_be_withheld(text) else str(problem)
    return ""
