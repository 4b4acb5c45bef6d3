"""The rules themselves: every module two levels below this package holds one."""

from __future__ import annotations

from functools import cache, lru_cache

from kdoctor.errors import UsageProblem
from kdoctor.rules.index import places, rule_index
from kdoctor.rules.loading import load_rule
from kdoctor.rules.own import OwnRules, in_use
from kdoctor.rules.redirects import redirected
from kdoctor.rules.rule import Rule


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, ordered by code; also those of one's own that are in use.

    Raises:
        ValueError: one of kdoctor's is not what it must be.
    """
    own = in_use()
    return _with_own(own) if own.rules else built_in_rules()


@lru_cache(maxsize=4)
def _with_own(own: OwnRules) -> tuple[Rule, ...]:
    return tuple(sorted((*built_in_rules(), *own.rules), key=lambda rule: rule.code))


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return every rule of kdoctor's, ordered by code.

    Raises:
        ValueError: a rule is not what it must be: a code or a name twice, another family than its
            folder's, a heading missing.
    """
    rules = sorted(map(load_rule, places()), key=lambda rule: rule.code)
    for attribute in ("code", "name"):
        values = [getattr(rule, attribute) for rule in rules]
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise ValueError(f"two rules with the {attribute} {', '.join(twice)}")
    return tuple(rules)


def rule_by_code(code: str) -> Rule:
    """Return the rule with this code or name, whatever its case. No other is imported.

    Raises:
        UsageProblem: there is none.
    """
    code = redirected(code) or code
    for entry in rule_index():
        if code.upper() == entry.code or code.lower() == entry.name:
            return entry.load()
    raise UsageProblem(f"there is no rule {code!r}; `kdoctor rules` lists them all")
