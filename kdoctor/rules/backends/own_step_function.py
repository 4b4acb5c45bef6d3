"""A step of a model, or the function that `fit` calls: each backend calls it in its own way."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.facts import BACKEND_NAMES
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.run_by_keras import only_with_backends
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MAKERS = ("make_train_function", "make_test_function", "make_predict_function")


_STEPS = ("train_step", "test_step", "predict_step")
_TAPE = "GradientTape"
_OF_FIT = (
    "Override `compute_loss` and `compute_metrics`, which each backend calls; or write a body for "
    "each backend, as `kdoctor rules KD815` shows."
)
_HELP = {
    "train_step": _OF_FIT,
    "test_step": _OF_FIT,
    "predict_step": "Do it in `call`, or write a body for each backend.",
}


@rule(
    "KD819",
    severity=Severity.ERROR,
    since="3.0",
    look_for=only_with_backends(methods(*_MAKERS, *_STEPS, of=Kind.MODEL)),
)
def check(method: Method) -> Finding | None:
    """Report each such method."""
    lines = (each for each in descendants(method.node) if isinstance(each, cst.SimpleStatementLine))
    if any(asks_for_the_backend(method.module, each) for each in lines):
        return None
    if method.name in _STEPS:
        return _step(method)
    others = " and ".join(BACKEND_NAMES[each] for each in method.facts.backends)
    step = method.name.removeprefix("make_").replace("function", "step")
    return method.finding(
        f"`{method.name}` makes a function for TensorFlow: {others} call another one, with other "
        "arguments",
        help=f"Override `compute_loss`, or `{step}` with a body for each backend: `kdoctor rules "
        "KD815` has all three.",
        fix=NoFix("each backend calls the function in its own way"),
    )


def _step(method: Method) -> Finding | None:
    """Report a step without the state that JAX passes; of one with a tape KD815 tells."""
    params = method.node.params
    takes_more = params.star_kwarg or isinstance(params.star_arg, cst.Param)
    every = [*params.posonly_params, *params.params]
    if "jax" not in method.facts.backends or takes_more or len(every) != len(("self", "data")):
        return None
    if any(isinstance(e, cst.Name) and e.value == _TAPE for e in descendants(method.node)):
        return None
    return method.finding(
        f"JAX calls `{method.name}(state, data)`, which returns the new state, too: TypeError: "
        f"{_class_name(method)}.{method.name}() takes 2 positional arguments but 3 were given",
        help=_HELP[method.name],
        fix=NoFix("JAX passes the step the state of the model, and takes the new one of it"),
    )


def _class_name(method: Method) -> str:
    owner = class_around(method.module, method.node)
    return "" if owner is None else owner.name.value
