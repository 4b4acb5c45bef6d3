"""The verdict on a saved model, from what stands in its way."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

from kdoctor.models.obstacle import Gravity, Obstacle, Remedy


class Verdict(enum.StrEnum):
    """Whether a target loads a file, and what it takes."""

    LOADS = "loads"
    LOADS_WITH = "loads with arguments"  # `Explained.arguments` says which
    CONVERTS = "converts"
    BY_HAND = "needs code by hand"
    NOT_FOR_KERAS = "not for Keras"


_BY_REMEDY: Final = {
    Remedy.NOTHING: Verdict.LOADS,
    Remedy.COMPILE_FALSE: Verdict.LOADS_WITH,
    Remedy.CUSTOM_OBJECTS: Verdict.LOADS_WITH,
    Remedy.SAFE_MODE_FALSE: Verdict.LOADS_WITH,
    Remedy.CONVERT: Verdict.CONVERTS,
    Remedy.CODE: Verdict.BY_HAND,
    Remedy.NONE: Verdict.NOT_FOR_KERAS,
}


def verdict_of(obstacles: Iterable[Obstacle]) -> Verdict:
    """Return what the worst of the obstacles leaves; what only differs stops nothing."""
    stopping = (each.remedy for each in obstacles if each.gravity is Gravity.STOPS)
    return _BY_REMEDY[max(stopping, default=Remedy.NOTHING)]


def load_arguments(obstacles: Iterable[Obstacle]) -> dict[str, str]:
    """Return the arguments of ``load_model`` that get past obstacles, as source text.

    ``{"compile": "False", "custom_objects": '{"F1": F1}'}``; in the order in which one writes them.
    """
    found = [each for each in obstacles if each.gravity is Gravity.STOPS]
    made = {}
    own = sorted({each.subject for each in found if each.remedy is Remedy.CUSTOM_OBJECTS})
    if own:
        pairs = ", ".join(f'"{each}": {each.rpartition(">")[2]}' for each in own)
        made["custom_objects"] = f"{{{pairs}}}"
    if any(each.remedy is Remedy.COMPILE_FALSE for each in found):
        made["compile"] = "False"
    if any(each.remedy is Remedy.SAFE_MODE_FALSE for each in found):
        made["safe_mode"] = "False"
    return made
