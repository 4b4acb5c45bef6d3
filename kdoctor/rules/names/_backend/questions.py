"""The guards that functions of ``keras.backend`` need: what is known of their arguments' values."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.kinds import Context, Kind
from kdoctor.rewrite.guards import Answer, Guard, Question, Situation
from kdoctor.rules.names._backend.inference import Inference

# Functions that take int32 as well as int64, by the position of the argument.
_TAKE_EITHER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("cast", "one_hot"), (0,)),
    **dict.fromkeys(("gather", "take"), (1,)),
    **dict.fromkeys(("equal", "not_equal", "greater", "less"), (0, 1)),
}
_CHANGES = frozenset({"update", "update_add", "update_sub", "set_value", "moving_average_update"})


def not_integer(parameter: str) -> Guard:
    """The tensor surely holds floats or bools."""
    return _of_values("not_integer", "`{}` may hold integers", parameter, Inference.is_not_integer)


def not_negative(parameter: str) -> Guard:
    """The tensor surely holds nothing below 0."""
    return _of_values("not_negative", "`{}` may be negative", parameter, Inference.is_not_negative)


def is_tensor(parameter: str) -> Guard:
    """The argument surely is one tensor: no list of them, no NumPy array."""
    return _of_values(
        "is_tensor", "`{}` is not known to be one tensor", parameter, Inference.is_tensor
    )


def whole_numbers(*parameters: str) -> Guard:
    """The arguments surely are integers, by default too."""
    return reduce(
        lambda one, other: one & other,
        (
            _of_values(
                "whole_numbers", "`{}` is not known to be a whole number", each,
                Inference.is_whole,
            )
            for each in parameters
        ),
    )  # fmt: skip


def text(parameter: str) -> Guard:
    """The argument surely is a string."""
    return _of_values("text", "`{}` is not known to be a string", parameter, Inference.is_text)


def is_scalar(parameter: str) -> Guard:
    """The tensor surely has no axes."""
    return _of_values(
        "is_scalar",
        "`{}` is not known to be a scalar",
        parameter,
        lambda inference, node: inference.shape(node) == frozenset(),
    )


def same_shape(*parameters: str) -> Guard:
    """The tensors surely have one shape: all are made, element by element, of the same tensors."""

    def answer(situation: Situation) -> Answer:
        inference = Inference(situation.module)
        nodes = [situation.value(each) for each in parameters]
        shapes = {None if node is None else inference.shape(node) for node in nodes}
        return Answer.YES if len(shapes) == 1 and shapes.pop() else Answer.UNKNOWN

    names = [f"`{each}`" for each in parameters]
    return Question(
        f"same_shape({', '.join(map(repr, parameters))})",
        f"{', '.join(names[:-1])} and {names[-1]} are not known to have the same shape",
        answer,
        parameters=frozenset(parameters),
    )


def is_variable(parameter: str) -> Guard:
    """The argument is known to be a weight or another variable."""

    def answer(situation: Situation) -> Answer:
        node = situation.value(parameter)
        kind = None if node is None else situation.module.type_of(node)
        if kind is None:
            return Answer.UNKNOWN
        return Answer.YES if kind.kind is Kind.VARIABLE else Answer.NO

    return Question(
        f"is_variable({parameter!r})",
        f"`{parameter}` is not known to be a variable",
        answer,
        parameters=frozenset({parameter}),
    )


def not_symbolic(parameter: str) -> Guard:
    """The tensor has values: it is not one of a model that is being built, nor of a graph."""

    def answer(situation: Situation) -> Answer:
        node = situation.value(parameter)
        kind = None if node is None else situation.module.type_of(node)
        in_graph = situation.module.context_of(situation.node) in (
            Context.CALL,
            Context.LOSS_OR_METRIC,
        )
        symbolic = kind is not None and kind.kind is Kind.TENSOR
        return Answer.NO if symbolic or in_graph else Answer.YES

    return Question(
        f"not_symbolic({parameter!r})",
        f"`{parameter}` is symbolic here: it has no values",
        answer,
        parameters=frozenset({parameter}),
    )


def dtype_does_not_matter() -> Guard:
    """The result goes straight into a function of Keras that takes any integers."""

    def answer(situation: Situation) -> Answer:
        argument = situation.module.parent(situation.node)
        if not isinstance(argument, cst.Arg) or argument.star or argument.keyword is not None:
            return Answer.NO
        call = situation.module.parent(argument)
        if not isinstance(call, cst.Call):
            return Answer.NO
        split = split_root(situation.module.qualified(call.func) or "")
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        positions = _TAKE_EITHER.get(leaf, ())
        fits = parent in ("backend", "ops") and list(call.args).index(argument) in positions
        return Answer.YES if fits else Answer.NO

    return Question(
        "dtype_does_not_matter()",
        "it is not known whether int32 will do for the result",
        answer,
    )


def is_read_only() -> Guard:
    """Nothing is assigned to what the call makes: it goes into a calculation."""

    def answer(situation: Situation) -> Answer:
        parent = situation.module.parent(situation.node)
        if isinstance(parent, cst.BinaryOperation | cst.UnaryOperation | cst.ComparisonTarget):
            return Answer.YES
        if isinstance(parent, cst.Comparison):
            return Answer.YES
        if isinstance(parent, cst.Element):
            parent = situation.module.parent(parent)
            parent = None if parent is None else situation.module.parent(parent)
        if isinstance(parent, cst.Arg):
            call = situation.module.parent(parent)
            name = situation.module.qualified(call.func) if isinstance(call, cst.Call) else None
            split = split_root(name or "")
            if split and split[1].rpartition(".")[0] in ("backend", "ops"):
                return Answer.NO if split[1].rpartition(".")[2] in _CHANGES else Answer.YES
        return Answer.UNKNOWN

    return Question(
        "is_read_only()",
        "Keras 2 makes a variable here, and something may be assigned to it",
        answer,
    )


def _of_values(
    name: str,
    sentence: str,
    parameter: str,
    holds: Callable[[Inference, cst.BaseExpression], bool],
) -> Guard:
    """Ask of the value passed for a parameter, or of its default."""

    def answer(situation: Situation) -> Answer:
        node = situation.value(parameter)
        if node is None:
            default = situation.default(parameter)
            if default is None:
                return Answer.UNKNOWN
            node = cst.parse_expression(default)
            simple = isinstance(node, cst.Integer | cst.Float | cst.SimpleString)
            return Answer.YES if simple and holds(Inference(situation.module), node) else Answer.NO
        return Answer.YES if holds(Inference(situation.module), node) else Answer.UNKNOWN

    return Question(
        f"{name}({parameter!r})",
        sentence.format(parameter),
        answer,
        parameters=frozenset({parameter}),
    )
