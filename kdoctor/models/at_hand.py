"""Saved models that are there under a name that an error or code has."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kdoctor.models.kinds import index_of

_MAX_NAME: Final = 400  # characters


def at_hand(folder: Path, name: str) -> Path | None:
    """Return the file or folder of a name, None where there is none."""
    if len(name) > _MAX_NAME or not name.strip():
        return None
    path = folder / name
    try:
        is_there = path.is_file() or (path.is_dir() and _is_model(path))
        return path if is_there or index_of(path) is not None else None
    except (OSError, ValueError):
        return None


def _is_model(folder: Path) -> bool:
    marks = ("saved_model.pb", "config.json", "checkpoint")
    return any((folder / each).is_file() for each in marks)
