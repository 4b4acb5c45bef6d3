"""A default value differs from Keras 2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kdoctor.analysis.calls import add_keyword
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, functions
from kdoctor.keras_api import EntryKind, Presence, Signature, split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import UNKNOWN, literal, literal_in

LAST_KERAS_2 = "2.15.0"
# The parameters of which the old default is worth writing out.
MATTERS = {
    "regularizers.l1_l2": ("l1", "l2"),
    "optimizers.Lion": ("learning_rate",),
    "optimizers.RMSprop": ("ema_overwrite_frequency",),
    "layers.ConvLSTM1D": ("recurrent_activation",),
    "layers.ConvLSTM2D": ("recurrent_activation",),
    "layers.ConvLSTM3D": ("recurrent_activation",),
}
# Parameters that are read only where another one is true.
ONLY_WITH = {"ema_overwrite_frequency": "use_ema"}
# Parameters whose new default gives what the old one gave, wherever they are; and why.
SAME = {
    "name": "a name in logs and files, made of the class's name in both",
    "reduction": "'auto' was 'sum_over_batch_size' wherever there is no distribution strategy",
    "strides": "1 is (1, 1)",
    "dilation_rate": "1 is (1, 1)",
    "padding": "1 on each side is (1, 1)",
    "alpha_initializer": "'zeros' is 'Zeros'",
    "data_format": "None is the configured one: 'channels_last', unless that was changed",
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
        if name not in MATTERS[split[1]] or call.argument(name, position) is not None:
            continue
        switch = call.argument(ONLY_WITH[name]) if name in ONLY_WITH else None
        if name not in ONLY_WITH or (switch is not None and literal(switch.value) is not False):
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
