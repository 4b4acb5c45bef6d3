"""A model makes the function that `fit` calls: each backend calls it in its own way."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.facts import BACKEND_NAMES
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.run_by_keras import only_with_backends
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MAKERS = ("make_train_function", "make_test_function", "make_predict_function")


@rule(
    "KD819",
    severity=Severity.ERROR,
    since="3.0",
    look_for=only_with_backends(methods(*_MAKERS, of=Kind.MODEL)),
)
def check(method: Method) -> Finding | None:
    """Report each such method."""
    lines = (each for each in descendants(method.node) if isinstance(each, cst.SimpleStatementLine))
    if any(asks_for_the_backend(method.module, each) for each in lines):
        return None
    others = " and ".join(BACKEND_NAMES[each] for each in method.facts.backends)
    step = method.name.removeprefix("make_").replace("function", "step")
    return method.finding(
        f"`{method.name}` makes a function for TensorFlow: {others} call another one, with other "
        "arguments",
        help=f"Override `compute_loss`, or `{step}` with a body for each backend: `kdoctor rules "
        "KD815` has all three.",
        fix=NoFix("each backend calls the function in its own way"),
    )
