"""``kdoctor run``: run a program unchanged, with the diagnosis below its traceback.

This process *becomes* the program: standard streams, terminal, process id, signals and exit code
are those of ``python train.py``. All that is left behind is a ``sitecustomize`` that Python imports
as it starts; it takes itself out of the path, and looks at how the program ended when all is over.
"""

from __future__ import annotations

import os
import sys

from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter, interpreter_for, interpreter_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HERE = os.path.dirname(os.path.abspath(__file__))
# Read by hook/sitecustomize.py, which takes them away again.
KDOCTOR = "KDOCTOR_RUN"
PYTHONPATH_BEFORE = "KDOCTOR_RUN_PYTHONPATH"


def run(arguments: Sequence[str]) -> int:
    """Become the program that the arguments name. Returns only where this system cannot do that.

    Raises:
        UsageProblem: no program is named, or its Python is not there.
    """
    interpreter, given = program_of(arguments, os.getcwd(), os.environ)
    path = interpreter.path
    command = [path, *given]
    environment = watched(os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there, exec gives the prompt back at once
        import subprocess  # noqa: PLC0415

        return subprocess.run(command, check=False, env=environment).returncode
    try:
        os.execve(path, command, environment)  # noqa: S606 - this is what the command is for
    except OSError as error:
        raise UsageProblem(f"{path} cannot be started: {error.strerror}") from None


def program_of(
    arguments: Sequence[str], folder: str, environ: Mapping[str, str]
) -> tuple[Interpreter, list[str]]:
    """Read ``[--python PATH] [python] [-m] PROGRAM …``; what follows is the program's business.

    Returned are the interpreter and what it is to be given.

    Raises:
        UsageProblem: no program is named, or its Python is not there.
    """
    rest = list(arguments)
    named = None
    while rest and rest[0].partition("=")[0] == "--python":
        option, is_joined, value = rest.pop(0).partition("=")
        if not is_joined and not rest:
            raise UsageProblem(f"{option} needs the path of a Python")
        named = value if is_joined else rest.pop(0)
    if rest[:1] == ["--"]:
        rest.pop(0)
    if rest and _is_a_python(rest[0]):
        named = named or rest[0]  # kdoctor run python train.py
        rest.pop(0)
    if not rest:
        raise UsageProblem("say what to run: kdoctor run train.py --epochs 1")
    return _interpreter(named, folder, environ), rest


def _interpreter(named: str | None, folder: str, environ: Mapping[str, str]) -> Interpreter:
    if named is None or named == "python":
        return interpreter_for(folder, environ)
    found = interpreter_named(named)
    if found is None:
        raise UsageProblem(f"there is no Python at {named}")
    return found


def _is_a_python(word: str) -> bool:
    """Say whether a word names an interpreter: ``python3.11``, ``.venv/bin/python``."""
    name = os.path.basename(word).lower().removesuffix(".exe")
    return name.startswith("python") and not name.removeprefix("python").strip("0123456789.")


def watched(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a Python that imports the hook as it starts."""
    changed = dict(environ)
    before = environ.get("PYTHONPATH")
    if before is not None:
        changed[PYTHONPATH_BEFORE] = before
    changed["PYTHONPATH"] = os.pathsep.join(filter(None, [os.path.join(_HERE, "hook"), before]))
    changed[KDOCTOR] = os.pathsep.join([sys.executable, os.path.dirname(os.path.dirname(_HERE))])
    return changed
