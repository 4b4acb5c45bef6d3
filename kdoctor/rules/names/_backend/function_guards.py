"""The guards that ask whether an argument is a function."""

from __future__ import annotations

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.names._backend.value_facts import ValueFacts, inference_of
from kdoctor.rules.names._backend.value_guards import of_values
from kdoctor.syntax import Module


def is_function(parameter: str) -> Guard:
    """The argument surely is a function: a lambda, or the name of one that is defined here."""
    return of_values(
        "is_function", "`{}` is not known to be a function", parameter, _names_a_function
    )


# What has another value than a function; a call, or an item of something, may give one.
_NO_FUNCTIONS = (
    cst.BaseNumber | cst.BaseString | cst.BinaryOperation | cst.UnaryOperation | cst.Comparison
    | cst.Tuple | cst.List | cst.Dict | cst.Set
)  # fmt: skip
_GIVING_TENSORS = ("backend", "ops", "random")


def is_no_function(parameter: str) -> Guard:
    """The argument surely is no function."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node, module = use_site.value(parameter), use_site.module
        if node is None:
            return GuardAnswer.UNKNOWN
        found = isinstance(node, _NO_FUNCTIONS) or inference_of(module).is_tensor(node)
        return GuardAnswer.YES if found or _gives_a_tensor(module, node) else GuardAnswer.UNKNOWN

    return Question(
        f"is_no_function({parameter!r})",
        f"`{parameter}` may be a function",
        answer,
        parameters=frozenset({parameter}),
    )


def _gives_a_tensor(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a function of Keras' own is called that makes no other function."""
    name = module.qualified(node.func) if isinstance(node, cst.Call) else None
    split = split_root(name) if name else None
    parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
    return parent in _GIVING_TENSORS and leaf != "function"


def is_no_known_function(parameter: str) -> Guard:
    """The argument is neither a lambda nor what is known to be a function."""
    return of_values(
        "is_no_known_function",
        "`{}` is a function",
        parameter,
        lambda inference, node: not _names_a_function(inference, node),
    )


def _names_a_function(inference: ValueFacts, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Lambda) or inference.is_function(node)
