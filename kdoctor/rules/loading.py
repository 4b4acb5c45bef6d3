"""Import the module of a rule, and see that it is what a rule must be."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache, lru_cache, partial, wraps
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kdoctor.analysis.roots import uses_another_keras, uses_keras_3
from kdoctor.analysis.triggers import trigger_of
from kdoctor.model import Finding
from kdoctor.rules.entry import applies
from kdoctor.rules.rule import FAMILIES, Check, Rule

if TYPE_CHECKING:
    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.syntax import Module

# Families that ask for each name by which Keras it comes from, or that are not about Keras' own.
_BY_ROOT = frozenset({"names", "environment"})


@cache
def load_rule(place: str) -> Rule:
    """Import the rule that lies at a place: ``names.missing_name``.

    Raises:
        ValueError: it is not what it must be: of another family than its folder's.
    """
    return _rule_of(importlib.import_module(f"kdoctor.rules.{place}"))


def _rule_of(module: ModuleType) -> Rule:
    family, stem = module.__name__.split(".")[-2:]
    rule = _rule_in(module)
    wrong = [
        what
        for what, holds in (
            (f"its family is not {family}", rule.family == family),
            (f"its name is not {stem.replace('_', '-')}", rule.name == stem.replace("_", "-")),
            (
                f"its code does not begin with {FAMILIES.get(family)}",
                rule.code.startswith(FAMILIES.get(family, "?")),
            ),
        )
        if not holds
    ]
    if wrong:
        raise ValueError(f"{module.__name__}: {', '.join(wrong)}")
    return completed(rule, module)


def completed(rule: Rule, module: ModuleType) -> Rule:
    """Return a rule with what its module says beside it, and a check for where it can fire."""
    return replace(
        rule,
        check=_where_it_can_fire(rule),
        asks_for_roots=rule.asks_for_roots or rule.family in _BY_ROOT,
        triggers=trigger_of(rule.triggers),
        rewrites=tuple(getattr(module, "REWRITES", ())),
    )


def _rule_in(module: ModuleType) -> Rule:
    """Return the rule of a module: ``rule = Rule(…)``, or what ``@rule(…)`` made of ``check``."""
    found: Rule = module.check if isinstance(module.check, Rule) else module.rule
    return found


def _where_it_can_fire(rule: Rule) -> Check:
    runs_on = lru_cache(maxsize=32)(partial(applies, rule))
    by_root = rule.asks_for_roots or rule.family in _BY_ROOT

    @wraps(rule.check)
    def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
        if not runs_on(facts):
            return
        if not by_root and uses_another_keras(module, facts):
            if rule.only_alone or not uses_keras_3(module, facts):
                return
            module = _only_keras_3(module, facts)
        yield from rule.check(module, facts)

    return check


def _only_keras_3(module: Module, facts: TargetFacts) -> Module:
    from kdoctor.analysis.keras_beside_keras_2 import only_keras_3  # noqa: PLC0415 - few files need it

    return only_keras_3(module, facts)
