"""`LSTM(dropout=0.2)` drops the same inputs at every step; Keras 2.4 to 2.15 sampled at each step."""  # noqa: E501 - as on its page

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, instances, is_hidden, literal, literal_of, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, keyword
from kdoctor.keras_api import Signature
from kdoctor.keras_api.tensorflow_aliases import TURN_EAGER_OFF
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_LAYERS: Final = ("GRU", "LSTM")
# With anything but the defaults of these, Keras 2 too ran its cell step by step.
_DECIDE: Final = frozenset({
    *("activation", "recurrent_activation", "recurrent_dropout", "reset_after", "unroll"),
    "use_bias",
})  # fmt: skip
# Among the keywords that no signature of Keras 3 names; with 1, it cannot be trained so (3.15.1).
_IMPLEMENTATION: Final = 2


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer that drops inputs, and nothing else that Keras 2 did step by step."""
    if any(each.name.endswith(TURN_EAGER_OFF) for each in module.references):
        return
    for reference, call, kind in instances(module, Kind.LAYER, facts):
        given = argument(call, "dropout")
        if kind.cls not in _LAYERS or given is None or is_hidden(call) or module.is_guarded(call):
            continue
        if not _is_rate(literal(value_of(module, given.value))):
            continue
        if _is_fast(module, call, facts.signature(reference.name)):
            yield rule.finding(
                module.place(given),
                f"`{kind.cls}` drops the same inputs at every step: Keras 2.4 to 2.15 sampled a "
                "new mask at each step",
                symbol=f"{reference.name}(dropout)",
                confidence=reference.confidence,
                help="For the old noise, put a `Dropout` layer in front of it instead.",
                fix=NoFix("which of the two works better depends on the data"),
            )


def _is_rate(value: object) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _is_fast(module: Module, call: cst.Call, signature: Signature | None) -> bool:
    usual: list[tuple[cst.Arg | None, object]] = [
        (argument(call, each.name, place), literal_eval(each.default))
        for place, each in enumerate(signature.parameters if signature else ())
        if each.name in _DECIDE and each.default is not None
    ]
    usual.append((argument(call, "implementation"), _IMPLEMENTATION))
    return all(
        given is None or literal(value_of(module, given.value)) == default
        for given, default in usual
    )


def _may_drop(_facts: TargetFacts, called: QuickCall) -> bool:
    others = called.argument("recurrent_dropout")
    return called.argument("dropout") is not None and (others is None or not literal_of(others))


rule = Rule(
    code="KD472",
    name="dropout-over-time",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=calls(_may_drop, *_LAYERS) & keyword("dropout"),
    since="3.0",
)
