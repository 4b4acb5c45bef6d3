"""Choose the Python that verifies user code: the project's own if it has the frameworks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter, interpreter_for, interpreter_named
from kdoctor.verify.user.results import TITLES

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
for name in ("tensorflow", "keras", "tf_keras", "numpy", "jax", "torch"):
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
        lacking = self.lacks_keras_3
        if not lacking and "tf_keras" not in self.found:
            minor = ".".join(self.found["tensorflow"].split(".")[:2])
            return (
                f"{path} ({self.interpreter.because}) has no tf_keras, the Keras 2 that runs the "
                f"original code: run {path} -m pip install 'tf_keras~={minor}.0'"
            )
        return lacking

    @property
    def lacks_keras_3(self) -> str:
        """The same, for code that need not run on Keras 2."""
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


@dataclass(frozen=True, slots=True)
class Chosen:
    """The Python to verify on, the backends that it has, and what it does not have, as sentences.

    Without ``has_keras_2``, code before its fix runs on Keras 3.
    """

    interpreter: Interpreter
    backends: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()  # backend and sentence
    has_keras_2: bool = True


def choose(folder: str, named: str | None) -> Interpreter:
    """Return the Python to verify on.

    Raises:
        UsageProblem: it lacks TensorFlow, Keras 3 or tf_keras.
    """
    return _checked(_chosen(folder, named), lambda found: found.lacks).interpreter


def choose_with(folder: str, named: str | None, backends: Sequence[str], *, all_of: bool) -> Chosen:
    """Return the Python to verify on, with those of the ``backends`` that it has.

    Raises:
        UsageProblem: it lacks TensorFlow, Keras 3, or, if ``all_of`` them are wanted, a backend.
    """
    found = _checked(_chosen(folder, named), lambda found: found.lacks_keras_3)
    path = found.interpreter.path
    missing = {
        each: f"{path} ({found.interpreter.because}) has no {TITLES[each]}, so nothing was run "
        f"with it: run {path} -m pip install {each}"
        for each in backends
        if each not in found.found
    }
    if missing and all_of:
        rest = " or ".join(TITLES[each] for each in missing)
        raise UsageProblem(
            f"{path} ({found.interpreter.because}) has no {rest}: run {path} -m pip install "
            f"{' '.join(missing)}, choose another Python with --python, or use --backend all for "
            "those that are installed"
        )
    there = tuple(each for each in backends if each not in missing)
    has_keras_2 = "tf_keras" in found.found
    return Chosen(found.interpreter, there, tuple(missing.items()), has_keras_2)


def _chosen(folder: str, named: str | None) -> Probe:
    if named is not None:
        interpreter = interpreter_named(named)
        if interpreter is None:
            raise UsageProblem(f"--python {named}: no such Python interpreter")
        return probe(interpreter)
    own = Interpreter(sys.executable, "the one that runs kdoctor")
    projects = interpreter_for(folder)
    if projects.path != own.path:
        try:
            found = probe(projects)
        except UsageProblem:
            return probe(own)  # a broken interpreter cannot be the one that the code runs on
        if found.has_tensorflow:
            return found
    return probe(own)


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


def _checked(found: Probe, lacks: Callable[[Probe], str]) -> Probe:
    if lacks(found):
        raise UsageProblem(lacks(found))
    return found


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
