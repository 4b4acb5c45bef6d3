"""`Bidirectional(layer, trainable=False)` freezes nothing: the inner layers keep training."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.forms import is_false
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

HOLD: Final = {
    "Bidirectional": "layer",
    "TimeDistributed": "layer",
    "RNN": "cell",
    "ConvLSTM1D": None,
    "ConvLSTM2D": None,
    "ConvLSTM3D": None,
    "MultiHeadAttention": None,
}
"""Layers with others inside, and the argument, their first, that takes these."""


@rule(
    "KD467",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(*(Instance(Kind.LAYER, cls) for cls in HOLD)).argument(
        "trainable", where=is_false
    ),
)
def check(given: Argument) -> Finding:
    """Report each such layer that is to be frozen by an argument."""
    inner = HOLD[given.cls]
    return given.finding(
        f"`trainable=False` does not reach the layers inside `{given.cls}`: Keras 3 keeps training "
        "them",
        at=given.arg,
        help="Pass it to the inner layer."
        if inner
        else "Set `layer.trainable = False` after creating the layer.",
        fix=_passed_on(given, inner)
        if inner
        else NoFix("it creates its inner layers itself: this needs a separate statement"),
    )


def _passed_on(given: Argument, inner: str) -> Fix | NoFix:
    """Return the fix that says it to the layer that is made right there."""
    module, why_not = given.module, NoFix("the inner layer is not created here")
    held = given.argument(inner, 0)
    if held is None or not isinstance(held.value, cst.Call):
        return why_not
    made = module.type_of(held.value)
    # Those that hold others do not hand it on either.
    if made is None or not made.is_of_imported_class or made.cls in HOLD:
        return why_not
    if is_hidden(held.value) or argument(held.value, "trainable"):
        return why_not
    gone = remove_arguments(module, given.call, [given.arg])
    if gone is None:
        return why_not
    added = add_keyword(module, held.value, f"trainable={given.source(given.node)}")
    return given.fix("Pass it to the inner layer", added, *gone)
