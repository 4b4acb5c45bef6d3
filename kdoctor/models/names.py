"""Names of layers and models that the target does not take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kdoctor.models.at import At, shown
from kdoctor.models.obstacle import Fault, Obstacle, Remedy

_NAMED: Final = ("keras.src.layers.", "keras.src.models.")  # what is a layer: others may have a `/`


def name_obstacles(home: str, config: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for a layer with a `/` in its name, as those of a DenseNet of Keras 2."""
    name = config.get("name")
    if home.startswith(_NAMED) and isinstance(name, str) and "/" in name:
        yield at.obstacle(
            Fault.VALUE,
            f"the name `{shown(name)}` has a `/` in it, which {at.target} takes in no name",
            "`kdoctor model --convert` writes `_` instead. Code that asks for the layer by its "
            "name must do so, too.",
            Remedy.CONVERT,
            subject="name",
        )
