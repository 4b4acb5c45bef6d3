"""`loss([0, 1], predictions)`: a loss is called with a list and an array, or with two lists."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, speller_at, value_of
from kdoctor.analysis.queries import Call, applications, constructs
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import (
    CONVERTING,
    FLAT,
    OF_A_SHAPE,
    OF_A_SIZE,
    OF_EACH_AXIS,
)
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ARGUMENTS: Final = (("y_true", 0), ("y_pred", 1))
_OF_NUMPY: Final = frozenset({*CONVERTING, *FLAT, *OF_A_SHAPE, *OF_A_SIZE, *OF_EACH_AXIS})
_ARRAY: Final = "array"
_NUMBER: Final = "number"
_TOO_DEEP: Final = frozenset({"", "List", "Tuple"})
_SPARSE: Final = "SparseCategoricalCrossentropy"
_STRUCTURES: Final = "Structures don't have the same nested structure."
_OTHER_AXES: Final = "if the two differ in rank, Keras 3 computes a different loss"


def _may_hold_numbers(form: object) -> bool:
    """Say whether it is a display of numbers and such displays, as far as forms go."""
    if not isinstance(form, list | tuple) or not form:
        return False
    return all(
        isinstance(each, bool | int | float)
        or (isinstance(each, Expression) and each.kind in _TOO_DEEP)
        or _may_hold_numbers(each)
        for each in form
    )


@rule(
    "KD478",
    severity=Severity.ERROR,
    since="3.0",
    look_for=applications(Kind.LOSS)
    .passing_one_of(_ARGUMENTS, where=_may_hold_numbers)
    .beside(word("losses", "Loss"), constructs(Kind.LOSS)),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    loss = call.owner
    # The class must be Keras' own.
    if loss is None or not loss.is_of_imported_class or not is_keras_3(call.facts, loss.qualified):
        return None
    given = [each.value for one in _ARGUMENTS if (each := call.argument(*one)) is not None]
    forms = [_form(call.module, each) for each in given]
    if len(forms) < len(_ARGUMENTS) or None in forms or forms[0] == forms[1]:
        return None
    lists = [each for each in given if not isinstance(value_of(call.module, each), cst.Call)]
    return call.finding(
        "a loss treats a list as several arrays, and targets and predictions differ in "
        f"structure: {_error(*forms)}",
        at=lists[0],
        symbol=f"keras.losses.{call.cls}",
        help="Wrap it in `np.array(…)`.",
        fix=_as_arrays(call, given, lists),
    )


def _form(module: Module, node: cst.BaseExpression) -> object:
    """Return the form in which Keras 3 sees an argument, None where that is not known."""
    value = value_of(module, node)
    if isinstance(value, cst.Call):
        name = module.qualified(value.func)
        is_array = name is not None and (
            computes_tensor(name)
            or (name.startswith("numpy.") and name.removeprefix("numpy.") in _OF_NUMPY)
        )
        return _ARRAY if is_array else None
    return _form_of(literal(value)) if isinstance(value, cst.List | cst.Tuple) else None


def _form_of(value: object) -> object:
    """Return the form of a display of numbers: what it is, and the forms of its elements."""
    if isinstance(value, bool | int | float):
        return _NUMBER
    if not isinstance(value, list | tuple):
        return None
    parts = [_form_of(each) for each in value]
    return None if None in parts or not parts else (type(value).__name__, *parts)


def _error(targets: object, predictions: object) -> str:
    """Return what Keras 3 says of these forms, as far as it is one thing."""
    if isinstance(targets, tuple) and predictions == _ARRAY:
        return f"ValueError: Expected an instance of {targets[0]}, got <tf.Tensor"
    is_deep = isinstance(predictions, tuple) and isinstance(predictions[1], tuple)
    if targets == _ARRAY or (is_deep and _is_flat_beside(targets, predictions)):
        return f"ValueError: {_STRUCTURES}"
    return "a ValueError"


def _is_flat_beside(one: object, other: object) -> bool:
    """Say whether one is a display of numbers, of as many elements as the other, and as that."""
    if not isinstance(one, tuple) or not isinstance(other, tuple) or len(one) != len(other):
        return False
    return one[0] == other[0] and set(one[1:]) == {_NUMBER}


def _as_arrays(
    call: Call, given: list[cst.BaseExpression], lists: list[cst.BaseExpression]
) -> Fix | NoFix:
    spelled, need = speller_at(call.module, call.node.func).spell("numpy.array")
    spans = [call.module.outer_span(each) for each in lists]
    depths = [_depth(call.module, each) for each in given]
    is_same = call.cls == _SPARSE or (None not in depths and depths[0] == depths[1])
    return call.fix(
        "Convert it to an array",
        *(Edit(span, (f"{spelled}(", Hole(span), ")")) for span in spans),
        imports=() if need is None else (need,),
        unsafe_because="" if is_same else _OTHER_AXES,
    )


def _depth(module: Module, node: cst.BaseExpression) -> int | None:
    """Return the number of axes of a display, or of what an array is made of."""
    value = value_of(module, node)
    if isinstance(value, cst.Call):
        inner = value.args[0].value if value.args and not value.args[0].star else None
        value = inner if isinstance(inner, cst.List | cst.Tuple) else value
    form = _form_of(literal(value)) if isinstance(value, cst.List | cst.Tuple) else None
    depth = 0
    while isinstance(form, tuple):
        depth, form = depth + 1, form[1] if len(form) > 1 else None
    return depth or None
