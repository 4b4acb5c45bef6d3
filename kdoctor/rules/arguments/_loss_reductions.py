"""``reduction=Reduction.AUTO`` of losses, which Keras 3 does not know."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.possible_values import default_in_use
from kdoctor.model import Edit
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.rule import Example
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def reduction(module: Module, call: cst.Call) -> Iterator[Refused]:
    """Refuse `reduction="auto"` of a loss, passed or handed on."""
    given = argument(call, "reduction")
    if given is None:
        return
    default = default_in_use(module, given.value)
    if default is not None and _is_auto(module, default):
        yield _reduction_by_default(module, default)
    value = value_of(module, given.value)
    if not _is_auto(module, value):
        return
    edits = remove_arguments(module, call, [given])
    yield Refused(
        given,
        "ValueError: Invalid value for argument `reduction`.",
        "Leave it out: the default, 'sum_over_batch_size', is what 'auto' meant.",
        tuple(edits or ()),
        f"Leave out `reduction={module.source(given.value)}`",
        no_fix_because="there is a comment inside it",
        proofs=("reduction=",),
    )


def _is_auto(module: Module, value: cst.BaseExpression) -> bool:
    name = module.qualified(value) or ""
    return literal(value) == "auto" or name.endswith("Reduction.AUTO")


def _reduction_by_default(module: Module, default: cst.BaseExpression) -> Refused:
    """Refuse what `super().__init__(reduction=reduction)` hands on where nobody gives another."""
    return Refused(
        default,
        "ValueError: Invalid value for argument `reduction`.",
        "Write 'sum_over_batch_size', which is what 'auto' meant.",
        (Edit(module.span(default), ('"sum_over_batch_size"',)),),
        'Write `"sum_over_batch_size"`',
        proofs=("reduction=reduction",),
    )


_OWN_LOSS = (
    "import tensorflow as tf\n\n\nclass Mine(tf.keras.losses.Loss):\n"
    "    def __init__(self, reduction={}):\n{}        {}\n\n"
    "    def call(self, y_true, y_pred):\n        return tf.square(y_true - y_pred)\n\n\n"
)
_HANDS_ON = "super().__init__(reduction=reduction)"
_MEAN = "value = float(mine(tf.ones((2, 1)), tf.zeros((2, 1))))\n"

LEFT_AS_IS = [
    # Nobody leaves the default to it; it decides by what it got; it is something else by then.
    _OWN_LOSS.format("'auto'", "", _HANDS_ON) + "mine = Mine('sum')\n",
    _OWN_LOSS.format(
        "'auto'", "        if reduction == 'auto':\n            reduction = None\n", _HANDS_ON
    ),
    _OWN_LOSS.format("'auto'", "", "super().__init__(reduction='sum')"),
]
"""What is no business of the rule."""
HANDED_ON = [
    # Handed on, as the default of a parameter: what everybody gets who passes nothing.
    Example(
        before=_OWN_LOSS.format("tf.keras.losses.Reduction.AUTO", "", _HANDS_ON)
        + f"mine = Mine()\n{_MEAN}",
        after=_OWN_LOSS.format('"sum_over_batch_size"', "", _HANDS_ON) + f"mine = Mine()\n{_MEAN}",
        raises="ValueError: Invalid value for argument `reduction`.",
        same="round(value, 6)",
    ),
]
