"""The rules themselves: every module two levels below this package holds one."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec.structs import replace
from packaging.version import Version

from kdoctor.analysis.roots import uses_another_keras, uses_keras_3
from kdoctor.analysis.triggers import trigger_of
from kdoctor.errors import UsageProblem
from kdoctor.model import Finding
from kdoctor.rules.index import RuleEntry, places, rule_index
from kdoctor.rules.rule import FAMILIES, HEADINGS, Check, Rule

if TYPE_CHECKING:
    from kdoctor.analysis.facts import Facts
    from kdoctor.syntax import Module

# Families that ask for each name by which Keras it comes from, or that are not about Keras' own.
_BY_ROOT = frozenset({"names", "environment"})


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, ordered by code.

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
    for entry in rule_index():
        if code.upper() == entry.code or code.lower() == entry.name:
            return entry.load()
    raise UsageProblem(f"there is no rule {code!r}; `kdoctor rules` lists them all")


@cache
def load_rule(place: str) -> Rule:
    """Import the rule that lies at a place: ``names.missing_name``.

    Raises:
        ValueError: it is not what it must be: of another family than its folder's, without a
            heading.
    """
    return _rule_of(importlib.import_module(f"kdoctor.rules.{place}"))


def _rule_of(module: ModuleType) -> Rule:
    family, stem = module.__name__.split(".")[-2:]
    rule: Rule = module.rule
    wrong = [
        what
        for what, holds in (
            (f"its family is not {family}", rule.family == family),
            (f"its name is not {stem.replace('_', '-')}", rule.name == stem.replace("_", "-")),
            (
                f"its code does not begin with {FAMILIES.get(family)}",
                rule.code.startswith(FAMILIES.get(family, "?")),
            ),
            ("its docstring lacks a heading", _has_all_headings(module)),
        )
        if not holds
    ]
    if wrong:
        raise ValueError(f"{module.__name__}: {', '.join(wrong)}")
    return replace(
        rule,
        check=_where_it_can_fire(rule),
        asks_for_roots=rule.asks_for_roots or rule.family in _BY_ROOT,
        triggers=trigger_of(rule.triggers),
        docs=(module.__doc__ or "").strip(),
        valid=tuple(module.VALID),
        invalid=tuple(module.INVALID),
        rewrites=tuple(getattr(module, "REWRITES", ())),
    )


def _has_all_headings(module: ModuleType) -> bool:
    lines = (module.__doc__ or "").splitlines()
    return [line for line in lines if line.startswith("## ")] == list(HEADINGS)


def _where_it_can_fire(rule: Rule) -> Check:
    runs_on = lru_cache(maxsize=32)(partial(applies, rule))
    by_root = rule.asks_for_roots or rule.family in _BY_ROOT

    def check(module: Module, facts: Facts) -> Iterator[Finding]:
        if not runs_on(facts):
            return
        if not by_root and uses_another_keras(module, facts):
            if rule.only_alone or not uses_keras_3(module, facts):
                return
            module = _only_keras_3(module, facts)
        yield from rule.check(module, facts)

    return check


def _only_keras_3(module: Module, facts: Facts) -> Module:
    from kdoctor.analysis.keras_beside_keras_2 import only_keras_3  # noqa: PLC0415 - few files need it

    return only_keras_3(module, facts)


def applies(rule: Rule | RuleEntry, facts: Facts) -> bool:
    """Say whether the rule can fire for ``keras`` or for ``tf.keras`` on this target."""
    return (bool(facts.namespace) or not rule.only_with_namespace) and any(
        (rule.since is None or _version(rule.since) <= _version(version))
        and (rule.until is None or _version(version) < _version(rule.until))
        for version in (facts.target.keras_version, facts.target.tf_keras_version)
        if version
    )


_version = lru_cache(maxsize=256)(Version)
