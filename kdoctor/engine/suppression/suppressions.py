"""Which rules run and which are reported, for suppression comments.

``kdoctor.suppression.match_findings`` tells which comment silences which finding: it knows no
rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Finding, Suppressed
from kdoctor.rules import applies
from kdoctor.rules.entry import RuleEntry
from kdoctor.rules.index import rule_index

if TYPE_CHECKING:
    from kdoctor.suppression import Directives

FAMILY = "suppression"


class Applied(Struct, frozen=True):
    """The reported findings of a document, after its suppression comments.

    ``about_comments`` are the findings on the comments themselves; ``directives`` is None where
    nothing in the document looks like one.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    about_comments: tuple[Finding, ...] = ()
    directives: Directives | None = None


class Suppressions:
    """The rules that run and those that are reported, for one document at a time.

    ``chosen`` are the rules that count in this run. Where they are only such as speak of comments,
    all rules run on the code and none of them is reported.
    """

    def __init__(
        self, chosen: Collection[RuleEntry], known: Collection[RuleEntry], facts: TargetFacts
    ) -> None:
        self.facts = facts
        self.reported_codes = {rule.code for rule in chosen if rule.family == FAMILY}
        on_code = tuple(rule for rule in chosen if rule.family != FAMILY)
        self.comments_only = bool(self.reported_codes) and not on_code
        self.rules_to_run = (
            tuple(rule for rule in known if rule.family != FAMILY)
            if self.comments_only
            else on_code
        )
        codes = {rule.code for rule in self.rules_to_run}
        self.codes_not_run = {
            rule.code for rule in rule_index() if rule.family != FAMILY and rule.code not in codes
        }
        self.applicable_codes = {rule.code for rule in self.rules_to_run if applies(rule, facts)}

    def reported(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings on code whose rules are reported."""
        return () if self.comments_only else tuple(findings)
