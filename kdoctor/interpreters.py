"""Find the Python interpreter of a project.

Imports nothing but ``os`` and ``sys``, which every Python has loaded: ``kdoctor run`` must cost a
program next to nothing, and pathlib, dataclasses and typing together take longer than all the rest.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENVIRONMENT_FOLDERS = (".venv", "venv")
ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
REPOSITORY_MARKS = (".git", ".hg", ".svn", ".jj")
_PROGRAMS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


class Interpreter:
    """A Python interpreter, and why it was chosen."""

    __slots__ = ("because", "path")

    def __init__(self, path: str, because: str) -> None:
        self.path = path
        self.because = because


def interpreter_for(folder: str, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """Return the interpreter that a project's folder is run with.

    That is the one that the shell has activated, else that of the project's own ``.venv`` or
    ``venv``, else the one that runs kdoctor.
    """
    for variable in ACTIVE:
        prefix = environ.get(variable)
        program = _program_of(prefix) if prefix else None
        if program is not None:
            return Interpreter(program, f"activated: {variable}")
    for above in folders_above(folder):
        for name in ENVIRONMENT_FOLDERS:
            prefix = os.path.join(above, name)
            if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
                program = _program_of(prefix)
                if program is not None:
                    return Interpreter(program, f"the project's {name}")
    return Interpreter(sys.executable, "the one that runs kdoctor")


def interpreter_named(named: str) -> Interpreter | None:
    """Return the interpreter given as an executable, an environment's folder or a command."""
    if os.path.isdir(named):
        program = _program_of(named)
    elif os.path.exists(named):
        # Not resolved: the link of a virtual environment is what makes it one.
        program = os.path.abspath(named)
    elif os.path.dirname(named):
        program = None
    else:
        import shutil  # noqa: PLC0415 - rarely needed here

        program = shutil.which(named)
    return None if program is None else Interpreter(program, "--python")


def folders_above(start: str) -> Iterator[str]:
    """Yield ``start`` and the folders above it that may belong to the same project.

    The top folder of a repository is the last. The home folder, that for temporary files and the
    root of the file system hold what belongs to no project: they are looked at only by name.
    """
    folder: str | None = start
    while folder is not None:
        yield folder
        folder = folder_above(folder)


def folder_above(folder: str) -> str | None:
    """Return the parent folder if it may belong to the same project, else None."""
    if any(os.path.exists(os.path.join(folder, mark)) for mark in REPOSITORY_MARKS):
        return None
    above = os.path.dirname(folder)
    return None if above in {folder, os.path.dirname(above), *shared_folders()} else above


def shared_folders() -> set[str]:
    """Return folders that contain projects but belong to none: home and temporary folders."""
    temporary = (os.environ.get("TMPDIR"), os.environ.get("TEMP"), "/tmp", "/var/tmp")  # noqa: S108
    return {os.path.expanduser("~"), *filter(None, temporary)}


def _program_of(prefix: str) -> str | None:
    programs = (os.path.join(prefix, *name.split("/")) for name in _PROGRAMS)
    return next((os.path.abspath(program) for program in programs if os.path.isfile(program)), None)
