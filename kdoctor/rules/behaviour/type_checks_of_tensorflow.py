"""`isinstance(weight, tf.Variable)` and `tf.is_tensor(inputs)` are false in Keras 3."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, has_builtin, is_hidden, speller_at, value_of
from kdoctor.analysis.dataflow.alternatives import Asked, may_be
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.possible_values import parameter_of
from kdoctor.analysis.queries import Call, builtins, imported, references
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.analysis.tensors.keras_inputs import is_put_into_keras_3
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1, ways_to
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity, Span
from kdoctor.rewrite.precedence import required_precedence
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.narrowing import classes_in
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

# `tf.compat.v1.Variable` is not among them: no weight was one in TensorFlow 2.
_RESOURCES: Final = "tensorflow.python.ops.resource_variable_ops."
_VARIABLES: Final = ways_to("tensorflow.Variable").union(
    {
        f"{_RESOURCES}BaseResourceVariable",
        f"{_RESOURCES}ResourceVariable",
        "tensorflow.python.ops.variables.Variable",
    }
)
_UTILITIES: Final = "tensorflow.python.framework.tensor_util."
_IS_TENSOR: Final = ways_also_by_1("tensorflow.is_tensor").union(
    {f"{_UTILITIES}is_tensor", f"{_UTILITIES}is_tf_type"}
)
_KERAS_VARIABLES: Final = frozenset({"Variable", "KerasVariable"})
_KERAS_TENSORS: Final = frozenset({"is_keras_tensor", "KerasTensor"})
_OTHERS: Final = ("tensorflow.", "numpy.")
_RATE: Final = "learning_rate"
_ASKED: Final = references(where=lambda _, name: name in _VARIABLES)


@rule(
    "KD487",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=builtins("isinstance").beside(_ASKED)
    | imported(*_IS_TENSOR).beside(SYMBOLIC | USES_KERAS_3),
)
def check(call: Call) -> Finding | None:
    """Report each such question about what is a weight or a symbolic tensor, or may be one."""
    module = call.module
    if module.is_guarded(call.node) or any(each.star or each.keyword for each in call.node.args):
        return None
    match call.node.args:
        case [cst.Arg(value=asked), cst.Arg(value=classes)] if _is_isinstance(call):
            return _of_a_weight(call, asked, classes)
        case [cst.Arg(value=asked)] if call.name in _IS_TENSOR:
            return _of_a_tensor(call, asked)
    return None


def _is_isinstance(call: Call) -> bool:
    return not call.name and has_builtin(call.module, call.node, "isinstance")


def _may_be(module: Module, node: cst.BaseExpression, is_it: Asked) -> bool:
    """Say whether something is such a value, or some value that the file gives it."""
    if may_be(module, node, is_it):
        return True
    parameter = parameter_of(module, node)
    points_to = points_to_of(module)
    function = None if parameter is None else points_to.function_around(parameter)
    if parameter is None or function is None:
        return False
    given = (
        points_to.passed(each, parameter)
        for each in points_to.callers(function)
        if not module.is_guarded(each)
    )
    return any(each is not None and may_be(module, each, is_it) for each in given)


def _is(module: Module, node: cst.BaseExpression, is_it: Asked) -> str:
    return "is" if is_it(module, node) else "may be"


# Is it a variable?


def _of_a_weight(
    call: Call, asked: cst.BaseExpression, classes: cst.BaseExpression
) -> Finding | None:
    module = call.module
    written = list(classes_in(classes))
    found = next((each for each in written if module.qualified(each) in _VARIABLES), None)
    if found is None or not _may_be(module, asked, _is_weight):
        return None
    if any(_may_be_of_keras(module, each) for each in written):
        return None
    if _is_asked_beside(call, asked, _KERAS_VARIABLES):
        return None
    return call.finding(
        f"`{call.source(asked)}` {_is(module, asked, _is_weight)} a `keras.Variable`, which is no "
        "`tf.Variable`: this is False on Keras 3",
        at=found,
        symbol="keras.Variable",
        help="Ask for `keras.Variable` as well.",
        fix=_with_keras_variable(call, classes, found),
    )


def _is_weight(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    if found is not None:
        return found.kind is Kind.VARIABLE and not found.is_tf_variable
    node = value_of(module, node)
    if not isinstance(node, cst.Attribute) or node.attr.value != _RATE:
        return False
    owner, made = module.type_of(node.value), value_of(module, node.value)
    if owner is None or owner.kind is not Kind.OPTIMIZER or not owner.is_of_imported_class:
        return False
    if not isinstance(made, cst.Call) or is_hidden(made):
        return False
    rate = argument(made, _RATE, 0)  # of a schedule it is no variable
    return rate is None or isinstance(rate.value, cst.Float | cst.Integer)


def _may_be_of_keras(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a class is `keras.Variable`, or nobody knows what it is."""
    name = module.qualified(node)
    if name is not None:
        return not name.startswith(_OTHERS) or _is_of_keras(name, _KERAS_VARIABLES)
    plain = dotted_name(node)
    is_builtin = plain is not None and has_builtin(module, node, plain)
    return not is_builtin


