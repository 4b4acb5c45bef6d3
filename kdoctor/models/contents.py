"""What a saved model says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from kdoctor.models.kinds import FileKind


class Weight(Struct, frozen=True):
    """An array, or a tensor of a signature: in its shape, -1 stands for any size.

    ``shape`` is None where the rank is open.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: str


class WeightGroup(Struct, frozen=True):
    """The weights of one layer, in their order in the file.

    ``name`` is the layer's, "" where the file does not say it; ``path`` is the group in the file.
    """

    name: str
    path: str
    weights: tuple[Weight, ...]


class Signature(Struct, frozen=True):
    """What a SavedModel offers to call: its inputs and outputs, by name."""

    name: str
    inputs: tuple[Weight, ...]
    outputs: tuple[Weight, ...]


class Writer(Struct, frozen=True):
    """Who wrote a file, as it says itself; "" where it does not."""

    keras: str = ""
    backend: str = ""
    tensorflow: str = ""
    tool: str = ""
    saved: str = ""


class Contents(Struct, frozen=True):
    """What was read of a saved model.

    ``model`` is the configuration of the model, ``training`` that of how it was compiled, None
    where there is none. ``weights`` are None where the file has none, or they were not looked at:
    ``notes`` say what was not, one sentence each. Those of the optimizer are in
    ``optimizer_weights``. ``pieces`` are the configurations that lie cut into pieces.
    ``top_weights`` are those that a model of Keras 2 in HDF5 has beside its layers.
    ``members`` are the names of what an archive of another kind holds.
    """

    path: Path
    kind: FileKind
    writer: Writer = Writer()
    model: dict[str, Any] | None = None
    training: dict[str, Any] | None = None
    weights: tuple[WeightGroup, ...] | None = None
    optimizer_weights: tuple[Weight, ...] | None = None
    signatures: tuple[Signature, ...] = ()
    notes: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    top_weights: tuple[Weight, ...] = ()
    members: tuple[str, ...] = ()
