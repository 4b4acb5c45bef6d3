"""`LSTM(dropout=0.2)` drops the same inputs at every step; Keras 2.4 to 2.15 sampled at each step."""  # noqa: E501 - as on its page

from __future__ import annotations

from ast import literal_eval
from typing import Final

from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.keras_api.tensorflow_aliases import TURN_EAGER_OFF
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

# With anything but the defaults of these, Keras 2 too ran its cell step by step.
_DECIDE: Final = frozenset({
    *("activation", "recurrent_activation", "recurrent_dropout", "reset_after", "unroll"),
    "use_bias",
})  # fmt: skip
# Among the keywords that no signature of Keras 3 names; with 1, it cannot be trained so (3.15.1).
_IMPLEMENTATION: Final = 2


def _is_rate(form: object) -> bool:
    return isinstance(form, float) and 0 < form < 1


@rule(
    "KD472",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.LAYER, "GRU"), Instance(Kind.LAYER, "LSTM")).argument(
        "dropout", where=_is_rate
    ),
)
def check(dropout: Argument) -> Finding | None:
    """Report each such layer that drops inputs, and nothing else that Keras 2 did step by step."""
    if not _is_fast(dropout):
        return None
    if any(each.name.endswith(TURN_EAGER_OFF) for each in dropout.module.references):
        return None
    return dropout.finding(
        f"`{dropout.cls}` drops the same inputs at every step: Keras 2.4 to 2.15 sampled a new "
        "mask at each step",
        at=dropout.arg,
        help="For the old noise, put a `Dropout` layer in front of it instead.",
        fix=NoFix("which of the two works better depends on the data"),
    )


def _is_fast(dropout: Argument) -> bool:
    signature = dropout.facts.signature(dropout.name)
    usual = [
        (dropout.value(each.name, place), literal_eval(each.default))
        for place, each in enumerate(signature.parameters if signature else ())
        if each.name in _DECIDE and each.default is not None
    ]
    usual.append((dropout.value("implementation"), _IMPLEMENTATION))
    return all(given is None or literal(given) == default for given, default in usual)
