"""A default value differs from Keras 2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import EntryKind, Presence, Signature, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
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
                yield _finding(module, facts, reference, call, name, old, new)


def _may_be_called(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        split[1] in MATTERS for name in quick.calls_by_meaning if (split := split_root(name))
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
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
        help=f"Pass `{name}={old}` to keep the old behaviour." if refused is None else
        "For weights from Keras 2, pass the old formula as `recurrent_activation`.",
        fix=Fix(
            f"Pass the old default, `{name}={old}`",
            (add_keyword(module, call, f"{name}={old}"),),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        if refused is None
        else NoFix(refused),
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
