"""`model.predict([[1.0, 2.0]])`: lists of numbers are no longer accepted as data."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at, value_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_DATA = {"fit": ("x", "y"), "evaluate": ("x", "y"), "predict": ("x",)}


def _may_be_data(form: object) -> bool:
    """Say whether a list may hold numbers or text, as its first element tells."""
    if not isinstance(form, list) or not form:
        return False
    while isinstance(form, list) and form:
        form = form[0]
    # Lists that are deeper than forms go are no more than an expression.
    return not isinstance(form, Expression) or form.kind in {"", "List"}


@rule(
    "KD410",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_DATA, on=Kind.MODEL)
    .even(hidden=True)
    .passing_one_of((("x", 0), ("y", 1)), where=_may_be_data),
)
def check(call: Call) -> Finding | None:
    """Report each list that is passed as data."""
    assert call.use is not None
    if is_a_librarys(call.module, call.use):
        return None
    lists = [
        given.value
        for position, name in enumerate(_DATA[call.leaf])
        if (given := call.argument(name, position)) is not None
        and _is_data(value_of(call.module, given.value))
    ]
    return _finding(call, lists) if lists else None


def _is_data(node: cst.BaseExpression) -> bool:
    """Say whether a list holds numbers, or lists of numbers; or text."""
    return isinstance(node, cst.List) and _holds_data(literal(node))


def _holds_data(value: object) -> bool:
    parts = _parts(value)
    if not parts:
        return False
    return all(isinstance(e, int | float) for e in parts) or _is_text(parts)


def _is_text(parts: list[object]) -> bool:
    return all(isinstance(each, str) for each in parts)


def _parts(value: object) -> list[object]:
    """Return the elements of a list, and of lists in it where it has nothing else."""
    while isinstance(value, list) and value and all(isinstance(e, list) for e in value):
        value = [each for part in value for each in part]
    return value if isinstance(value, list) else []


def _finding(call: Call, lists: list[cst.BaseExpression]) -> Finding:
    module, shown = call.module, call.source(lists[0])
    text = any(_is_text(_parts(literal(value_of(module, each)))) for each in lists)
    spelled, need = speller_at(module, call.node).spell("numpy.array")
    edits = []
    for each in lists:
        span = module.outer_span(each)
        edits.append(Edit(span, (f"{spelled}(", Hole(span), ")")))
    return call.finding(
        "a list is a list of inputs, but its elements are not arrays: ValueError: Unrecognized "
        f"data type: x={shown if isinstance(lists[0], cst.List) else '…'} (of type <class "
        "'list'>)",
        at=lists[0],
        symbol=call.name.removeprefix("keras."),
        help="Write `tf.constant([…])`." if text else "Write `np.array([…])`.",
        fix=NoFix("strings have to be passed as a TensorFlow tensor")
        if text
        else call.fix("Convert it to an array", *edits, imports=() if need is None else (need,)),
    )
