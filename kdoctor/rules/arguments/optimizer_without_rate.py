"""A user-defined optimizer that passes no `learning_rate` to its base class."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword, arguments, call_of_super, is_keras_3
from kdoctor.analysis.models.user_classes import is_in_old_optimizer, member_of_self, methods_in
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.analysis.queries.forms import Expression, form_of
from kdoctor.keras_api import Presence
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.idioms._optimizers.whole import is_rewritten
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_BASE, _RATE, _NAME = "Optimizer", "learning_rate", "name"
_ERROR = f"TypeError: BaseOptimizer.__init__() missing 1 required positional argument: '{_RATE}'"
_NO_RATE = f"ValueError: Argument `{_RATE}` should be float"
_UNKNOWN = "kdoctor cannot tell which learning rate is meant"
_RATES = ("learning_rate", "lr")
_APPLY = frozenset({"apply", "apply_gradients", "stateless_apply"})
_READ_IT = frozenset(
    {
        *("learning_rate", "_learning_rate", "_build_learning_rate", "update_step"),
        *("_get_current_learning_rate", "_backend_apply_gradients", "_backend_update_step"),
        *("minimize", "set_weights", "load_own_variables", "save_own_variables"),
    }
)
_TAKEN = "the parameter of `__init__` is taken for the learning rate because of its name"
_IN_A_CONFIG = (
    f"where an optimizer is made from a config of Keras 3, `**` holds `{_RATE}` as well, and it is "
    "passed twice"
)
_INIT = calls("__init__", on=Instance(Kind.OPTIMIZER, _BASE), overridden=True)


def _is_a_name(form: object) -> bool:
    """Say whether it is plainly a name: text, or a variable called so."""
    if isinstance(form, Expression):
        return form.kind == "JoinedStr" or (form.kind, form.name) == ("Name", _NAME)
    return isinstance(form, str)


@rule(
    "KD312",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_INIT.even(hidden=True).passing_one_of([("", 0)]) | _INIT.without(_RATE, 0),
)
def check(init: Call) -> Finding | None:
    """Report each such call."""
    first = init.argument("", 0)
    if first is not None and not _is_a_name(form_of(first.value)):
        return None
    if not _is_of_base(init) or is_in_old_optimizer(init.module, init.call):
        return None
    if is_rewritten(init.module, init.facts, init.call):
        return None  # KD524
    passes_a_name = first is not None
    return init.finding(
        f"`Optimizer.__init__` now takes the learning rate first, not the name: {_NO_RATE}"
        if passes_a_name
        else f"`Optimizer.__init__` requires a learning rate: {_ERROR}",
        symbol=f"keras.optimizers.{_BASE}.{_RATE}",
        help=f"Write `super().__init__({_RATE}=…{', name=name' * passes_a_name})`; an "
        "optimizer that only passes gradients to other optimizers never reads it: pass 0.0.",
        fix=_fix(init, passes_a_name=passes_a_name),
    )


def _fix(init: Call, *, passes_a_name: bool) -> Fix | NoFix:
    """Pass the rate that the class was given, or any where it never reads one."""
    given = arguments(init.call)
    by_position = [each for each in given if not each.keyword and each.star != "**"]
    if len(by_position) > passes_a_name:
        return NoFix("what else is passed by position has another place in Keras 3")
    if passes_a_name and (init.argument(_RATE) or init.argument(_NAME)):
        return NoFix("it passes the same argument by position and by keyword")
    inside = list(init.module.ancestors(init.call))
    method = next((each for each in inside if isinstance(each, cst.FunctionDef)), None)
    cls = next((each for each in inside if isinstance(each, cst.ClassDef)), None)
    if method is None or cls is None:
        return NoFix(_UNKNOWN)
    rate, reasons = _parameter(method), [_TAKEN]
    if not rate and _only_passes_on(cls):
        rate, reasons = "0.0", []
    if not rate:
        return NoFix(_UNKNOWN)
    if rate != _RATE and any(each.star for each in given):
        reasons.append(_IN_A_CONFIG)
    return init.fix(
        f"Pass `{_RATE}={rate}`",
        _passing(init, f"{_RATE}={rate}", passes_a_name=passes_a_name),
        unsafe_because="; ".join(reasons),
    )


def _passing(init: Call, rate: str, *, passes_a_name: bool) -> Edit:
    """Return the edit that puts the rate before all else, which is passed by keyword then."""
    given = arguments(init.call)
    if not given:
        return add_keyword(init.module, init.call, rate)
    first = given[0]
    start = init.module.outer_span(first.keyword or first.value).start
    return Edit(Span(start, start), (f"{rate}, {_NAME}=" if passes_a_name else f"{rate}, ",))


def _parameter(method: cst.FunctionDef) -> str:
    """Return the parameter that is a learning rate by its name, "" where there is none."""
    parameters = method.params
    every = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    for each in every:
        if each.name.value in _RATES:
            is_left_out = each.default is not None and literal(each.default) is None
            return "" if is_left_out else each.name.value
    return ""


def _only_passes_on(cls: cst.ClassDef) -> bool:
    """Say whether the class applies gradients itself, and nothing in it asks for its rate.

    On Keras 2 such a class has none: `learning_rate` raises, so no program that ran has read it.
    """
    methods = methods_in(cls)
    applied = _APPLY & methods.keys()
    read = _READ_IT - ({_RATE} & methods.keys())  # a property of its own is another's rate
    if not applied or read & methods.keys():
        return False
    of_base = {_of_super(each) for each in descendants(cls)}
    of_self = {
        member_of_self(each, method) for method in methods.values() for each in descendants(method)
    }
    return not of_base & (_READ_IT | _APPLY) and not of_self & (read | (_APPLY - applied))


def _of_super(node: cst.CSTNode) -> str:
    found = call_of_super(node)
    return found[0] if found is not None else ""


def _is_of_base(init: Call) -> bool:
    owner, facts = init.owner, init.facts
    if owner is None or owner.qualified is None or not owner.is_of_imported_class:
        return False
    found = facts.lookup(owner.qualified)
    is_there = found.presence is Presence.EXISTS and not found.stub
    return is_there and is_keras_3(facts, owner.qualified)
