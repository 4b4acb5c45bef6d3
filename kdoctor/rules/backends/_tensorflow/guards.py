"""Guards of the rows: where a line runs."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.backends.raw_variables import is_no_raw_variable
from kdoctor.analysis.backends.reach import is_run_by_keras
from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.analysis.text_mentions import mentions
from kdoctor.lazy_regex import pattern
from kdoctor.rewrite.common_guards import of_value
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, Question
from kdoctor.rules.names._backend.value_guards import may_be_given_sparse
from kdoctor.syntax import Module
from kdoctor.value_types import Context

_ONCE: Final = frozenset({"__init__", "build"})
_SPARSE: Final = pattern(
    r"(?i)\bsparse\.|sparse_?tensor|\bsparse\s*=\s*(?!False)|is_sparse|\b(?:K|backend)\.to_dense|[bcdlo]s[cor]_matrix"
)
_HALVES: Final = pattern(r"(?i)float16|\bhalf\b|mixed_precision|global_policy")
_CALLED: Final = "__call__"


def run_by_keras() -> Guard:
    """Keras runs the line, with tensors that have values."""
    return Question(
        "run_by_keras()",
        "Keras is not known to run this line",
        lambda use_site: GuardAnswer.of(is_run_by_keras(use_site.module, use_site.node)),
    )


def nothing_sparse() -> Guard:
    """The file works with no sparse tensors: it calls nothing that makes one, or asks for one.

    Nor does any file that imports it, and may hand it one.

    The same condition of a proof as that of ``keras.backend``, where the word alone is enough.
    """
    return Question(
        "nothing_sparse()",
        "its argument may be a sparse tensor",
        lambda use_site: GuardAnswer.of(
            not (mentions(use_site.module, _SPARSE) or may_be_given_sparse(use_site.module))
        ),
    )


def no_halves() -> Guard:
    """The file names no half precision: PyTorch widens such a tensor without axes."""
    return Question(
        "no_halves()",
        "the file uses half precision, which PyTorch widens in a tensor without axes",
        lambda use_site: GuardAnswer.of(not mentions(use_site.module, _HALVES)),
    )


def no_raw_variable(parameter: str) -> Guard:
    """The argument surely is no ``tf.Variable``: Keras passes it, or an operation gives it."""
    return of_value(
        "no_raw_variable",
        "`{}` may be a variable",
        parameter,
        lambda use_site, node: (
            GuardAnswer.YES if is_no_raw_variable(use_site.module, node) else GuardAnswer.UNKNOWN
        ),
    )


def once_made() -> Guard:
    """The line runs once, eagerly: in ``__init__``, in ``build``, in an initializer."""
    return Question(
        "once_made()",
        "on JAX numbers that are drawn in each step want a `keras.random.SeedGenerator`",
        lambda use_site: GuardAnswer.of(runs_once(use_site.module, use_site.node)),
    )


def runs_once(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a line runs in ``__init__``, in ``build`` or in an initializer."""
    function = function_around(module, node)
    if not isinstance(function, cst.FunctionDef):
        return False
    name = function.name.value
    is_initializer = name == _CALLED and module.context_of(node) not in (
        Context.CALL,
        Context.LOSS_OR_METRIC,
    )
    return name in _ONCE or is_initializer
