"""What becomes of the weights of a file as the target loads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from kdoctor.models.at import At, shown
from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Part, Remedy

_MAX_SHOWN: Final = 3  # weights
_OF_OPTIMIZER: Final = "optimizer"  # the group of its variables in a `.keras`
_WITHOUT_SLOTS: Final = 2  # variables: the iteration and the rate


def weight_obstacles(found: Contents, at: At) -> Iterator[Obstacle]:
    """Yield what keeps the target from the weights of a file, or what it leaves out of them."""
    at = replace(at, part=Part.WEIGHTS)
    if found.kind is FileKind.HDF5 and found.top_weights:
        names = ", ".join(f"`{shown(each.name)}`" for each in found.top_weights[:_MAX_SHOWN])
        yield at.obstacle(
            Fault.WEIGHTS,
            f"the model has weights of its own beside its layers ({names}): {at.target} makes none "
            "for a model that it reads",
            "`kdoctor model --convert` leaves them out: no layer computes with them.",
            Remedy.CONVERT,
            "top_level_model_weights",
        )
    if _has_state(found):
        lost = at.obstacle(
            Fault.WEIGHTS,
            f"the state of the optimizer is lost: {at.target} has another layout for it",
            "`kdoctor model --convert` carries it over where Keras 3 has the same optimizer. Or "
            "train on with the Keras that wrote the file.",
            Remedy.CODE,
            "optimizer",
        )
        yield replace(lost, gravity=Gravity.DIFFERS)


def _has_state(found: Contents) -> bool:
    """Say whether a file of Keras 2 holds what its optimizer has gathered in training."""
    if not found.writer.keras.startswith("2."):
        return False
    held = found.optimizer_weights or ()
    if found.kind is not FileKind.HDF5:
        groups = found.weights or ()
        held = tuple(
            each
            for group in groups
            if group.path.partition("/")[0] == _OF_OPTIMIZER
            for each in group.weights
        )
    return len(held) > _WITHOUT_SLOTS
