"""Functions of ``keras.backend`` whose first two arguments stood the other way round in Keras 1.

Compared by the signatures of Keras 1.2.2 and 2.0.9: of all functions with these names in both, the
crossentropies alone swap what is passed by position and raise nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Fix
from kdoctor.rules.arguments._keras_1_dialect import speaks_keras_1
from kdoctor.syntax import Module, Reference

_SWAPPED: Final = frozenset(
    {"binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"}
)
_REASON: Final = (
    "the file passes Keras 1 keywords, and `{}(output, target)` of Keras 1 took the targets last; "
    "they come first since Keras 2"
)


def may_be_swapped(
    module: Module, facts: TargetFacts, reference: Reference, leaf: str, fix: Fix
) -> Fix:
    """Return the fix as it is, or, in a file of Keras 1, one that says what comes first."""
    call = reference.call
    if leaf not in _SWAPPED or call is None or not speaks_keras_1(module, facts):
        return fix
    if sum(each.keyword is None for each in call.args) < len(("output", "target")):
        return fix
    reasons = [each for each in (fix.unsafe_because, _REASON.format(leaf)) if each]
    return replace(fix, applicability=Applicability.UNSAFE, unsafe_because="; ".join(reasons))
