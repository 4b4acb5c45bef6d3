"""What Keras knows by a name in a string: activations, losses, constraints and the like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence
from kdoctor.rules.arguments._short_names import CONSTRAINTS, LOSSES, METRICS, OF_KERAS_1

KERAS_2: Final = ("2.15.0", "2.2.5")
_RELEASES: Final = (None, *KERAS_2)
# What the API does not show, and what `compile` chooses a loss or metric for: a test asks Keras.
_SHORT: Final = frozenset({"bce", "LossFunctionWrapper", "accuracy", "acc", "crossentropy", "ce"})
# KD305 tells of these.
_ELSEWHERE: Final = {
    "activations": frozenset[str](),
    "constraints": frozenset(CONSTRAINTS),
    "losses": _SHORT.union(LOSSES),
    "metrics": _SHORT.union(METRICS, OF_KERAS_1),
    "regularizers": frozenset({"l1_l2"}),
}
# Where else a name of such a thing may come from.
_ALSO_IN: Final = {"losses": ("metrics",), "metrics": ("losses",)}


@lru_cache(maxsize=4096)
def is_known(
    facts: TargetFacts, module: str, text: str, releases: Sequence[str | None] = _RELEASES
) -> bool:
    """Say whether any Keras has it, as a function or by the name of a class, also in snake case."""
    places = (module, *_ALSO_IN.get(module, ("layers",)))
    return _is_elsewhere(module, text) or _is_in(facts, places, text, releases)


@lru_cache(maxsize=4096)
def is_gone(facts: TargetFacts, module: str, text: str) -> bool:
    """Say whether Keras 2 knew it, and the target does not by any such name.

    Losses and metrics have short names that the API does not show.
    """
    if module in _ALSO_IN or _is_elsewhere(module, text):
        return False
    # The activations of Keras 2 had layers among them: what of Keras 3 has none.
    places = (module, "layers") if module == "activations" else (module,)
    return not _is_in(facts, (module,), text, (None,)) and _is_in(facts, places, text, KERAS_2)


def _is_elsewhere(module: str, text: str) -> bool:
    return not text.isidentifier() or not {text, text.lower()}.isdisjoint(_ELSEWHERE[module])


def _is_in(
    facts: TargetFacts, places: Sequence[str], text: str, releases: Sequence[str | None]
) -> bool:
    camel = "".join(part.title() for part in text.split("_"))
    return any(
        facts.at_release(release).lookup(f"keras.{place}.{name}").presence is Presence.EXISTS
        for release in releases
        for place in places
        for name in {text, camel, text.upper()}
    )
