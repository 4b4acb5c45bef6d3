"""`loss([0, 1], predictions)`: a loss is called with a list and an array, or with two lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import (
    argument,
    is_hidden,
    is_keras_3,
    literal,
    literal_of,
    speller_at,
    value_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import (
    CONVERTING,
    FLAT,
    OF_A_SHAPE,
    OF_A_SIZE,
    OF_EACH_AXIS,
)
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.analysis.triggers import Trigger, calls_that_make, may_be_of, word
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, ImportNeed, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_ARGUMENTS: Final = (("y_true", 0), ("y_pred", 1))
_OF_NUMPY: Final = frozenset({*CONVERTING, *FLAT, *OF_A_SHAPE, *OF_A_SIZE, *OF_EACH_AXIS})
_ARRAY: Final = "array"
_NUMBER: Final = "number"
_SPARSE: Final = "SparseCategoricalCrossentropy"
_STRUCTURES: Final = "Structures don't have the same nested structure."
_OTHER_AXES: Final = "if the two differ in rank, Keras 3 computes a different loss"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for call in module.nodes(cst.Call):
        found = [argument(call, *each) for each in _ARGUMENTS]
        given = [each.value for each in found if each is not None]
        if len(given) < len(_ARGUMENTS) or is_hidden(call):
            continue
        forms = [_form(module, each) for each in given]
        if None in forms or forms[0] == forms[1]:
            continue
        cls = _own_loss(module, facts, call.func)
        if cls is not None and not module.is_guarded(call):
            yield _finding(module, facts, call, cls, given)


def _own_loss(module: Module, facts: TargetFacts, node: cst.BaseExpression) -> str | None:
    """Return the class of Keras' own whose object it is, None of anything else."""
    made = module.type_of(node)
    if made is None or made.kind is not Kind.LOSS or not made.is_of_imported_class:
        return None
    return made.cls if is_keras_3(facts, made.qualified) else None


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


def _finding(
    module: Module, facts: TargetFacts, call: cst.Call, cls: str, given: list[cst.BaseExpression]
) -> Finding:
    lists = [each for each in given if not isinstance(value_of(module, each), cst.Call)]
    return rule.finding(
        module.place(lists[0]),
        "a loss treats a list as several arrays, and targets and predictions differ in "
        f"structure: {_error(*(_form(module, each) for each in given))}",
        symbol=f"keras.losses.{cls}",
        confidence=Confidence.LIKELY,
        help="Wrap it in `np.array(…)`.",
        fix=_fix(module, facts, call, cls, given, lists),
    )


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


def _fix(  # noqa: PLR0913, PLR0917 - the parts of a call
    module: Module,
    facts: TargetFacts,
    call: cst.Call,
    cls: str,
    given: list[cst.BaseExpression],
    lists: list[cst.BaseExpression],
) -> Fix:
    spelled, need = speller_at(module, call.func).spell("numpy.array")
    spans = [module.outer_span(each) for each in lists]
    depths = [_depth(module, each) for each in given]
    is_same = cls == _SPARSE or (None not in depths and depths[0] == depths[1])
    proven = facts.applicability(*(each for each in rule.invalid if each.after))
    imports: tuple[ImportNeed, ...] = () if need is None else (need,)
    return Fix(
        "Convert it to an array",
        tuple(Edit(span, (f"{spelled}(", Hole(span), ")")) for span in spans),
        proven if is_same else Applicability.UNSAFE,
        imports,
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


def _may_be_called(quick: QuickFacts, facts: TargetFacts) -> bool:
    asked = [
        (called.node, called.node.func)
        for called in quick.calls
        if any(
            isinstance(value, ast.List | ast.Tuple) and _form_of(literal_of(value)) is not None
            for each in _ARGUMENTS
            for value in quick.values_of(called.argument(*each))
        )
    ]
    return (
        bool(asked)
        and next(calls_that_make(quick, facts, Kind.LOSS), None) is not None
        and may_be_of(quick, facts, asked, {Kind.LOSS})
    )


rule = Rule(
    code="KD478",
    name="loss-of-lists",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word("losses", "Loss") & Trigger(_may_be_called),
    since="3.0",
)
