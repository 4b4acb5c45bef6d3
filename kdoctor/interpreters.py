"""Which Python a project is run with. Imports next to nothing: `kdoctor run` must start at once."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ENVIRONMENT_FOLDERS: Final = (".venv", "venv")
ACTIVE: Final = ("VIRTUAL_ENV", "CONDA_PREFIX")
_REPOSITORY_MARKS: Final = (".git", ".hg", ".svn", ".jj")
_PROGRAMS: Final = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python, and why it is this one."""

    path: str
    because: str


def interpreter_for(folder: Path, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """Return the Python that ``python`` means in a project's folder.

    That is the one that the shell has activated, else that of the project's own ``.venv`` or
    ``venv``, else the one that runs kdoctor.
    """
    for variable in ACTIVE:
        prefix = environ.get(variable)
        program = _program_of(Path(prefix)) if prefix else None
        if program is not None:
            return Interpreter(str(program), f"activated: {variable}")
    for above in folders_above(folder):
        for name in ENVIRONMENT_FOLDERS:
            program = _program_of(above / name)
            if program is not None and (above / name / "pyvenv.cfg").is_file():
                return Interpreter(str(program), f"the project's {name}")
    return Interpreter(sys.executable, "the one that runs kdoctor")


def interpreter_named(named: str) -> Interpreter | None:
    """Return the Python that a person names: a program, an environment's folder, a command."""
    path = Path(named)
    if path.is_dir():
        program = _program_of(path)
        return None if program is None else Interpreter(str(program), "--python")
    if path.exists() or os.sep in named:
        # Not resolved: the link of a virtual environment is what makes it one.
        return Interpreter(os.path.abspath(named), "--python") if path.exists() else None  # noqa: PTH100
    found = shutil.which(named)
    return None if found is None else Interpreter(found, "--python")


def folders_above(start: Path) -> Iterator[Path]:
    """Yield ``start`` and the folders above it that may belong to the same project.

    The top folder of a repository is the last. The home folder, that for temporary files and the
    root of the file system hold what belongs to no project: they are looked at only by name.
    """
    temporary = {os.environ.get("TMPDIR"), os.environ.get("TEMP"), "/tmp", "/var/tmp"}  # noqa: S108
    nobodys = {Path.home(), Path(start.anchor), *map(Path, filter(None, temporary))}
    for folder in (start, *start.parents):
        if folder != start and folder in nobodys:
            return
        yield folder
        if any((folder / mark).exists() for mark in _REPOSITORY_MARKS):
            return


def _program_of(prefix: Path) -> Path | None:
    programs = (prefix / name for name in _PROGRAMS)
    return next((program for program in programs if program.is_file()), None)
