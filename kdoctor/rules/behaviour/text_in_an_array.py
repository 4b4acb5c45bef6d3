"""`model.predict(np.array(["some text"]))`: Keras 3 does not accept NumPy arrays of strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, speller_at, value_of
from kdoctor.analysis.queries import Argument, calls, imported
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import CONVERTING
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_METHODS: Final = ("fit", "evaluate", "predict")
_MAX_DEPTH: Final = 6  # lists in lists, and names
_SHAPING: Final = frozenset({"expand_dims", "ravel", "reshape", "squeeze"})


def _may_be_text(form: object) -> bool:
    """Say whether a list may hold nothing but text, as its first element tells."""
    if not isinstance(form, list | tuple):
        return False
    while isinstance(form, list | tuple) and form:
        form = form[0]
    if isinstance(form, Expression):
        return form.kind in {"", "BinOp", "JoinedStr", "List", "Name", "Tuple"}
    return isinstance(form, str)


@rule(
    "KD479",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_METHODS, on=Kind.MODEL)
    .even(hidden=True)
    .argument("x", 0)
    .beside(
        imported(*(f"numpy.{each}" for each in CONVERTING)).passing(
            "object", place=0, where=_may_be_text
        )
    ),
)
def check(given: Argument) -> Finding | None:
    """Report each call that gets such an array."""
    assert given.use is not None
    if is_a_librarys(given.module, given.use):
        return None
    arrays = [*_arrays_of_text(given.module, given.node)]
    return _finding(given, arrays) if arrays else None


def _arrays_of_text(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what is such an array, of what is passed: it, or parts of a list or dict."""
    value = value_of(module, given)
    parts: list[cst.BaseExpression] = [given]
    if isinstance(value, cst.List | cst.Tuple):
        parts = [each.value for each in value.elements if isinstance(each, cst.Element)]
    elif isinstance(value, cst.Dict):
        parts = [each.value for each in value.elements if isinstance(each, cst.DictElement)]
    for part in parts:
        made = value_of(module, part)
        if isinstance(made, cst.Call) and _is_of_text(module, made):
            yield part


def _is_of_text(module: Module, made: cst.Call, depth: int = 0) -> bool:
    shaped = _shaped(module, made)
    if shaped is not None:
        inner = value_of(module, shaped)
        if not isinstance(inner, cst.Call) or depth > _MAX_DEPTH:
            return False
        return _is_of_text(module, inner, depth + 1)
    name = module.qualified(made.func) or ""
    if not name.startswith("numpy.") or name.removeprefix("numpy.") not in CONVERTING:
        return False
    of = argument(made, "object", 0)
    # Of another type it may hold numbers; and one of objects, of one axis, Keras 3 does take.
    if of is None or is_hidden(made) or argument(made, "dtype", 1) is not None:
        return False
    return isinstance(value_of(module, of.value), cst.List | cst.Tuple) and _holds_text(
        module, of.value
    )


def _shaped(module: Module, made: cst.Call) -> cst.BaseExpression | None:
    """Return the array that a call gives another shape: ``texts.reshape(-1, 1)``."""
    name = module.qualified(made.func) or ""
    if name.startswith("numpy.") and name.removeprefix("numpy.") in _SHAPING:
        given = argument(made, "a", 0)
        return None if given is None else given.value
    match made.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=method)) if method in _SHAPING:
            return owner
    return None


def _holds_text(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether it surely is text, or a list of nothing else."""
    value = value_of(module, node)
    match value:
        case cst.SimpleString():
            return not value.prefix.lower().startswith(("b", "br", "rb"))
        case cst.ConcatenatedString() | cst.FormattedString():
            return True
        case cst.BinaryOperation(operator=cst.Add() | cst.Multiply()) if depth < _MAX_DEPTH:
            return _holds_text(module, value.left, depth + 1)
        case cst.List() | cst.Tuple() if depth < _MAX_DEPTH and value.elements:
            return all(
                isinstance(each, cst.Element) and _holds_text(module, each.value, depth + 1)
                for each in value.elements
            )
    return False


def _finding(given: Argument, arrays: list[cst.BaseExpression]) -> Finding:
    module = given.module
    spelled, need = speller_at(module, given.call).spell("tensorflow.constant")
    return given.finding(
        "Keras 3 does not accept NumPy arrays of strings: ValueError: Invalid dtype: str",
        at=arrays[0],
        symbol=given.name.removeprefix("keras."),
        help="Use `tf.constant(…)`.",
        fix=given.fix(
            "Convert it to a tensor",
            *(_edit(module, each, spelled) for each in arrays),
            imports=[need],
        ),
    )


def _edit(module: Module, array: cst.BaseExpression, spelled: str) -> Edit:
    """Write the other function where the array is made on the spot, or put it around."""
    if (
        isinstance(array, cst.Call)
        and _shaped(module, array) is None
        and len(array.args) == 1
        and array.args[0].keyword is None
    ):
        return Edit(module.span(array.func), (spelled,))
    span = module.outer_span(array)
    return Edit(span, (f"{spelled}(", Hole(span), ")"))
