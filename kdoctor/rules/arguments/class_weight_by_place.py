"""`class_weight` must be a dict from class to weight: not a list, an array or a dict per output."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import DictForm, Expression
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_METHODS = ("fit", "train_on_batch")
_NUMBERS = (cst.BaseNumber, cst.BinaryOperation, cst.UnaryOperation)
_MAKES_ARRAYS = frozenset({
    *("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight"),
    *("numpy.array", "numpy.asarray", "numpy.ones"),
})  # fmt: skip


def _is_no_dict_of_numbers(form: object) -> bool:
    if isinstance(form, DictForm):
        return any(_may_be_dict(value) for _, value in form.items)
    if isinstance(form, Expression):
        return form.kind == "Call" and not form.meant.isdisjoint(_MAKES_ARRAYS)
    return isinstance(form, list | tuple)


def _may_be_dict(form: object) -> bool:
    return isinstance(form, DictForm) or (
        isinstance(form, Expression) and form.kind in {"DictComp", "Name"}
    )


@rule(
    "KD318",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_METHODS, on=Kind.MODEL)
    .even(hidden=True)
    .argument("class_weight", where=_is_no_dict_of_numbers),
)
def check(weight: Argument) -> Finding | None:
    """Report each such argument."""
    if _is_for_each_output(weight):
        return _of_outputs(weight)
    kind = _kind_of(weight.value_node)
    return None if kind is None else _by_place(weight, kind)


def _is_for_each_output(weight: Argument) -> bool:
    """Say whether it is a list, a tuple or a dict with dicts in it."""
    match weight.value_node:
        case cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            values = (value_of(weight.module, each.value) for each in parts)
            return any(isinstance(each, cst.Dict | cst.DictComp) for each in values)
    return False


def _kind_of(value: cst.BaseExpression) -> str | None:
    """Return how Python names what is passed, where it is a list, a tuple or an array."""
    match value:
        case cst.List():
            return "list"
        case cst.Tuple():
            return "tuple"
        case cst.Call():
            return "numpy.ndarray"
    return None


def _holds_numbers(value: cst.BaseExpression) -> bool:
    """Say whether a list or a tuple surely holds weights; an array does."""
    if not isinstance(value, cst.List | cst.Tuple):
        return True
    return all(isinstance(each.value, _NUMBERS) for each in value.elements)


def _of_outputs(weight: Argument) -> Finding:
    error = (
        "ValueError: `class_weight` is only supported for Models with a single output."
        if weight.leaf == "fit"
        else "an error about the shape of an array"
    )
    return weight.finding(
        f"`class_weight` only works for a single output: {error}",
        at=weight.arg,
        symbol=_symbol(weight),
        help="Pass `sample_weight`: one array of weights for each output.",
        fix=NoFix("the weight of each sample has to be looked up in the data"),
    )


def _by_place(weight: Argument, kind: str) -> Finding:
    span = weight.module.outer_span(weight.node)
    fix = weight.fix(
        "Turn it into a dict: `dict(enumerate(…))`",
        Edit(span, ("dict(enumerate(", Hole(span), "))")),
        unsafe_because="it assumes that the classes are 0, 1, 2, … in this order; "
        "and Keras up to 2.3 ignored such weights",
    )
    return weight.finding(
        f"`class_weight` must be a dict: AttributeError: '{kind}' object has no attribute 'get'",
        at=weight.arg,
        symbol=_symbol(weight),
        help="Pass a dict from class to weight.",
        fix=fix if _holds_numbers(weight.value_node) else NoFix("its contents are not known"),
    )


def _symbol(weight: Argument) -> str:
    return f"{weight.cls or 'Model'}.{weight.leaf}(class_weight)"
