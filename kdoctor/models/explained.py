"""What a saved model is, and what keeps a Keras from loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Remedy
from kdoctor.models.obstacles import obstacles
from kdoctor.models.of_kind import kind_obstacles
from kdoctor.models.reading import read_contents
from kdoctor.models.verdict import Verdict, load_arguments, verdict_of
from kdoctor.target import Target

_MAX_REMEMBERED: Final = 4  # files
_WRITTEN: Final = "`kdoctor model --convert` writes what stands for it. Without that:"


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
    return Judge(target).explained(path, kind)


class Judge:
    """Explains saved models for one target.

    The checkpoints of a training differ in nothing but their numbers, which nobody reads here:
    what stands in the way of one stands in the way of the next.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._last: list[tuple[Contents, list[Obstacle], list[Obstacle]]] = []

    def explained(self, path: Path, kind: FileKind | None = None) -> Explained:
        """Return what is known of a saved model, of a ``kind`` if that is known.

        Raises:
            FileProblem: it cannot be read, is damaged, or h5py is not installed.
        """
        target, found = self._target, read_contents(path, kind)
        told = list(kind_obstacles(found, target))
        is_read = found.model is not None and not any(each.remedy >= Remedy.CODE for each in told)
        if is_read:
            told = self._with_those_inside(found, told)
        known = tuple(dict.fromkeys(told)) if told or is_read else None
        return Explained(found.path, found.kind, target, known, found)

    def _with_those_inside(self, found: Contents, told: list[Obstacle]) -> list[Obstacle]:
        """Return what is in the way: ``told`` is what the kind and the name of a file say."""
        for contents, before, after in self._last:
            if told == before and _is_same(contents, found):
                return after
        after = _as_converted(found, self._target, [*told, *obstacles(found, self._target)])
        self._last = [(found, told, after), *self._last[: _MAX_REMEMBERED - 1]]
        return after


def _is_same(one: Contents, other: Contents) -> bool:
    """Say whether two files differ in nothing but their path and their numbers."""
    # The same text gets the same object of `parsed`; comparing would take `1` for `True`.
    return (
        one.model is other.model
        and one.training is other.training
        and one.path.suffix == other.path.suffix
        and replace(one, path=other.path, model=None, training=None)
        == replace(other, model=None, training=None)
    )


def _as_converted(found: Contents, target: Target, told: list[Obstacle]) -> list[Obstacle]:
    """Return obstacles whose remedies are those that a conversion of this file shows.

    An obstacle is told by what it is; whether all of a file converts, its graph and its weights
    say, too.
    """
    verdict = verdict_of(told)
    if verdict not in {Verdict.CONVERTS, Verdict.BY_HAND}:
        return told
    # Imported where it is asked: it takes a third of the time of a look at one file.
    from kdoctor.models.convert import refusals_of  # noqa: PLC0415

    refusals = refusals_of(found, target)
    if refusals is None:
        return told
    if verdict is Verdict.CONVERTS:
        return [*told, *refusals]
    return told if refusals else [_converted(each) for each in told]


def _converted(obstacle: Obstacle) -> Obstacle:
    if obstacle.remedy is not Remedy.CODE or obstacle.gravity is not Gravity.STOPS:
        return obstacle
    return replace(obstacle, remedy=Remedy.CONVERT, cure=f"{_WRITTEN} {obstacle.cure}")
