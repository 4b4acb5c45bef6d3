"""Find saved models at and below paths, and look at each."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.documents.discovery import MODEL_ENDINGS, Listing, Search, reported
from kdoctor.documents.document import kind_by_ending
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.model import Unreadable
from kdoctor.models.explained import Explained, Judge
from kdoctor.models.kinds import FileKind, index_of
from kdoctor.models.load import Load
from kdoctor.target import Target

# What a saved model may be called, and much else: listed where the content is that of a model.
_MAY_BE: Final = (
    *(".hdf", ".he5", ".pb", ".lite", ".index", ".model", ".ckpt", ".weights", ".json", ".yaml"),
    *(".yml", ".pkl", ".pickle", ".joblib", ".sav", ".pt", ".pth"),
)
_PIECE: Final = re.compile(r".+\.data-\d{5}-of-\d{5}")
_SAVED_MODEL: Final = "saved_model.pb"
_OF_A_FOLDER: Final = ("config.json", "metadata.json")
# What is told where it is named, and only counted where a folder is searched: it is no model, or
# nobody can say without opening it.
_PASSED_OVER: Final = frozenset({
    *(FileKind.OTHER_HDF5, FileKind.OTHER_ARCHIVE, FileKind.PYTORCH, FileKind.PICKLE),
    *(FileKind.JSON, FileKind.UNKNOWN),
})  # fmt: skip
_COUNTED: Final = frozenset({FileKind.OTHER_HDF5, FileKind.PYTORCH, FileKind.PICKLE})
_DAMAGED: Final = frozenset({FileKind.EMPTY, FileKind.HTML, FileKind.LFS_POINTER})

_TEXTS: Final = frozenset({
    *(FileKind.UNKNOWN, FileKind.EMPTY, FileKind.JSON, FileKind.HTML, FileKind.PICKLE),
})  # fmt: skip
"""What may hold the message of an error, or belongs to no model as a rule."""

Progress = Callable[[int, int], None]


class Looked(Struct, frozen=True):
    """What was found at and below some paths, for one target, in the order of the paths.

    ``unreadable`` are the files that could not be read. ``passed_over`` counts, by kind, files
    below a folder that may be something else; ``leading_out`` are links that were not followed.
    ``loads`` are the calls of code that was named, ``without`` the code that loads none of them.
    """

    target: Target
    models: tuple[Explained, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    passed_over: tuple[tuple[FileKind, int], ...] = ()
    leading_out: tuple[str, ...] = ()
    loads: tuple[Load, ...] = ()
    without: tuple[str, ...] = ()

    def loads_of(self, model: Explained) -> list[Load]:
        """Return the calls that load a model, in the order of their files."""
        return [each for each in self.loads if each.path == model.path]

    @property
    def has_read_nothing(self) -> bool:
        """Whether there was no saved model at all."""
        return not (self.models or self.unreadable)


def look_at(
    paths: Sequence[str],
    target: Target,
    exclude: Iterable[str] = (),
    progress: Progress | None = None,
) -> Looked:
    """Look at the saved models among some paths and below them.

    Folders are searched as a scan does it, but for what git ignores: models are seldom tracked. A
    SavedModel, an unzipped archive and a checkpoint count as one. What is named is always told. Of
    code that is named, the models are looked at that it loads.

    Raises:
        UsageProblem: a path does not exist, or settings cannot be read.
    """
    named, searched = _parted(paths)
    code = [path for path in named if kind_by_ending(path) is not None]
    loads, without, unread = _loads(code, target)
    loaded = [str(each.path) for each in loads]
    named = list(dict.fromkeys([*(path for path in named if path not in code), *loaded]))
    listing = _listing(searched, exclude) if searched else Listing(())
    units = [*dict.fromkeys([*named, *_units(listing.files)])]
    judge = Judge(target)
    models, unreadable = list[Explained](), [*listing.unreadable, *unread]
    passed = Counter[FileKind]()
    for number, path in enumerate(units):
        if progress is not None:
            progress(number, len(units))
        try:
            made = judge.explained(Path(path))
        except FileProblem as problem:
            unreadable.append(Unreadable(path, str(problem).removeprefix(f"{Path(path)}: ")))
            continue
        if path in named or not _is_passed_over(made):
            models.append(made)
        elif made.kind in _COUNTED:
            passed[made.kind] += 1
    return Looked(
        target,
        tuple(sorted(models, key=lambda each: str(each.path))),
        tuple(sorted(unreadable, key=lambda each: each.path)),
        tuple(sorted(passed.items())),
        listing.leading_out,
        tuple(loads),
        tuple(without),
    )


def _loads(code: Sequence[str], target: Target) -> tuple[list[Load], list[str], list[Unreadable]]:
    """Return what code loads, the code that loads nothing at hand, and what cannot be read."""
    loads, without, unreadable = list[Load](), list[str](), list[Unreadable]()
    if not code:
        return loads, without, unreadable
    from kdoctor.models.loads_in_code import loads_in  # noqa: PLC0415 - libcst, for code alone

    for path in code:
        try:
            found = loads_in(path, target)
        except FileProblem as problem:
            unreadable.append(Unreadable(path, str(problem)))
            continue
        loads += found
        without += [] if found else [path]
    return loads, without, unreadable


def _listing(paths: Sequence[str], exclude: Iterable[str]) -> Listing:
    # Imported where folders are searched: it takes half the time of a look at one file.
    from kdoctor.engine.selection.file_selection import FileSelection  # noqa: PLC0415

    selection = FileSelection(paths, {"exclude": list(exclude) or None})
    return selection.listing(paths, Search(_is_wanted, respects_git=False))


def _parted(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what is to be looked at as it is, and the folders that are to be searched.

    Raises:
        UsageProblem: a path does not exist.
    """
    named, searched = list[str](), list[str]()
    for path in paths:
        there = Path(path)
        if not path or not (os.path.lexists(path) or index_of(there)):
            raise UsageProblem(f"{path or repr(path)}: no such file or folder")
        is_one = there.is_file() or (not there.exists() and index_of(there) is not None)
        (named if is_one else searched).append(reported(path) if is_one else path)
    return named, searched


