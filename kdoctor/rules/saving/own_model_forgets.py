"""`Net(rate=0.9)` is saved, and comes back with the default of `rate`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import UNKNOWN, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._default_config import (
    OF_BASE,
    KeptArgument,
    MayHaveConfig,
    UserConfig,
    given_to,
    is_plain,
    kept,
    leaves_it,
    says_its_config,
    takes_keywords,
)
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MADE_THERE = (cst.Call, cst.Dict, cst.Lambda, cst.List, cst.Tuple)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such making of a model."""
    for each in kept(module, facts):
        own = each.own
        if own.kind is not Kind.MODEL or own.wanted or not own.takes_what_is_said:
            continue  # of the others KD613 tells: they are not saved, or not loaded
        lost = _lost(module, each)
        if lost:
            yield _finding(module, facts, each, lost)


def _lost(
    module: Module, made: KeptArgument
) -> dict[str, tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Return what is given and what is the default of each parameter that surely differs."""
    given = given_to(made.own, made.call)
    return {
        name: (value, default)
        for each in made.own.parameters
        if (name := each.name.value) in given and name not in OF_BASE
        if (default := each.default) is not None
        if _differs(module, value := given[name], default)
    }


def _differs(module: Module, value: cst.BaseExpression, default: cst.BaseExpression) -> bool:
    value, default = value_of(module, value), value_of(module, default)
    is_none = literal(default) is None
    if literal(value) is UNKNOWN or literal(default) is UNKNOWN:
        return is_none and isinstance(value, _MADE_THERE)
    return bool(literal(value) != literal(default))


def _finding(
    module: Module,
    facts: TargetFacts,
    made: KeptArgument,
    lost: dict[str, tuple[cst.BaseExpression, cst.BaseExpression]],
) -> Finding:
    name = made.own.node.name.value
    shown = ", ".join(
        f"`{each}` {module.source(default)}, not {module.source(value)}"
        for each, (value, default) in lost.items()
    )
    fix = _fix(module, facts, made.own, [value for value, _ in lost.values()])
    return rule.finding(
        module.place(made.call),
        f"this model is saved or copied as a whole, and comes back with {shown}: Keras 3 does "
        "not record the arguments of a model class",
        symbol=f"{name}.__init__",
        confidence=Confidence.LIKELY,
        help="Write a `get_config` that returns its arguments.",
        fix=fix
        or NoFix("`__init__` does not store its arguments, or more is needed than a `get_config`"),
    )


def _fix(
    module: Module, facts: TargetFacts, own: UserConfig, values: list[cst.BaseExpression]
) -> Fix | None:
    """Return the fix that adds a ``get_config``, where it is all that is needed."""
    keywords = () if own.init.params.star_kwarg is not None else takes_keywords(module, own)
    config = says_its_config(module, own)
    hands_on = any(each.star == "**" for each in own.to_base.args) or keywords
    if keywords is None or config is None or not hands_on or not is_plain(module, values):
        return None
    return Fix(
        "Add a `get_config` that returns its arguments",
        (*keywords, config),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _may_forget(found: MayHaveConfig) -> bool:
    return found.kind is Kind.MODEL and found.takes_what_is_said and not found.wants_arguments


rule = Rule(
    code="KD614",
    name="own-model-forgets",
    family="saving",
    severity=Severity.CHANGE,
    check=check,
    triggers=leaves_it(_may_forget),
    since="3.0",
)
