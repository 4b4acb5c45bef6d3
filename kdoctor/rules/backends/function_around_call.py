"""``@tf.function`` on what Keras calls: its arguments are tensors of TensorFlow from there on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.backends.reach import is_run_by_keras_alone
from kdoctor.analysis.models.user_classes import decorated_by
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import ASKS_OTHER_BACKENDS, word
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, Finding, NoFix, Severity
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_FUNCTION: Final = "tensorflow.function"
_AUTOGRAPH: Final = (
    "outside of a compiled step it runs line by line then, and `if` and `for` over tensors are "
    "Python's own"
)


@rule(
    "KD813",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(ASKS_OTHER_BACKENDS & word("function")),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such decorator."""
    module = file.module
    for function in module.nodes(cst.FunctionDef):
        for decorator, name in zip(
            function.decorators, decorated_by(module, function), strict=True
        ):
            if by_the_short_way(name) != _FUNCTION or module.is_guarded(decorator):
                continue
            if is_run_by_keras_alone(module, function.body):
                yield file.finding(
                    "what Keras calls with tensors of its backend is a function of TensorFlow: on "
                    "JAX it cannot be traced, on PyTorch no gradient gets through",
                    at=decorator.decorator,
                    symbol=_FUNCTION,
                    help="Remove the decorator: `fit` compiles the whole step, on each backend.",
                    fix=file.fix(
                        "Remove the decorator",
                        _left_out(module, decorator),
                        unsafe_because=_AUTOGRAPH,
                    ),
                )


def _left_out(module: Module, decorator: cst.Decorator) -> Edit | NoFix:
    lines = whole_line(module, module.span(decorator))
    if lines is None or "#" in module.source(decorator):
        return NoFix("there is a comment next to it")
    return Edit(lines, ())
