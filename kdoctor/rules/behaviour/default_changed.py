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

from kdoctor.analysis.calls import add_keyword
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, functions
from kdoctor.keras_api import EntryKind, Presence, Signature, split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.literals import UNKNOWN, literal_in

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


@rule("KD405", severity=Severity.CHANGE, since="3.0", look_for=functions(*MATTERS))
def check(call: Call) -> Iterator[Finding]:
    """Report each left-out argument whose default matters."""
    split = split_root(call.name)
    assert split is not None
    for name, old, new, position in changed_defaults(call.facts, call.name):
        if name in MATTERS[split[1]] and call.argument(name, position) is None:
            yield _finding(call, name, old, new)


def _finding(call: Call, name: str, old: str, new: str) -> Finding:
    refused = _NOT_RESTORED.get(name)
    return call.finding(
        f"the default of `{name}` in `{call.leaf}` changed from `{old}` to `{new}`",
        symbol=f"{call.name}({name})",
        help=f"Pass `{name}={old}` to keep the old behaviour." if refused is None else
        "For weights from Keras 2, pass the old formula as `recurrent_activation`.",
        fix=NoFix(refused) if refused else call.fix(
            f"Pass the old default, `{name}={old}`",
            add_keyword(call.module, call.node, f"{name}={old}"),
        ),
    )  # fmt: skip


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
    value = literal_in(one)
    return one == other or (value is not UNKNOWN and bool(value == literal_in(other)))


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