def _with_keras_variable(call: Call, classes: cst.BaseExpression, found: cst.BaseExpression) -> Fix:
    module = call.module
    spelled, need = speller_at(module, call.node).spell("keras.Variable")
    span = module.outer_span(found)
    if found is classes:
        edit = Edit(span, ("(", Hole(module.span(found)), f", {spelled})"))
    else:
        joint = " | " if isinstance(module.parent(found), cst.BinaryOperation) else ", "
        edit = Edit(Span(span.end, span.end), (f"{joint}{spelled}",))
    return check.fix("Ask for `keras.Variable` as well", edit, imports=(need,))


# Is it a tensor?


def _of_a_tensor(call: Call, asked: cst.BaseExpression) -> Finding | None:
    module = call.module
    if module.context_of(call.node) in RUN_WITH_VALUES:
        return None
    is_one = _may_be(module, asked, is_symbolic)
    if not is_one and not _goes_on_to_keras(call, asked):
        return None
    if _is_asked_beside(call, asked, _KERAS_TENSORS):
        return None
    if not is_one:
        return call.finding(
            "a `KerasTensor` is none for TensorFlow: of one this is False on Keras 3",
            symbol="KerasTensor",
            severity=Severity.LEGACY,
            help=f"Write `{call.source(call.node)} or keras.utils.is_keras_tensor(…)`.",
            fix=_or_a_keras_tensor(call, asked),
        )
    return call.finding(
        f"`{call.source(asked)}` {_is(module, asked, is_symbolic)} a `KerasTensor`, which "
        "TensorFlow takes for no tensor: this is False on Keras 3",
        symbol="KerasTensor",
        help=f"Write `{call.source(call.node)} or keras.utils.is_keras_tensor(…)`.",
        fix=_or_a_keras_tensor(call, asked),
    )


def _goes_on_to_keras(call: Call, asked: cst.BaseExpression) -> bool:
    """Say whether it may be a parameter of which nothing is known but that Keras gets it."""
    module = call.module
    return (
        isinstance(asked, cst.Name)
        and any(each.kind is BindingKind.PARAMETER for each in module.bindings_at(asked))
        and module.type_of(asked) is None
        and is_put_into_keras_3(module, call.facts, asked)
    )


def _or_a_keras_tensor(call: Call, asked: cst.BaseExpression) -> Fix | NoFix:
    module, node = call.module, call.node
    if not _may_be_repeated(asked):
        return NoFix("what is asked about would be computed twice")
    spelled, need = speller_at(module, node).spell("keras.utils.is_keras_tensor")
    span = module.span(node)
    edit = Edit(
        span,
        (Hole(span), f" or {spelled}({call.source(asked)})"),
        Precedence.OR,
        required_precedence(module.parent(node), node),
    )
    return check.fix("Ask for Keras' own tensors as well", edit, imports=(need,))


def _may_be_repeated(node: cst.BaseExpression) -> bool:
    """Say whether it is a name, or what is read off one."""
    match node:
        case cst.Name() | cst.Integer():
            return True
        case cst.Attribute():
            return _may_be_repeated(node.value)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return _may_be_repeated(node.value) and _may_be_repeated(index)
    return False


# Code that knows of both


def _is_asked_beside(call: Call, asked: cst.BaseExpression, names: Collection[str]) -> bool:
    """Say whether the function around asks the same value for what Keras 3 has instead."""
    module, text = call.module, call.source(asked)
    around = _function(module, call.node)
    for each in module.references:
        if _is_of_keras(each.name, names) and _function(module, each.node) is around:
            calls = (e for e in module.ancestors(each.node) if isinstance(e, cst.Call))
            question = next(calls, None)
            if question is not None and any(module.source(e.value) == text for e in question.args):
                return True
    return False


def _is_of_keras(name: str, names: Collection[str]) -> bool:
    is_keras = split_root(name) is not None or name.startswith("keras.")
    return is_keras and name.rpartition(".")[2] in names


def _function(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    functions = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return next(functions, module.tree)
