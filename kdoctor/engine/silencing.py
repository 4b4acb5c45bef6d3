"""What the user's comments make of a file's findings, and what is to be said of the comments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.documents import Document, Unit
from kdoctor.engine.selection import codes_of
from kdoctor.errors import UsageProblem
from kdoctor.model import Finding, Suppressed
from kdoctor.rules import Facts, applies
from kdoctor.rules.index import RuleEntry, rule_index
from kdoctor.rules.suppression import invalid_ignore, unused_ignore
from kdoctor.suppression import Directive, Directives, Entry, Form

FAMILY = "suppression"
_HIDDEN_BESIDE = "its fix would change what a comment tells to leave alone, too"


class Judged(Struct, frozen=True):
    """What is told of a document after its comments were heard.

    ``about_comments`` are the findings on the comments themselves.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    about_comments: tuple[Finding, ...]
    directives: Directives


class Silencer:
    """Hears the comments of one document after the other.

    ``chosen`` are the rules that count in this run. Where they are only such as speak of comments,
    all rules are asked about the code and none of them is told.
    """

    def __init__(
        self, chosen: Collection[RuleEntry], known: Collection[RuleEntry], facts: Facts
    ) -> None:
        self._facts = facts
        self._told = {rule.code for rule in chosen if rule.family == FAMILY}
        on_code = tuple(rule for rule in chosen if rule.family != FAMILY)
        self._comments_only = bool(self._told) and not on_code
        self.asked = (
            tuple(rule for rule in known if rule.family != FAMILY)
            if self._comments_only
            else on_code
        )
        codes = {rule.code for rule in self.asked}
        self._unasked = {
            rule.code for rule in rule_index() if rule.family != FAMILY and rule.code not in codes
        }
        self._able = {rule.code for rule in self.asked if applies(rule, facts)}

    def judge(
        self, document: Document, findings: Iterable[Finding], unparsed: Collection[int]
    ) -> Judged:
        """Part the findings, and find what is wrong with the comments.

        ``unparsed`` are the units that no rule could be asked about. None of the comments in a
        document that has one is called unused.
        """
        directives = Directives(document.units)
        silenced = directives.silence(findings)
        if not directives:
            return Judged(self._heard(silenced.left), (), (), directives)
        about = directives.silence(self._about(directives, judges_use=not unparsed))
        left = _without_fixes_of(silenced.left, silenced.suppressed)
        return Judged(
            self._heard(left),
            () if self._comments_only else silenced.suppressed,
            about.left,
            directives,
        )

    def _heard(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return () if self._comments_only else findings

    def _about(self, directives: Directives, *, judges_use: bool) -> Iterator[Finding]:
        for unit, directive in directives:
            if invalid_ignore.rule.code in self._told:
                yield from _invalid(unit, directive)
            if judges_use and unused_ignore.rule.code in self._told:
                yield from self._unused(directives, unit, directive)

    def _unused(
        self, directives: Directives, unit: Unit, directive: Directive
    ) -> Iterator[Finding]:
        useless = directives.useless(unit, directive)
        if useless is None or (directive.is_blanket and directive.form is Form.NOQA):
            return
        if directive.form is not Form.ON:
            if not directive.is_blanket:
                useless = tuple(entry for entry in useless if self._is_judged(entry))
            elif not self._is_judged(None):
                return
        if useless or directive.is_blanket:
            yield unused_ignore.unused(unit, directive, useless, self._facts)

    def _is_judged(self, entry: Entry | None) -> bool:
        """Say whether all that an entry means was asked, and could have had something to say."""
        if self._facts.target.is_before_keras_3:
            return False  # what is silenced was written for the Keras that the code is to move to
        if entry is None:
            return not self._unasked - _unable(self._facts)
        if entry.is_about_comments:
            return False
        meant = _meant(entry)
        return bool(meant & self._able) and not (meant & self._unasked - _unable(self._facts))


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


@lru_cache(maxsize=8)
def _unable(facts: Facts) -> frozenset[str]:
    """Return the rules that cannot fire on the target."""
    return frozenset(rule.code for rule in rule_index() if not applies(rule, facts))


def _meant(entry: Entry) -> frozenset[str]:
    return frozenset(
        rule.code
        for rule in rule_index()
        if rule.family != FAMILY and entry.covers(rule.code, rule.name)
    )


@lru_cache(maxsize=256)
def _unknown(text: str) -> str:
    """Say why an entry names no rule, nothing where it names one."""
    try:
        codes_of([text])
    except UsageProblem as problem:
        return str(problem)
    return ""
