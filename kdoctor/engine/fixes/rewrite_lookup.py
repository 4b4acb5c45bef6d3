"""Look up the rewrites that the rules have for a name."""

from __future__ import annotations

from dataclasses import dataclass

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import trigger_of
from kdoctor.keras_api import newest_target, split_root
from kdoctor.model import Applicability
from kdoctor.rules import all_rules


@dataclass(frozen=True, slots=True)
class RewriteAnswer:
    """One rewrite of a name: its rule, both sides, condition and applicability."""

    code: str
    left: str
    right: str
    when: str
    applicability: Applicability


@dataclass(frozen=True, slots=True)
class RewriteLookup:
    """The rewrites of a name, and the codes of rules that check it."""

    rewrites: tuple[RewriteAnswer, ...] = ()
    rules: tuple[str, ...] = ()


def rewrite_lookup_of(name: str, member: str = "") -> RewriteLookup:
    """Return the rewrites of a root-relative name, and the rules about a member.

    >>> rewrite_lookup_of("backend.square").rewrites[0].right                   # doctest: +SKIP
    'keras.ops.square(x)'
    """
    facts = TargetFacts(newest_target())
    found = [
        RewriteAnswer(
            rule.code,
            rewrite.left,
            rewrite.right,
            "" if rewrite.when is None else rewrite.when.condition,
            facts.applicability(rewrite),
        )
        for rule in all_rules()
        for rewrite in rule.rewrites
        if _name_of(rewrite.left) == name
    ]
    codes = [
        rule.code for rule in all_rules() if member and member in trigger_of(rule.triggers).words
    ]
    return RewriteLookup(tuple(found), tuple(sorted(set(codes))))


def _name_of(left: str) -> str:
    split = split_root(left.partition("(")[0])
    return split[1] if split else ""
