"""Choose the Python that verifies user code: the project's own if it has the frameworks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter, interpreter_for, interpreter_named

_PROBE_CODE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json
from importlib.util import find_spec
try:
    from importlib.metadata import version
except ImportError:
    version = None
found = {}
for name in ("tensorflow", "keras", "tf_keras", "numpy"):
    if find_spec(name) is not None:
        try:
            found[name] = version(name)
        except Exception:
            found[name] = "?"
print(json.dumps({"python": list(sys.version_info[:2]), "found": found}))
"""
_TIMEOUT = 120
_OLDEST = (3, 7)  # that runs the worker on a saved model
# The only variables that are passed on: others may hold keys or make Python run code.
_INHERITED = frozenset(
    {"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"}
    | {"USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"}
)


@dataclass(frozen=True, slots=True)
class Probe:
    """What an interpreter is, and which frameworks are installed for it, with their versions."""

    interpreter: Interpreter
    python: tuple[int, ...]
    found: dict[str, str]

    @property
    def has_tensorflow(self) -> bool:
        """Whether TensorFlow is installed."""
        return "tensorflow" in self.found

    @property
    def lacks(self) -> str:
        """What is missing, as a sentence with the remedy; "" if nothing is."""
        path = self.interpreter.path
        if not self.has_tensorflow:
            return (
                f"{path} ({self.interpreter.because}) has no TensorFlow, which `verify` needs to "
                "run your code: choose another Python with --python, or run "
                f"{path} -m pip install 'tensorflow>=2.16' tf_keras"
            )
        keras = self.found.get("keras", "")
        if not keras[:1].isdigit() or int(keras.partition(".")[0]) < 3:
            which = f"keras {keras}" if keras else "no keras"
            return (
                f"{path} ({self.interpreter.because}) has {which}, but the fixed code needs "
                "Keras 3: create a separate environment, run "
                "python -m pip install 'tensorflow>=2.16' tf_keras in it, "
                "and choose it with --python"
            )
        if "tf_keras" not in self.found:
            minor = ".".join(self.found["tensorflow"].split(".")[:2])
            return (
                f"{path} ({self.interpreter.because}) has no tf_keras, the Keras 2 that runs the "
                f"original code: run {path} -m pip install 'tf_keras~={minor}.0'"
            )
        if self.python < (3, 9):
            return (
                f"{path} is Python {'.'.join(map(str, self.python))}: `verify` needs 3.9 or later"
            )
        return ""


def inherited_environment() -> dict[str, str]:
    """Return the environment variables that user code may see."""
    return {
        key: value
        for key, value in os.environ.items()
        if key in _INHERITED or key.startswith("LC_")
    }


def choose(folder: str, named: str | None) -> Interpreter:
    """Return the Python to verify on.

    Raises:
        UsageProblem: it lacks TensorFlow, Keras 3 or tf_keras.
    """
    if named is not None:
        interpreter = interpreter_named(named)
        if interpreter is None:
            raise UsageProblem(f"--python {named}: no such Python interpreter")
        return _checked(probe(interpreter))
    own = Interpreter(sys.executable, "the one that runs kdoctor")
    projects = interpreter_for(folder)
    if projects.path != own.path:
        try:
            found = probe(projects)
        except UsageProblem:
            return _checked(
                probe(own)
            )  # a broken interpreter cannot be the one that the code runs on
        if found.has_tensorflow:
            return _checked(found)
    return _checked(probe(own))


def choose_old(named: str) -> Interpreter:
    """Return the Python whose Keras 2 loads an old file: any that has one, of 3.7 or later.

    Raises:
        UsageProblem: there is none, or it has no TensorFlow, or is older.
    """
    interpreter = interpreter_named(named)
    if interpreter is None:
        raise UsageProblem(f"--old-python {named}: no such Python interpreter")
    interpreter = Interpreter(interpreter.path, "--old-python")
    found = probe(interpreter)
    if not found.has_tensorflow:
        raise UsageProblem(
            f"--old-python {named}: it has no TensorFlow: install the one that wrote the file, or "
            "any below 2.16"
        )
    if found.python < _OLDEST:
        version = ".".join(map(str, found.python))
        raise UsageProblem(f"--old-python {named}: Python {version} is too old: 3.7 or later")
    return interpreter


def _checked(found: Probe) -> Interpreter:
    if found.lacks:
        raise UsageProblem(found.lacks)
    return found.interpreter


def probe(interpreter: Interpreter) -> Probe:
    """Ask an interpreter which frameworks it has.

    Raises:
        UsageProblem: it is none.
    """
    try:
        done = subprocess.run(
            [interpreter.path, "-c", _PROBE_CODE],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
            env=inherited_environment() | {"HOME": os.environ.get("HOME", os.sep)},
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise UsageProblem(
            f"{interpreter.path} does not behave like a Python interpreter: {error}"
        ) from error
    return Probe(interpreter, tuple(answer["python"]), answer["found"])
