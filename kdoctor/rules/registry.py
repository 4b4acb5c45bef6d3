"""Find the rules: every module two levels below this package holds one."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import TYPE_CHECKING

from packaging.version import Version

from kdoctor.errors import UsageProblem
from kdoctor.model import Finding
from kdoctor.rules.roots import uses_another_keras
from kdoctor.rules.rule import FAMILIES, HEADINGS, Check, Rule
from kdoctor.rules.triggers import trigger_of

if TYPE_CHECKING:
    from kdoctor.rules.facts import Facts
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
    rules = sorted((_rule_of(module) for module in _modules()), key=lambda rule: rule.code)
    for attribute in ("code", "name"):
        values = [getattr(rule, attribute) for rule in rules]
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise ValueError(f"two rules with the {attribute} {', '.join(twice)}")
    return tuple(rules)


def rule_by_code(code: str) -> Rule:
    """Return the rule with this code or name, whatever its case.

    Raises:
        UsageProblem: there is none.
    """
    for rule in all_rules():
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    raise UsageProblem(f"there is no rule {code!r}; `kdoctor rules` lists them all")


def _modules() -> Iterator[ModuleType]:
    package = importlib.import_module("kdoctor.rules")
    for family in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
        if not family.ispkg:
            continue
        folder = importlib.import_module(f"{package.__name__}.{family.name}")
        for found in sorted(pkgutil.iter_modules(folder.__path__), key=lambda found: found.name):
            # A leading underscore marks what several rules of a family share.
            if not found.name.startswith("_"):
                yield importlib.import_module(f"{folder.__name__}.{found.name}")


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
    return dataclasses.replace(
        rule,
        check=_where_it_can_fire(rule),
        asks_for_roots=rule.asks_for_roots or rule.family in _BY_ROOT,
        triggers=trigger_of(rule.triggers),
        docs=inspect.getdoc(module) or "",
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
        if runs_on(facts) and (by_root or not uses_another_keras(module, facts)):
            yield from rule.check(module, facts)

    return check


def applies(rule: Rule, facts: Facts) -> bool:
    """Say whether the rule can fire for ``keras`` or for ``tf.keras`` on this target."""
    return (bool(facts.namespace) or not rule.only_with_namespace) and any(
        (rule.since is None or Version(rule.since) <= Version(version))
        and (rule.until is None or Version(version) < Version(rule.until))
        for version in (facts.target.keras_version, facts.target.tf_keras_version)
        if version
    )
