"""A default value differs from Keras 2.

## What it does
Reports calls that leave out an argument whose default differs between the last Keras 2 and the
target, if that changes a result: `l1_l2()`, `Lion()`, `ConvLSTM2D(…)`.

## Why it breaks
`keras.regularizers.l1_l2()` was 0.01 of each and is now nothing; `l1_l2(l2=0.1)` had 0.01 of l1.
The learning rate of `Lion` was 0.0001 and is 0.001. The gates of `ConvLSTM` layers were
`hard_sigmoid` and are `sigmoid`. None of these raises or warns.

## What to write instead
The old value as an explicit argument. The fix writes it if that restores the old result.
(`hard_sigmoid` itself has changed, so there is no fix for `ConvLSTM`.)

## How we know
Both signatures are read from the releases; the old one is that of Keras 2.15. Each difference was
tested on Keras 3.15.1 and tf_keras 2.21. Those that change nothing (`strides=(1, 1)` and
`strides=1`, `reduction="auto"` and `"sum_over_batch_size"`) are listed in the rule with the reason,
and a test fails on any that is on neither list.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import EntryKind, Presence, Signature, split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.literals import literal_value_in
from kdoctor.syntax.quick_facts import QuickFacts

LAST_KERAS_2 = "2.15.0"
# The parameters of which the old default is worth writing out.
MATTERS = {
    "regularizers.l1_l2": ("l1", "l2"),
    "optimizers.Lion": ("learning_rate",),
    "layers.ConvLSTM1D": ("recurrent_activation",),
    "layers.ConvLSTM2D": ("recurrent_activation",),
    "layers.ConvLSTM3D": ("recurrent_activation",),
}
# Parameters whose new default gives what the old one gave, wherever they are; and why.
SAME = {
    "name": "a name in logs and files, made of the class's name in both",
    "reduction": "'auto' was 'sum_over_batch_size' wherever there is no distribution strategy",
    "strides": "1 is (1, 1)",
    "dilation_rate": "1 is (1, 1)",
    "padding": "1 on each side is (1, 1)",
    "alpha_initializer": "'zeros' is 'Zeros'",
    "data_format": "None is the configured one: 'channels_last', unless that was changed",
    "ema_overwrite_frequency": "read with use_ema=True only",
    "jit_compile": "a matter of speed",
    "dpi": "the resolution of a picture",
    "show_layer_names": "what a picture shows",
    "width": "the length of a progress bar",
}
_NOT_RESTORED = {
    "recurrent_activation": "`hard_sigmoid` is a different function in Keras 3 (see KD404)",
}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each left-out argument whose default matters."""
    for reference in module.references:
        call, split = reference.call, split_root(reference.name)
        if call is None or split is None or is_hidden(call) or not facts.runs_keras_3(split[0]):
            continue
        if split[1] not in MATTERS or module.is_guarded(call):
            continue
        for name, old, new, position in changed_defaults(facts, reference.name):
            given = argument(call, name, position)
            if name in MATTERS[split[1]] and given is None:
                yield _finding(module, reference, call, name, old, new)


def _may_be_called(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        split[1] in MATTERS for name in quick.calls_by_meaning if (split := split_root(name))
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    reference: Reference,
    call: cst.Call,
    name: str,
    old: str,
    new: str,
) -> Finding:
    leaf = reference.name.rpartition(".")[2]
    refused = _NOT_RESTORED.get(name)
    return rule.finding(
        module.place(call),
        f"the default of `{name}` in `{leaf}` changed from `{old}` to `{new}`",
        symbol=f"{reference.name}({name})",
        confidence=reference.confidence,
        help=f"Pass `{name}={old}` to keep the old behaviour."
        if refused is None
        else "For weights from Keras 2, pass the old formula as `recurrent_activation`.",
        fix=rule.fix(
            f"Pass the old default, `{name}={old}`", add_keyword(module, call, f"{name}={old}")
        )
        if refused is None
        else NoFix(refused),
    )


@lru_cache(maxsize=256)
def changed_defaults(facts: TargetFacts, name: str) -> tuple[tuple[str, str, str, int | None], ...]:
    """Return the parameters whose default changed: name, old and new default, position now."""
    if facts.lookup(name).presence is not Presence.EXISTS:
        return ()
    before = facts.at_release(LAST_KERAS_2)
    old, new = before.signature(name), facts.signature(name)
    if old is None or new is None or before.lookup(name).kind is EntryKind.MODULE:
        return ()
    return tuple(_changed(old, new))


def _changed(old: Signature, new: Signature) -> Iterator[tuple[str, str, str, int | None]]:
    for position, parameter in enumerate(new.parameters):
        before = old.parameter(parameter.name)
        if before is None or before.default is None or parameter.default is None:
            continue
        if not _are_equal(before.default, parameter.default):
            yield parameter.name, before.default, parameter.default, position


def _are_equal(one: str, other: str) -> bool:
    """Say whether two defaults are one value: 0 and 0.0."""
    try:
        return one == other or bool(literal_value_in(one) == literal_value_in(other))
    except ValueError:
        return False


rule = Rule(
    code="KD405",
    name="default-changed",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(*(name.rpartition(".")[2] for name in MATTERS)) & Trigger(_may_be_called),
    since="3.0",
)

VALID = [
    "import keras\nkeras.regularizers.l1_l2(0.01, 0.1)\nkeras.regularizers.l1_l2(l1=0.1, l2=0.1)",
    "import keras\nkeras.regularizers.L1L2()\nkeras.regularizers.l1_l2(**options)",
    "import keras\nkeras.optimizers.Lion(0.001)\nkeras.optimizers.Adam()",
    "import tf_keras\ntf_keras.regularizers.l1_l2()",
]
INVALID = [
    Example(
        before="import keras\n\nregularizer = keras.regularizers.l1_l2(l2=0.1)\n",
        after="import keras\n\nregularizer = keras.regularizers.l1_l2(l2=0.1, l1=0.01)\n",
        on_keras_2=True,
        same="[round(float(v), 5) for v in regularizer.get_config().values()]",
    ),
    Example(
        before="from tensorflow.keras.regularizers import l1_l2\n\nregularizer = l1_l2()\n",
        after="from tensorflow.keras.regularizers import l1_l2\n\n"
        "regularizer = l1_l2(l1=0.01, l2=0.01)\n",
        findings=2,
        on_keras_2=True,
        same="[round(float(v), 5) for v in regularizer.get_config().values()]",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.ConvLSTM2D(4, 3)\n",
        check="assert layer.recurrent_activation.__name__ == 'sigmoid'",
    ),
]