def _is_wanted(name: str) -> bool:
    lower = name.lower()
    return (
        lower.endswith((*MODEL_ENDINGS, *_MAY_BE))
        or "." not in name
        or bool(_PIECE.fullmatch(name))
    )


def _units(files: Sequence[str]) -> list[str]:
    """Return the saved models that files belong to: a folder, an index, or the file itself."""
    there = set(files)
    folders = set(_folders(there))
    units = dict[str, None]()
    for path in files:
        above = _above(path, folders)
        prefix, piece, _ = path.rpartition(".data-")
        if above is not None:
            units.setdefault(above)
        elif not (piece and f"{prefix}.index" in there):
            units.setdefault(path)
    return list(units)


def _folders(files: set[str]) -> Iterator[str]:
    """Yield the folders that are one saved model."""
    for path in files:
        folder, name = os.path.split(path)
        beside = os.path.join(folder, _OF_A_FOLDER[1])  # noqa: PTH118 - hot
        if name == _SAVED_MODEL or (name == _OF_A_FOLDER[0] and beside in files):
            yield folder


def _above(path: str, folders: set[str]) -> str | None:
    """Return the outermost of some folders that a file lies in, None where it lies in none."""
    found, below = None, path
    while (folder := os.path.dirname(below)) != below:  # noqa: PTH120 - hot
        if folder in folders:
            found = folder or "."
        below = folder
    return found


def may_be_text(path: Path, kind: FileKind) -> bool:
    """Say whether a file may hold the message of an error, or has nothing to do with models."""
    if kind in {FileKind.OTHER_ARCHIVE, FileKind.BROKEN_ARCHIVE}:
        return path.suffix != ".keras"
    return kind in _TEXTS


def _is_passed_over(made: Explained) -> bool:
    """Say whether a file below a folder is not told of, for it may be anything."""
    name = made.path.name.lower()
    if made.kind in _DAMAGED:
        return not name.endswith(MODEL_ENDINGS)
    is_surely_meant = name.endswith(MODEL_ENDINGS) and made.kind is not FileKind.OTHER_HDF5
    return made.kind in _PASSED_OVER and not is_surely_meant
