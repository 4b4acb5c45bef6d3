"""Guards of the rows: where a line runs."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.backends.reach import is_run_by_keras
from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, Question, UseSite
from kdoctor.value_types import Context

_ONCE: Final = frozenset({"__init__", "build"})
_CALLED: Final = "__call__"


def run_by_keras() -> Guard:
    """Keras runs the line, with tensors that have values."""
    return Question(
        "run_by_keras()",
        "Keras is not known to run this line",
        lambda use_site: GuardAnswer.of(is_run_by_keras(use_site.module, use_site.node)),
    )


def once_made() -> Guard:
    """The line runs once, eagerly: in ``__init__``, in ``build``, in an initializer."""
    return Question(
        "once_made()",
        "on JAX numbers that are drawn in each step want a `keras.random.SeedGenerator`",
        lambda use_site: GuardAnswer.of(_runs_once(use_site)),
    )


def _runs_once(use_site: UseSite) -> bool:
    function = function_around(use_site.module, use_site.node)
    if not isinstance(function, cst.FunctionDef):
        return False
    name = function.name.value
    is_initializer = name == _CALLED and use_site.module.context_of(use_site.node) not in (
        Context.CALL,
        Context.LOSS_OR_METRIC,
    )
    return name in _ONCE or is_initializer
