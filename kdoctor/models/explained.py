"""What a saved model is, and what keeps a Keras from loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Part, Remedy
from kdoctor.models.obstacles import obstacles
from kdoctor.models.reading import read_configurations
from kdoctor.models.verdict import Verdict, load_arguments, verdict_of
from kdoctor.target import Target

_NOT_LOADED: Final = frozenset({
    *(FileKind.BROKEN_ARCHIVE, FileKind.OTHER_ARCHIVE, FileKind.LFS_POINTER, FileKind.TFLITE),
    *(FileKind.SAVED_MODEL, FileKind.KERAS_SAVED_MODEL, FileKind.CHECKPOINT, FileKind.PICKLE),
})  # fmt: skip
"""What `keras.models.load_model` of Keras 3 refuses, whatever is in it."""


_ENDINGS: Final = {
    FileKind.HDF5: (".h5", ".hdf5"),
    FileKind.KERAS_ARCHIVE: (".keras",),
}
"""By which names Keras 3 knows a file: it does not look into it first."""


class Explained(Struct, frozen=True):
    """A saved model. ``obstacles`` is None where the file has no configuration to look at."""

    path: Path
    kind: FileKind
    target: Target
    obstacles: tuple[Obstacle, ...] | None

    @property
    def is_refused(self) -> bool:
        """Whether the target loads no file of this kind."""
        return self.kind in _NOT_LOADED and not self.target.is_before_keras_3

    @property
    def is_known(self) -> bool:
        """Whether something is known to keep the target from loading it."""
        return self.is_refused or any(each.gravity is Gravity.STOPS for each in self._told)

    @property
    def verdict(self) -> Verdict | None:
        """What it takes to load the file; None where it has no model that could be judged."""
        if self.is_refused:
            return Verdict.NOT_FOR_KERAS
        return None if self.obstacles is None else verdict_of(self._told)

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments that ``load_model`` needs, as source text: ``{"compile": "False"}``."""
        return load_arguments(self._told)

    @property
    def _told(self) -> tuple[Obstacle, ...]:
        return self.obstacles or ()


def explained(path: Path, target: Target) -> Explained:
    """Return what is known of a saved model.

    Raises:
        FileProblem: it cannot be read, is damaged, or h5py is not installed.
    """
    found = read_configurations(path)
    told = None if found.model is None else tuple(dict.fromkeys(obstacles(found.model, target)))
    endings = _ENDINGS.get(found.kind, ())
    if told is not None and not target.is_before_keras_3 and not path.name.endswith(endings):
        told = (_named_wrongly(path, endings), *told)
    return Explained(path, found.kind, target, told)


def _named_wrongly(path: Path, endings: tuple[str, ...]) -> Obstacle:
    return Obstacle(
        "",
        f"its name does not end in {' or '.join(endings)}, by which Keras 3 knows the kind",
        f"Rename it to `{path.stem}{endings[0]}`.",
        fault=Fault.FILE,
        part=Part.FILE,
        remedy=Remedy.CONVERT,
        subject=path.name,
        became=f"{path.stem}{endings[0]}",
    )
