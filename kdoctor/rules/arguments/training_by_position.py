"""`self.norm(x, training)`: arguments that are not tensors must be passed by keyword."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import (
    all_by_position,
    binding_of,
    is_builtin,
    is_call_of_super,
    is_keras_3,
)
from kdoctor.analysis.models.user_classes import (
    class_around,
    holds_original_argument,
    kind_of_class,
    only_base,
)
from kdoctor.analysis.queries import Call, CallQuery, applications, called
from kdoctor.analysis.queries.forms import Expression
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.arguments._positional_arguments import (
    CALL,
    FUNCTIONAL,
    KINDS,
    TRAINING,
    parameters,
    parameters_of_super,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Type

_ERROR = "ValueError: Only input tensors may be passed as positional arguments."
_TWICE = "TypeError: Functional.call() got multiple values for argument 'training'"


def _may_be_plain(form: object) -> bool:
    """Say whether it is no tensor, or a name that may hold a bool or count.

    Names are everywhere: only those count that have a default, or that stand for ``range``.
    """
    if isinstance(form, Expression):
        return form.name == TRAINING or (form.kind == "Call" and form.name == "range")
    return isinstance(form, bool | int | float | str | list | tuple)


def _passing_it(calls: CallQuery) -> CallQuery:
    return calls.even(hidden=True).passing_beyond(1, where=_may_be_plain)


@rule(
    "KD315",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_passing_it(applications(KINDS, in_lists=True)) | _passing_it(called(CALL)),
)
def check(call: Call) -> Finding | None:
    """Report each call that passes by position what is no tensor."""
    module, facts = call.module, call.facts
    given = all_by_position(call.node)
    first = next((n for n, each in enumerate(given) if n and _is_plain(module, each)), None)
    is_of_super = is_call_of_super(call.node, CALL)
    owner = _own_class(module, call.node) if is_of_super else call.owner
    if first is None or owner is None or not is_keras_3(facts, owner.qualified):
        return None
    takes = parameters_of_super if is_of_super else parameters
    names = takes(module, facts, owner)
    if names is None:
        return None
    return call.finding(
        f"only tensors may be passed to `{owner.cls}` by position: "
        f"{_TWICE if owner.cls == FUNCTIONAL else _ERROR}",
        at=given[first],
        symbol=f"{owner.cls}.__call__",
        help=f"Pass it by keyword: `{(*names[first:], TRAINING)[0]}=…`.",
        fix=_fix(call, given[first:], names[first:]),
    )


def _own_class(module: Module, node: cst.CSTNode) -> Type | None:
    """Return the class of one's own around a node, where it has one base, which is of Keras."""
    cls = class_around(module, node)
    only = None if cls is None or cls.keywords else only_base(module, cls)
    if cls is None or only is None:
        return None
    name = module.qualified(only)
    base = module.oracle.class_type(name) if name is not None else None
    return None if base is None else Type(base.kind, cls.name.value, base.qualified)


def _is_plain(module: Module, argument: cst.Arg) -> bool:
    """Say whether it is a bool, a number or a text, or a list of such."""
    value = argument.value
    if not isinstance(value, cst.Name):
        found = literal(value)
        several = found if isinstance(found, list | tuple) else [found]
        return bool(several) and all(isinstance(each, int | float | str) for each in several)
    is_bool = isinstance(literal(value), bool) or _holds_a_bool(module, value)
    return is_bool or _counts(module, value)


def _counts(module: Module, name: cst.Name) -> bool:
    """Say whether it is what a loop over Python's `range` counts with."""
    match binding_of(module, name):
        case Binding(
            kind=BindingKind.LOOP, value=cst.Call(func=cst.Name(value="range") as function)
        ):
            return is_builtin(module, function)
    return False


def _holds_a_bool(module: Module, name: cst.Name) -> bool:
    """Say whether it is a parameter that is a bool by default, or ``training`` of a ``call``."""
    for each in module.ancestors(name):
        if not isinstance(each, cst.FunctionDef):
            continue
        for parameter in (*each.params.params, *each.params.kwonly_params):
            if parameter.name.value == name.value:
                is_bool = isinstance(literal(parameter.default), bool) or (
                    name.value == TRAINING and _is_call_of_keras(module, each)
                )
                return is_bool and holds_original_argument(module, name, parameter)
    return False


def _is_call_of_keras(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether it is how a layer or model is called: Keras gives it a bool when it trains."""
    owner = next(iter(each for each in module.ancestors(function) if _is_definition(each)), None)
    return (
        function.name.value in {"call", CALL}
        and isinstance(owner, cst.ClassDef)
        and kind_of_class(module, owner) in KINDS
    )


def _is_definition(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.ClassDef | cst.FunctionDef)


def _fix(call: Call, given: Sequence[cst.Arg], names: Sequence[str]) -> Fix | NoFix:
    if len(given) > len(names):
        return NoFix("the name of its parameter is not known here")
    edits = []
    for each, name in zip(given, names, strict=False):
        start = call.module.outer_span(each.value).start
        edits.append(Edit(Span(start, start), (f"{name}=",)))
    return call.fix(f"Pass `{names[0]}` by keyword", *edits)
