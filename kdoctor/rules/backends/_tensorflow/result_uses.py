"""Guards of the rows: what is done with the result of a function."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.names._backend.uses import (
    is_asked_as_tensor,
    takes_an_element,
    uses_of_its_name,
)
from kdoctor.syntax import Module

# Functions that take a shape, by the position and the name of that argument.
# `test_tensorflow_function_result_uses.py` compares them with the signatures.
TAKE_SHAPES: Final = {
    **dict.fromkeys(
        (
            *("tensorflow.zeros", "tensorflow.ones", "tensorflow.random.normal"),
            *("tensorflow.random.truncated_normal", "tensorflow.random.uniform"),
            *("keras.ops.zeros", "keras.ops.ones", "keras.random.normal"),
            *("keras.random.truncated_normal", "keras.random.uniform"),
        ),
        (0, "shape"),
    ),
    "tensorflow.fill": (0, "dims"),
    "keras.ops.reshape": (1, "newshape"),
    **dict.fromkeys(
        ("tensorflow.reshape", "tensorflow.broadcast_to", "keras.ops.broadcast_to"), (1, "shape")
    ),
}
_TAKE_SEQUENCES: Final = frozenset({"enumerate", "len", "list", "reversed", "tuple", "zip"})
_PARTS: Final = frozenset({"indices", "values"})  # of `tf.math.top_k`: KD818 knows them


def as_a_shape() -> Guard:
    """Each use of the result is one of its elements, or the shape that a function takes."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        return GuardAnswer.of(
            all(_is_shape_or_element(module, each) for each in _uses(module, use_site.node))
        )

    return Question("as_a_shape()", "the result of the call is not used as a shape", answer)


def taken_apart() -> Guard:
    """Each use of the result takes its parts: `values, indices = tf.math.top_k(x)`."""

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        return GuardAnswer.of(
            all(_takes_parts(module, each) for each in _uses(module, use_site.node))
        )

    return Question("taken_apart()", "the result of the call is not taken apart", answer)


def _uses(module: Module, node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return where a result is used: on the spot, or by the one name that it is given."""
    return [*uses_of_its_name(module, node)] or [node]


def _is_shape_or_element(module: Module, node: cst.CSTNode) -> bool:
    if takes_an_element(module, node):
        element = module.parent(node)
        return element is not None and not is_asked_as_tensor(module, element)
    argument = module.parent(node)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(argument, cst.Arg) or argument.star or not isinstance(call, cst.Call):
        return False
    place, name = TAKE_SHAPES.get(_called(module, call), (-1, ""))
    if argument.keyword is not None:
        return argument.keyword.value == name
    before = call.args[: call.args.index(argument)]
    return len(before) == place and not any(each.star or each.keyword for each in before)


def _called(module: Module, call: cst.Call) -> str:
    name = module.qualified(call.func) or ""
    short = by_the_short_way(name)
    return short.removeprefix("tensorflow.") if short.startswith("tensorflow.keras.") else short


def _takes_parts(module: Module, node: cst.CSTNode) -> bool:
    if takes_an_element(module, node):
        return True
    match module.parent(node):
        case cst.Assign(targets=targets, value=value) if value is node:
            return all(isinstance(each.target, cst.Tuple | cst.List) for each in targets)
        case cst.For(iter=iterated) | cst.CompFor(iter=iterated):
            return iterated is node
        case cst.Attribute(value=owner, attr=cst.Name(value=member)):
            return owner is node and member in _PARTS
        case cst.Arg(star="", keyword=None) as argument:
            call = module.parent(argument)
            return (
                isinstance(call, cst.Call)
                and isinstance(call.func, cst.Name)
                and call.func.value in _TAKE_SEQUENCES
                and has_builtin(module, call, call.func.value)
            )
    return False
