"""`compute_output_shape` returns `[shape]` although `call` returns a single tensor.

## What it does
Reports custom layers whose `compute_output_shape` returns a list of one shape, and whose `call` is
known to return one tensor: the result of `*`, `-`, `/`, or of a Keras layer.

## Why it breaks
Keras 2 ran `call` while a model was constructed. Keras 3 calls `compute_output_shape` if there is
one, and treats its list as a list of outputs: the next layer gets `[tensor]`, and most reject it:
`ValueError: Cannot convert '((None, 4), 2)' to a shape`. As the only output of a model it works.

## What to write instead
The shape without a list: `return (input_shape[0], 4)`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: the error is quoted from there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.forms import form_of
from kdoctor.model import Edit, Finding, Hole, Precedence, Severity
from kdoctor.rules.behaviour._single_output import gives_one
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.value_types import Kind


def _is_of_one_tuple(form: object) -> bool:
    return isinstance(form, list) and len(form) == 1 and isinstance(form[0], tuple)


@rule(
    "KD456",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(
        "compute_output_shape",
        of=Kind.LAYER,
        defining=["call"],
        body=lambda inside: any(map(_is_of_one_tuple, inside.returned)),
    ),
)
def check(asked: Method) -> Iterator[Finding]:
    """Report each such list."""
    call, given = asked.owner.methods["call"], returned_in(asked.node)
    if not all(each is not None and _is_of_one_tuple(form_of(each)) for each in given):
        return
    returned = returned_in(call)  # nothing where it is left to subclasses
    is_computed = bool(returned) and all(map(_is_computed, returned))
    if is_computed or gives_one(asked.module, asked.facts, call):
        yield from (_finding(asked, each) for each in given)


def _is_computed(given: cst.BaseExpression | None) -> bool:
    """Say whether it is a tensor for sure: `+` alone joins lists, too."""
    match given:
        case cst.BinaryOperation(operator=cst.Subtract() | cst.Multiply() | cst.Divide()):
            return not any(
                isinstance(e, cst.List | cst.ListComp) for e in (given.left, given.right)
            )
        case cst.BinaryOperation(operator=cst.Add()):
            return _is_computed(given.left) or _is_computed(given.right)
    return False


def _finding(asked: Method, given: cst.BaseExpression | None) -> Finding:
    assert isinstance(given, cst.List)
    inner = given.elements[0].value
    hole = Hole(asked.module.outer_span(inner), Precedence.PRIMARY, Precedence.PRIMARY)
    return asked.finding(
        f"`{asked.owner.symbol}` returns a list of one tensor while a model is constructed; most "
        "layers reject that: ValueError: Cannot convert '((None, …), …)' to a shape",
        at=given,
        help=f"Write `({asked.source(inner)})`: `call` returns one tensor.",
        fix=asked.fix(
            "Return the shape without a list",
            Edit(asked.module.span(given), (hole,), Precedence.PRIMARY),
        ),
    )


_LAYER = (
    "import keras\n\n\nclass Double(keras.layers.Layer):\n    def call(self, x):\n"
    "        return {}\n\n    def compute_output_shape(self, input_shape):\n"
    "        return {}\n\n\n"
    "y = Double()(keras.Input((4,)))\n"
)
_LIST = "[(input_shape[0], 4)]"
_ALONE = "(input_shape[0], 4)"

VALID = [
    _LAYER.format("2 * x", _ALONE),
    _LAYER.format("2 * x", "[input_shape[0], 4]"),
    _LAYER.format("[2 * x]", _LIST).replace("Double()(keras.Input((4,)))", "x"),
    _LAYER.format("[x] + [x]", _LIST).replace("Double()(keras.Input((4,)))", "x"),
    _LAYER.format("2 * x", _LIST).replace("(keras.layers.Layer)", ""),
    _LAYER.format("2 * x", _LIST)
    .replace("return 2 * x", "raise NotImplementedError")
    .replace("Double()(keras.Input((4,)))", "x"),
    _LAYER.format("2 * x", _LIST).replace("import keras", "import tf_keras as keras"),
]
INVALID = [
    Example(
        before=_LAYER.format(computed, _LIST),
        after=_LAYER.format(computed, _ALONE),
        check="assert not isinstance(y, list)",
        on_keras_2=True,
    )
    for computed in ("2 * x", "x / 2 + 1", "keras.layers.Dropout(0)(x)")
]
