"""What the user's comments make of a file's findings, where some rules count and others do not.

Which comment silences which finding, ``kdoctor.suppression.suppressed`` tells: it knows no rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.analysis.facts import Facts
from kdoctor.documents import Document
from kdoctor.model import Finding, Suppressed
from kdoctor.rules import applies
from kdoctor.rules.index import RuleEntry, rule_index
from kdoctor.suppression import is_marked

if TYPE_CHECKING:
    from kdoctor.suppression import Directives

FAMILY = "suppression"


class Judged(Struct, frozen=True):
    """What is told of a document after its comments were heard.

    ``about_comments`` are the findings on the comments themselves; ``directives`` is None where
    nothing in the document looks like one.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    about_comments: tuple[Finding, ...] = ()
    directives: Directives | None = None


class Silencer:
    """Hears the comments of one document after the other.

    ``chosen`` are the rules that count in this run. Where they are only such as speak of comments,
    all rules are asked about the code and none of them is told.
    """

    def __init__(
        self, chosen: Collection[RuleEntry], known: Collection[RuleEntry], facts: Facts
    ) -> None:
        self.facts = facts
        self.told = {rule.code for rule in chosen if rule.family == FAMILY}
        on_code = tuple(rule for rule in chosen if rule.family != FAMILY)
        self.comments_only = bool(self.told) and not on_code
        self.asked = (
            tuple(rule for rule in known if rule.family != FAMILY)
            if self.comments_only
            else on_code
        )
        codes = {rule.code for rule in self.asked}
        self.unasked = {
            rule.code for rule in rule_index() if rule.family != FAMILY and rule.code not in codes
        }
        self.able = {rule.code for rule in self.asked if applies(rule, facts)}

    def judge(
        self, document: Document, findings: Iterable[Finding], unparsed: Collection[int]
    ) -> Judged:
        """Part the findings, and find what is wrong with the comments.

        ``unparsed`` are the units that no rule could be asked about. None of the comments in a
        document that has one is called unused.
        """
        if not any(is_marked(unit.text) for unit in document.units):
            return Judged(self.heard(findings))
        from kdoctor.engine.suppression.unused import judge  # noqa: PLC0415 - most documents have no comment

        return judge(self, document, findings, unparsed)

    def heard(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return those of the findings on code that are told."""
        return () if self.comments_only else tuple(findings)
