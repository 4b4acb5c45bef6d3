"""`SGD(learning_rate=1)`: the learning rate must be a Python float."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.queries import Call, constructs
from kdoctor.analysis.queries.forms import Expression, is_plain_int
from kdoctor.analysis.tensors.constructors import FLOATS_OF_NUMPY, INTS_OF_NUMPY
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_OF_NUMPY = frozenset({
    *("array", "asarray", "half", "single"), *INTS_OF_NUMPY,
    *(name for name, is_double in FLOATS_OF_NUMPY.items() if not is_double),
})  # fmt: skip
_VARIABLES = ways_also_by_1("tensorflow.Variable")
_FLOAT = "float"
_FOLLOWED = "Keras 2.10 and earlier followed later changes of a variable's value"
_ERROR = "ValueError: Argument `learning_rate` should be float, or an instance of "


def is_no_float(name: str) -> bool:
    """Say whether what is called gives a number that Keras 3 takes for no float."""
    if name.startswith("numpy."):
        return name.removeprefix("numpy.") in _OF_NUMPY
    return computes_tensor(name) or _is_variable(name)


def _is_variable(name: str) -> bool:
    split = split_root(name)
    of_keras = split is not None and split[1] in {"Variable", "backend.variable"}
    return of_keras or name in _VARIABLES


def _is_refused(form: object) -> bool:
    if isinstance(form, Expression):
        return form.kind == "Call" and any(map(is_no_float, form.meant))
    return is_plain_int(form)


@rule(
    "KD309",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).passing_one_of(
        (("learning_rate", 0), ("lr", None)), where=_is_refused
    ),
)
def check(made: Call) -> Finding | None:
    """Report each learning rate that Keras 3 takes for no float."""
    by_keyword = made.argument("learning_rate") or made.argument("lr")
    given = made.given("learning_rate") or by_keyword
    if given is None or not _is_refused(made.form(given.value)):
        return None
    return made.finding(
        f"the learning rate must be a float: {_ERROR}LearningRateSchedule",
        at=given,
        symbol=f"{made.name}(learning_rate)",
        help="Write a float such as `1.0`, or call `float()` where the rate is read.",
        fix=_as_float(made, given.value),
    )


def _as_float(made: Call, rate: cst.BaseExpression) -> Fix | NoFix:
    is_plain = isinstance(rate, cst.Integer) and rate.value.isdigit() and not rate.lpar
    if not is_plain and not has_builtin(made.module, rate, _FLOAT):
        return NoFix(hidden_builtin(_FLOAT))
    span = made.module.outer_span(rate)
    point, called = (Hole(span), ".0"), (f"{_FLOAT}(", Hole(span), ")")
    form = made.form(rate)
    is_variable = isinstance(form, Expression) and any(map(_is_variable, form.meant))
    return made.fix(
        "Write it as a float",
        Edit(span, point if is_plain else called),
        unsafe_because=_FOLLOWED if is_variable else "",
    )
