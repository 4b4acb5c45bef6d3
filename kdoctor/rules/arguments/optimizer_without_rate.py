"""A user-defined optimizer that passes no `learning_rate` to its base class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.triggers import calls, word
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_BASE, _RATE, _NAME = "Optimizer", "learning_rate", "name"
_ERROR = f"TypeError: BaseOptimizer.__init__() missing 1 required positional argument: '{_RATE}'"
_NO_RATE = f"ValueError: Argument `{_RATE}` should be float"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for use in module.members:
        if use.member != "__init__" or use.called is None or use.owner.kind is not Kind.OPTIMIZER:
            continue
        passes_a_name = _passes_a_name(use.called)
        if not _is_of_base(facts, use) or (_may_pass_it(use.called) and not passes_a_name):
            continue
        if module.is_guarded(use.node) or is_in_old_optimizer(module, use.node):
            continue
        yield rule.finding(
            module.place(use.called),
            f"`Optimizer.__init__` now takes the learning rate first, not the name: {_NO_RATE}"
            if passes_a_name
            else f"`Optimizer.__init__` requires a learning rate: {_ERROR}",
            symbol=f"keras.optimizers.{_BASE}.{_RATE}",
            confidence=use.confidence,
            help=f"Write `super().__init__({_RATE}=…{', name=name' * passes_a_name})`; an "
            "optimizer that only passes gradients to other optimizers never reads it: pass 0.0.",
            fix=NoFix("kdoctor cannot tell which learning rate is meant"),
        )


def _is_of_base(facts: TargetFacts, use: MemberUse) -> bool:
    qualified = use.owner.qualified or ""
    if use.owner.cls != _BASE or not use.owner.is_of_imported_class:
        return False
    found = facts.lookup(qualified)
    return found.presence is Presence.EXISTS and not found.stub and is_keras_3(facts, qualified)


def _may_pass_it(call: cst.Call) -> bool:
    """Say whether a rate is passed, or may be among what is not seen."""
    return any(
        each.keyword is None or each.keyword.value == _RATE for each in call.args
    )  # `*args` and `**kwargs` have no keyword, too


def _passes_a_name(call: cst.Call) -> bool:
    """Say whether what is passed first is plainly a name: text, or a variable called so."""
    match call.args:
        case [cst.Arg(keyword=None, star="", value=cst.Name(value=name)), *_]:
            return name == _NAME
        case [cst.Arg(keyword=None, star="", value=value), *_]:
            return isinstance(value, cst.SimpleString | cst.FormattedString)
    return False


def _may_lack_it(_: TargetFacts, called: QuickCall) -> bool:
    match called.node.args:
        case [ast.Name(id=name), *_]:
            return name == _NAME
        case [ast.Constant() | ast.JoinedStr(), *_]:
            return True
    return not called.places and not called.is_hidden and _RATE not in called.keywords


rule = Rule(
    code="KD312",
    name="optimizer-without-rate",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_BASE) & calls(_may_lack_it, "__init__"),
    since="3.0",
)
