"""Code style of each folder, from the settings of the project's linters and formatters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.project import import_sorting, line_length
from kdoctor.project.import_sorting import DEFAULT, Sorting, sorting_in
from kdoctor.project.line_length import limit_in
from kdoctor.project.root import HISTORIES, MARKS

_FILES: Final = frozenset({*line_length.FILES, *import_sorting.FILES})


class CodeStyle(Struct, frozen=True):
    """Line length (None: each file keeps its own) and import order."""

    line_limit: int | None = None
    sorting: Sorting = DEFAULT


DEFAULT_STYLE: Final = CodeStyle()


class CodeStyles:
    """The style of each folder: the nearest file counts, up to where the project begins.

    ``top`` is the folder that is looked at last where nothing says where that is. A file that
    cannot be read is ignored here: it is reported elsewhere.
    """

    def __init__(self, top: Path) -> None:
        self._top = str(top)
        self._names: dict[str, frozenset[str]] = {}
        self._known: dict[tuple[str, bool], CodeStyle] = {}
        self._in_repository: dict[str, bool] = {}

    def of(self, folder: str) -> CodeStyle:
        """Return the style of a folder, given by its absolute path."""
        return self._of(folder, in_repository=self._is_in_repository(folder))

    def _of(self, folder: str, *, in_repository: bool) -> CodeStyle:
        known = self._known.get((folder, in_repository))
        if known is None:
            known = self._known[folder, in_repository] = self._read(folder, in_repository)
        return known

    def _read(self, folder: str, in_repository: bool) -> CodeStyle:  # noqa: FBT001 - handed on
        names = self._names_in(folder)
        texts = {name: _text(os.path.join(folder, name)) for name in names & _FILES}  # noqa: PTH118
        limit, sorting = limit_in(texts), sorting_in(texts)
        above = os.path.dirname(folder)  # noqa: PTH120 - hot
        ends = not names.isdisjoint(HISTORIES if in_repository else MARKS)
        if ends or above == folder or (not in_repository and folder == self._top):
            return CodeStyle(limit, sorting or DEFAULT)
        if limit is not None and sorting is not None:
            return CodeStyle(limit, sorting)
        further = self._of(above, in_repository=in_repository)
        return CodeStyle(further.line_limit if limit is None else limit, sorting or further.sorting)

    def _is_in_repository(self, folder: str) -> bool:
        known = self._in_repository.get(folder)
        if known is None:
            above = os.path.dirname(folder)  # noqa: PTH120 - hot
            # Up to the root: a folder there may be large, and is asked for a few names.
            known = any(os.path.lexists(os.path.join(folder, each)) for each in HISTORIES)  # noqa: PTH118
            known = known or (above != folder and self._is_in_repository(above))
            self._in_repository[folder] = known
        return known

    def _names_in(self, folder: str) -> frozenset[str]:
        """Return the names of settings files in a folder."""
        if folder not in self._names:
            try:
                names = os.listdir(folder)  # noqa: PTH208 - hot
            except OSError:
                names = []
            self._names[folder] = frozenset(names) & _TELLING
        return self._names[folder]


_TELLING: Final = _FILES | {*HISTORIES, *MARKS}


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError):
        return ""


def style_of(folder: Path) -> CodeStyle:
    """Return the style of one folder."""
    return CodeStyles(folder).of(str(folder))
