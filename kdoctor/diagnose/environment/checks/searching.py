"""Search a project's code for a variable that the shell does not set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_SOURCES: Final = (".py", ".ipynb", ".sh", ".env", ".toml", ".cfg", ".yml", ".yaml")
_PASSED_OVER: Final = {"node_modules", "site-packages", "__pycache__", "venv", "env", "build"}
_MAX_FILES: Final = 2000  # files; what has more is no project's folder
_MAX_FILE_BYTES: Final = 4_000_000  # bytes


def set_by_the_project(folder: Path, variable: str) -> str | None:
    """Return the file in or under a folder that names a variable, from there; None without one."""
    wanted, seen = variable.encode(), 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in _PASSED_OVER and not name.startswith(".")
        )
        for name in sorted(files):
            if not name.endswith(_SOURCES):
                continue
            seen += 1
            if seen > _MAX_FILES:
                return None
            path = Path(parent, name)
            try:
                if path.stat().st_size <= _MAX_FILE_BYTES and wanted in path.read_bytes():
                    return path.relative_to(folder).as_posix()
            except OSError:
                continue
    return None
