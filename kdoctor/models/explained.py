"""What a saved model is, and what keeps a Keras from loading it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Remedy
from kdoctor.models.obstacles import obstacles
from kdoctor.models.of_kind import kind_obstacles
from kdoctor.models.reading import read_contents
from kdoctor.models.verdict import Verdict, load_arguments, verdict_of
from kdoctor.target import Target


class Explained(Struct, frozen=True):
    """A saved model, and what stands between it and the target.

    ``obstacles`` is None where nothing is in the way as far as one can see, and nothing says that
    the target loads it: of weights alone.
    """

    path: Path
    kind: FileKind
    target: Target
    obstacles: tuple[Obstacle, ...] | None
    contents: Contents

    @property
    def is_refused(self) -> bool:
        """Whether the target loads no file of this kind."""
        return any(each.fault is Fault.FILE and each.remedy >= Remedy.CODE for each in self._told)

    @property
    def is_known(self) -> bool:
        """Whether something is known to keep the target from loading it."""
        return any(each.gravity is Gravity.STOPS for each in self._told)

    @property
    def verdict(self) -> Verdict | None:
        """What it takes to load the file; None where it has no model that could be judged."""
        return None if self.obstacles is None else verdict_of(self._told)

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments that ``load_model`` needs, as source text: ``{"compile": "False"}``."""
        return load_arguments(self._told)

    @property
    def _told(self) -> tuple[Obstacle, ...]:
        return self.obstacles or ()


def explained(path: Path, target: Target, kind: FileKind | None = None) -> Explained:
    """Return what is known of a saved model, of a ``kind`` if that is known.

    Raises:
        FileProblem: it cannot be read, is damaged, or h5py is not installed.
    """
    found = read_contents(path, kind)
    told = list(kind_obstacles(found, target))
    is_read = found.model is not None and not any(each.remedy >= Remedy.CODE for each in told)
    if is_read:
        told += obstacles(found, target)
    known = tuple(dict.fromkeys(told)) if told or is_read else None
    return Explained(found.path, found.kind, target, known, found)
