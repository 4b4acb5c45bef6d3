"""The guards that ask what numbers an argument may be: whole, below 0, with a point."""

from __future__ import annotations

from functools import reduce

import libcst as cst

from kdoctor.analysis.calls import is_builtin, value_of
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.names._backend.value_facts import ValueFacts
from kdoctor.rules.names._backend.value_guards import of_values
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

# What makes a tensor or an array of numbers that are written out.
_MAKERS = frozenset({"array", "asarray", "cast", "constant", "convert_to_tensor", "variable"})


def not_integer(parameter: str) -> Guard:
    """The tensor surely holds floats or bools."""
    return of_values(
        "not_integer", "`{}` may hold integers", parameter, ValueFacts.works_as_no_integer
    )


def not_negative(parameter: str) -> Guard:
    """The tensor surely holds nothing below 0."""
    return of_values("not_negative", "`{}` may be negative", parameter, ValueFacts.is_not_negative)


def from_the_front(parameter: str) -> Guard:
    """The axis surely is none that is counted from the end."""
    return of_values(
        "from_the_front",
        "`{}` may be negative and count from the end",
        parameter,
        ValueFacts.is_not_negative,
    )


def none_below_zero(parameter: str) -> Guard:
    """No number is written there that is below 0: what is calculated may have some."""

    def answer(use_site: UseSite) -> GuardAnswer:
        return GuardAnswer.of(not _is_below_zero(use_site.module, use_site.value(parameter)))

    return Question(
        f"none_below_zero({parameter!r})",
        f"`{parameter}` contains a number below 0",
        answer,
        parameters=frozenset({parameter}),
    )


def _is_below_zero(module: Module, node: cst.BaseExpression | None) -> bool:
    """Say whether a number below 0 is written: `-1`, `[0, -1]`, `K.constant([-1])`, `n` of it."""
    value = value_of(module, node)
    match value:
        case cst.UnaryOperation(operator=cst.Minus()) | cst.Integer():
            number = literal(value)
            return isinstance(number, int) and number < 0
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return any(_is_below_zero(module, each.value) for each in elements)
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value=maker)) | cst.Name(value=maker),
            args=[cst.Arg(value=made), *_],
        ) if maker in _MAKERS:
            return _is_below_zero(module, made)
    return False


def whole_numbers(*parameters: str) -> Guard:
    """The arguments surely are integers, by default too."""
    return reduce(
        lambda one, other: one & other,
        (
            of_values(
                "whole_numbers", "`{}` is not known to be an integer", each,
                ValueFacts.is_whole,
            )
            for each in parameters
        ),
    )  # fmt: skip


def no_floats(*parameters: str) -> Guard:
    """None of the arguments is written as a floating number."""
    return _of_floats("no_floats", "is a float", parameters, there_is_one=GuardAnswer.NO)


def a_float(*parameters: str) -> Guard:
    """One of the arguments is written as a floating number."""
    return _of_floats("a_float", "must be a float", parameters, there_is_one=GuardAnswer.YES)


def _of_floats(
    name: str, sentence: str, parameters: tuple[str, ...], *, there_is_one: GuardAnswer
) -> Guard:
    def answer(use_site: UseSite) -> GuardAnswer:
        found = any(_is_float(use_site.module, use_site.value(each)) for each in parameters)
        return GuardAnswer.of(found is (there_is_one is GuardAnswer.YES))

    return Question(
        f"{name}({', '.join(map(repr, parameters))})",
        f"one of {', '.join(f'`{each}`' for each in parameters)} {sentence}",
        answer,
        parameters=frozenset(parameters),
    )


def _is_float(module: Module, node: cst.BaseExpression | None) -> bool:
    """Say whether a number is written as a floating one: `1.0`, `-float(n)`, `n * 0.5`."""
    match node:
        case cst.Float():
            return True
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus(), expression=inner):
            return _is_float(module, inner)
        case cst.BinaryOperation(
            operator=cst.Add() | cst.Subtract() | cst.Multiply() | cst.Divide()
        ):
            return _is_float(module, node.left) or _is_float(module, node.right)
        case cst.Call(func=cst.Name(value="float") as function):
            return is_builtin(module, function)
    return False
