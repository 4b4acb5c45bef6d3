"""A loss or metric uses a symbolic tensor of the model: `z_mean` of an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.captured import captured
from kdoctor.analysis.roots import uses_another_keras
from kdoctor.analysis.tensors.symbolic import REFUSED, SYMBOLIC
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule

_PARTS: Final = ("backend", "losses", "metrics", "ops")
# They ask for what a symbolic tensor does have.
_ASKING: Final = frozenset({
    "dtype", "int_shape", "is_keras_tensor", "is_placeholder", "is_sparse", "is_tensor",
    "is_variable", "ndim", "shape", "size", "standardize_dtype",
})  # fmt: skip


def _takes_values(name: str) -> bool:
    """Say whether a name is a function of Keras that works on the values of tensors."""
    split = split_root(name)
    if split is None:
        return False
    part, _, function = split[1].partition(".")
    return part in _PARTS and function.islower() and function not in _ASKING


CAPTURED: Final = captured(_takes_values, operation="keras.KerasTensor")


@rule("KD517", severity=Severity.ERROR, since="3.0", look_for=files(SYMBOLIC, CAPTURED))
def check(file: File) -> Iterator[Finding]:
    """Report the first place where a loss reads such a tensor."""
    module = file.module
    told: set[tuple[cst.CSTNode, str]] = set()
    others = uses_another_keras(module, file.facts)
    for read in sorted(file.find(CAPTURED), key=lambda each: module.span(each.node)):
        name = module.source(read.node)
        if (read.function, name) in told or (others and not _takes_values(read.symbol)):
            continue
        if module.is_guarded(read.node):
            continue
        told.add((read.function, name))
        yield read.finding(
            f"a loss or metric uses `{name}`, a symbolic tensor of the model, which has no value "
            f"there: {REFUSED}",
            help="Pass it to a custom layer whose `call` computes this part of the loss and adds "
            "it with `self.add_loss(value)`.",
            fix=NoFix("you have to decide where the layer goes and what it receives"),
        )
