"""A user-defined optimizer that passes no `learning_rate` to its base class."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_BASE, _RATE, _NAME = "Optimizer", "learning_rate", "name"
_ERROR = f"TypeError: BaseOptimizer.__init__() missing 1 required positional argument: '{_RATE}'"
_NO_RATE = f"ValueError: Argument `{_RATE}` should be float"


@rule(
    "KD312",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls("__init__", on=Instance(Kind.OPTIMIZER, _BASE), overridden=True)
    .even(hidden=True)
    .beside(word(_BASE)),
)
def check(init: Call) -> Finding | None:
    """Report each such call."""
    passes_a_name = _passes_a_name(init.call)
    if not _is_of_base(init) or (_may_pass_it(init.call) and not passes_a_name):
        return None
    if is_in_old_optimizer(init.module, init.call):
        return None
    return init.finding(
        f"`Optimizer.__init__` now takes the learning rate first, not the name: {_NO_RATE}"
        if passes_a_name
        else f"`Optimizer.__init__` requires a learning rate: {_ERROR}",
        symbol=f"keras.optimizers.{_BASE}.{_RATE}",
        help=f"Write `super().__init__({_RATE}=…{', name=name' * passes_a_name})`; an "
        "optimizer that only passes gradients to other optimizers never reads it: pass 0.0.",
        fix=NoFix("kdoctor cannot tell which learning rate is meant"),
    )


def _is_of_base(init: Call) -> bool:
    owner, facts = init.owner, init.facts
    if owner is None or owner.qualified is None or not owner.is_of_imported_class:
        return False
    found = facts.lookup(owner.qualified)
    is_there = found.presence is Presence.EXISTS and not found.stub
    return is_there and is_keras_3(facts, owner.qualified)


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
