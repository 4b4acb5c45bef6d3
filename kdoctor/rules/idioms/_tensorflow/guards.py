"""Guards for the rewrites of TensorFlow functions."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite, of_value
from kdoctor.rewrite.guard_base import every
from kdoctor.syntax.literals import evaluated

_METHODS = ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5")
_ENUM = "tensorflow.image.ResizeMethod."
_MEMBERS = ("BILINEAR", "NEAREST_NEIGHBOR", "BICUBIC", "LANCZOS3", "LANCZOS5")


def forgets() -> Guard:
    """The operation is given a name, which nothing in Keras 3 takes."""
    return Question(
        "forgets('name')",
        "`name` is not passed",
        lambda use_site: GuardAnswer.NO if use_site.value("name") is None else GuardAnswer.YES,
        parameters=frozenset({"name"}),
        pins=frozenset({"name"}),
    )


def sizes(parameter: str) -> Guard:
    """The argument is a list of lengths, none of them left open by -1."""
    return _of_form(
        "sizes",
        "`{}` is not known to be a list of sizes",
        parameter,
        lambda _, node: (
            isinstance(node, cst.List | cst.Tuple)
            and len(node.elements) > 1
            and all(isinstance(each.value, cst.Integer) for each in node.elements)
        ),
    )


def window(*parameters: str) -> Guard:
    """The arguments are one whole number each, or two: those of height and width alone."""
    return every(
        *(
            _of_form("window", "`{}` is not known to be one or two whole numbers", each, _window)
            for each in parameters
        )
    )


def resize_method(parameter: str) -> Guard:
    """The argument is a way to interpolate that Keras knows, too."""
    return _of_form(
        "resize_method", "`{}` is not known to be a method that Keras has", parameter, _method
    )


def _window(_: UseSite, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Integer):
        return True
    return (
        isinstance(node, cst.List | cst.Tuple)
        and len(node.elements) == 2
        and all(isinstance(each.value, cst.Integer) for each in node.elements)
    )


def _method(use_site: UseSite, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.SimpleString):
        return evaluated(node) in _METHODS
    name = use_site.module.qualified(node) or ""
    return name.removeprefix(_ENUM) in _MEMBERS


def _of_form(
    name: str,
    sentence: str,
    parameter: str,
    holds: Callable[[UseSite, cst.BaseExpression], bool],
) -> Guard:
    def answer(use_site: UseSite, node: cst.BaseExpression) -> GuardAnswer:
        return GuardAnswer.YES if holds(use_site, node) else GuardAnswer.UNKNOWN

    return of_value(name, sentence, parameter, answer)
