"""Uses of ``keras.backend`` that become another statement, or change more than one call."""

from __future__ import annotations

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.dataflow.statements import remove_statement
from kdoctor.analysis.models.user_classes import is_old_optimizer, kind_of_class
from kdoctor.analysis.tensors.symbolic import (
    has_other_sizes_known,
    infer_size_fix,
    is_inferable_reshape_size,
)
from kdoctor.model import Applicability, Edit, Fix, Hole, NoFix, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.source_lines import margin
from kdoctor.rules.names._backend.sessions import without_session
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_RATES = ("lr", "learning_rate")
_OPTIMIZERS = ("optimizer", "opt")
_VARIABLES = (*_RATES, "_learning_rate", "iterations")  # of every optimizer of Keras 3
_VARIABLE_MAKERS = ("Variable", "add_variable", "add_weight", "variable")
_A_NUMBER = (
    "`{}` of an optimizer is a number in Keras 3, not a variable, and training continues with the "
    "value it was compiled with"
)
_MAY_BE_ANOTHER = "kdoctor takes it for an optimizer because of its name only"
_NO_LOOP = "the argument may not be a list of (variable, value) pairs"


def special_fix(
    module: Module, name: str, call: cst.Call, proven: dict[str, Applicability]
) -> Fix | NoFix | None:
    """Return the fix of a use that no template can say; None where a template is to be tried.

    ``proven`` says, by name, how safe the run of an example has shown such a fix to be.
    """
    if any(each.star or each.keyword for each in call.args):
        return None
    match name, [each.value for each in call.args]:
        case "set_value" | "update" | "update_add" | "update_sub", [cst.Attribute() as held, _] if (
            _is_hyperparameter(module, held)
        ):
            return NoFix(_A_NUMBER.format(held.attr.value))
        case "set_value", [cst.Attribute() as rate, value]:
            return _learning_rate(module, call, rate, value, proven["set_value"])
        case "set_session", [_]:
            return without_session(module, call)
        case "set_learning_phase", [cst.Integer(value="0") | cst.Name(value="False")]:
            return _left_out(module, call)
        case "batch_set_value", [pairs]:
            return _loop(module, call, pairs)
        case "shape", [_]:
            size = is_inferable_reshape_size(module, call)
            if size is None:
                return None
            sure = has_other_sizes_known(module, size)
            return infer_size_fix(module, size, proven["shape"] if sure else Applicability.UNSAFE)
        case _:
            return None


def _is_hyperparameter(module: Module, held: cst.Attribute) -> bool:
    """Say whether it is an attribute of an optimizer that Keras 3 has as a number."""
    owner = module.type_of(held.value)
    if owner is None and _last_name(held.value) not in _OPTIMIZERS:
        return False
    if owner is not None and owner.kind is not Kind.OPTIMIZER:
        return False
    return held.attr.value not in _VARIABLES and not _is_made_a_variable(module, held.attr.value)


def _is_made_a_variable(module: Module, member: str) -> bool:
    """Say whether an optimizer of the file, written for Keras 3, keeps a variable by this name."""
    for assign in module.nodes(cst.Assign):
        match assign:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name)))],
                value=cst.Call(func=maker),
            ) if name == member and _last_name(maker) in _VARIABLE_MAKERS:
                around = (e for e in module.ancestors(assign) if isinstance(e, cst.ClassDef))
                if any(
                    kind_of_class(module, each) is Kind.OPTIMIZER
                    and not is_old_optimizer(module, each)
                    for each in around
                ):
                    return True
    return False


def _learning_rate(
    module: Module,
    call: cst.Call,
    rate: cst.Attribute,
    value: cst.BaseExpression,
    proven: Applicability,
) -> Fix | None:
    """``K.set_value(model.optimizer.lr, x)`` → ``model.optimizer.learning_rate = x``."""
    if rate.attr.value not in _RATES or not isinstance(module.parent(call), cst.Expr):
        return None
    owner = module.type_of(rate.value)
    known = owner is not None and owner.kind is Kind.OPTIMIZER
    if not known and (owner is not None or _last_name(rate.value) not in _OPTIMIZERS):
        return None
    of, new = _hole(module, rate.value, Precedence.PRIMARY), _hole(module, value, Precedence.ANY)
    opening, closing = ("(", ")") if _breaks_lines(module, value) else ("", "")
    edit = Edit(module.span(call), (of, f".learning_rate = {opening}", new, closing))
    title = f"Write `{module.source(rate.value)}.learning_rate = …`"
    return Fix(
        title,
        (edit,),
        proven if known else Applicability.UNSAFE,
        unsafe_because="" if known else _MAY_BE_ANOTHER,
    )


def with_the_name_of_today(module: Module, call: cst.Call | None, fix: Fix) -> Fix:
    """Return the fix of ``K.get_value(model.optimizer.lr)`` with ``learning_rate`` inside.

    Of what is known to be an optimizer `.lr` is a finding of its own, with a fix of its own.
    """
    match call:
        case cst.Call(args=[cst.Arg(value=cst.Attribute(attr=cst.Name(value="lr")) as rate)]):
            pass
        case _:
            return fix
    if module.type_of(rate.value) is not None or _last_name(rate.value) not in _OPTIMIZERS:
        return fix
    return replace(
        fix,
        edits=(*fix.edits, Edit(module.span(rate.attr), ("learning_rate",))),
        applicability=Applicability.UNSAFE,
        unsafe_because=_MAY_BE_ANOTHER,
    )


def _last_name(node: cst.BaseExpression) -> str:
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def _loop(module: Module, call: cst.Call, pairs: cst.BaseExpression) -> Fix | None:
    """``K.batch_set_value(pairs)`` → ``for variable, value in pairs: variable.assign(value)``."""
    expression = module.parent(call)
    line = None if expression is None else module.parent(expression)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    start = module.span(call).start
    indent = margin(module.text, start)
    if indent.strip() or _breaks_lines(module, pairs):
        return None
    iterable = _hole(module, pairs, Precedence.ANY)
    edit = Edit(
        module.span(call),
        ("for variable, value in ", iterable, f":\n{indent}    variable.assign(value)"),
    )
    title = "Write a loop that assigns each value"
    return Fix(title, (edit,), Applicability.UNSAFE, unsafe_because=_NO_LOOP)


def _left_out(module: Module, call: cst.Call) -> Fix | None:
    """``K.set_learning_phase(0)``: the phase of whoever calls a model and says nothing."""
    expression = module.parent(call)
    line = None if expression is None else module.parent(expression)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    return Fix(
        "Remove the learning phase: models run in inference mode unless `training=True` is passed",
        (remove_statement(module, call),),
        Applicability.UNSAFE,
        unsafe_because="in Keras 2, even `fit` ran in inference mode once the phase was set; Keras "
        "3 trains",
    )


def _hole(module: Module, node: cst.BaseExpression, wanted: Precedence) -> Hole:
    return Hole(module.outer_span(node), wanted, precedence_of(node))


def _breaks_lines(module: Module, node: cst.BaseExpression) -> bool:
    span = module.outer_span(node)
    return "\n" in module.text[span.start : span.end]
