"""The size of a kernel as Keras 1 took it: `Convolution2D(64, 3, 3)`, a number for each side."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.model import Edit, Hole, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.syntax import Module

# Parts of a kernel's size, each an argument of its own.
KERNELS: Final = {
    **dict.fromkeys(("Conv2D", "Conv2DTranspose", "SeparableConv2D"), ("nb_row", "nb_col")),
    "ConvLSTM2D": ("nb_row", "nb_col"),
    "Conv3D": ("kernel_dim1", "kernel_dim2", "kernel_dim3"),
}
OUTPUT_SHAPE_LOST: Final = "the layer computes its output shape itself"
_OUTPUT_SHAPE: Final = "Conv2DTranspose"
"""The class that took its output's shape behind the sides of the kernel."""
_OLD_NAME: Final = "Convolution"
MULTI_BACKEND: Final = "keras"
"""The root whose layers took the arguments of Keras 1 up to Keras 2.3; `tf.keras` never did."""


class Rewritten(Struct):
    """What becomes of one call: edits, or why it cannot be done."""

    edits: list[Edit] = field(default_factory=list)
    gone: list[cst.Arg] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def join_kernel(module: Module, call: KerasCall, rewritten: Rewritten) -> None:
    """Make one argument of a kernel's sides: `3, 3` or `nb_row=3, nb_col=3` becomes `(3, 3)`."""
    sides = KERNELS.get(call.made, ())
    if not sides or call.keyword("kernel_size") is not None:
        return
    by_keyword = [found for side in sides if (found := call.keyword(side)) is not None]
    by_position = given_by_position(call)[1:]
    shape = _output_shape(call)
    if shape is not None:
        rewritten.gone.append(shape)
        rewritten.unsafe.append(OUTPUT_SHAPE_LOST)
        by_position.remove(shape)
    parts = [*by_position, *by_keyword]
    if not by_keyword and len(by_position) < len(sides):
        return  # the kernel is one argument already
    names = [each.keyword.value for each in by_keyword if each.keyword is not None]
    in_turn = names == list(sides[len(by_position) :]) and len(parts) == len(sides)
    if not in_turn or any(each.star for each in call.args):
        rewritten.refused.append("the sides of the kernel are not all passed as separate arguments")
        return
    first, *rest = parts
    values = [module.outer_span(each.value) for each in parts]
    if not all(_may_move(each.value) for each in rest):
        rewritten.refused.append("a side of the kernel is computed by a call")
        return
    texts = [module.text[span.start : span.end] for span in values[1:]]
    keyword = "" if first.keyword is None else "kernel_size="
    whole = Span(module.span(first).start, values[0].end)
    tuple_parts = (f"{keyword}(", Hole(values[0]), f", {', '.join(texts)})")
    rewritten.edits.append(Edit(whole, tuple_parts))
    rewritten.gone += rest


def kernel_in_one(module: Module, call: KerasCall) -> tuple[Edit, ...] | None:
    """Return the edits that make one argument of the sides, None where they cannot be made."""
    rewritten = Rewritten()
    join_kernel(module, call, rewritten)
    removed = remove_arguments(module, call.call, rewritten.gone)
    return None if removed is None or rewritten.refused else (*rewritten.edits, *removed)


def _may_move(value: cst.BaseExpression) -> bool:
    """Say whether it has the same value wherever in the call it stands: nothing is called."""
    match value:
        case cst.Name() | cst.Integer():
            return True
        case cst.Attribute():
            return _may_move(value.value)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return _may_move(owner) and _may_move(index)
        case cst.BinaryOperation(left=left, right=right):
            return _may_move(left) and _may_move(right)
        case cst.UnaryOperation(expression=operand):
            return _may_move(operand)
    return False


def given_by_position(call: KerasCall) -> list[cst.Arg]:
    """Return what a callable gets without a name: of a partial what comes after the callable."""
    given = [each for each in call.args if each.keyword is None]
    return given[1:] if call.is_partial else given


def filled_by_position(call: KerasCall) -> list[str]:
    """Return the parameters of today that a call fills without naming them."""
    given = sum(not each.star for each in given_by_position(call))
    sides = KERNELS.get(call.made, ())
    if sides and given > len(sides):
        # The sides of the kernel are one argument today.
        given -= len(sides) - 1 + (_output_shape(call) is not None)
    return [each.name for each in call.new.parameters][:given]


def _output_shape(call: KerasCall) -> cst.Arg | None:
    """Return the output's shape, the fourth of what is passed by position."""
    given = given_by_position(call)
    if call.made != _OUTPUT_SHAPE or len(given) != len(KERNELS[_OUTPUT_SHAPE]) + 2:
        return None
    return given[-1]


def is_one_by_one(module: Module, call: KerasCall, *, is_of_keras_1: bool) -> bool:
    """Say whether a call without keywords of Keras 1 gives the kernel's sides one by one.

    It does by the name that Keras 1 had for it, and by any in a file that surely is of Keras 1.
    """
    sides = KERNELS.get(call.made, ())
    if not sides or call.reference is None or call.is_partial:
        return False
    name = call.reference.name
    if call.keyword("strides") is not None:
        return False
    is_old_name = name.rpartition(".")[2].startswith(_OLD_NAME)
    if not is_of_keras_1 and not (is_old_name and name.startswith(f"{MULTI_BACKEND}.")):
        return False
    given = [each.value for each in call.args if each.keyword is None and not each.star]
    return len(given) == len(sides) + 1 and _are_sides(module, given[1:])


def _are_sides(module: Module, given: list[cst.BaseExpression]) -> bool:
    """Say whether they are numbers: the second of two that were no ints was the stride."""
    values = [value_of(module, each) for each in given]
    if all(isinstance(each, cst.Integer) for each in values):
        return True
    if any(isinstance(each, cst.Tuple | cst.List) for each in values):
        return False
    texts = [module.source(each) for each in given]
    owner = texts[0].removesuffix("[0]")
    in_turn = [f"{owner}[{place}]" for place in range(len(texts))]
    return texts == in_turn or (len(set(texts)) == 1 and isinstance(given[0], cst.Name))
