"""Health check of a Python environment: what is installed, whether it works, remedies."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kdoctor.diagnose.environment.checks import (
    files,
    framework_dependencies,
    frameworks,
    imports,
    keras_libraries,
)
from kdoctor.diagnose.environment.checks import settings as settings_check
from kdoctor.diagnose.environment.environment import Environment
from kdoctor.diagnose.environment.health_report import Check as Check
from kdoctor.diagnose.environment.health_report import CheckState as CheckState
from kdoctor.diagnose.environment.health_report import HealthReport as HealthReport
from kdoctor.diagnose.environment.health_report import Remedy as Remedy
from kdoctor.diagnose.environment.health_report import ok
from kdoctor.diagnose.environment.installed import Packages
from kdoctor.diagnose.environment.layout import read
from kdoctor.diagnose.environment.probe import Python, ask
from kdoctor.errors import UsageProblem
from kdoctor.interpreters import interpreter_for, interpreter_named

__all__ = ["Check", "CheckState", "HealthReport", "Remedy", "environment_of", "examine"]

IMPORT_TIMEOUT: Final = 180.0  # seconds for all imports; a cold disk needs a minute
_CHECKS: Final = (frameworks, framework_dependencies, files, settings_check, keras_libraries)


def examine(
    python: str | None = None,
    folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    deep: bool = False,
    patience: float = IMPORT_TIMEOUT,
) -> HealthReport:
    """Return the health report of the environment of a Python.

    ``python`` is a program, the folder of an environment or a command; without it, the Python that
    ``python`` means in ``folder``. ``deep`` also imports the frameworks, in a process of their own.

    Raises:
        UsageProblem: there is no such Python, or it is none.
    """
    environment = environment_of(python, folder, environ, deep=deep)
    checks = [_python(environment.python)]
    for each in _CHECKS:
        checks += each.check(environment)
    if deep:
        checks += imports.check(environment, patience)
    return HealthReport(environment.python.interpreter, tuple(checks), deep)


def environment_of(
    python: str | None = None,
    folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    deep: bool = False,
) -> Environment:
    """Return what :func:`examine` looks at.

    The Python is not started unless it is asked for by ``deep``, or was named and the files around
    it do not say what it is; the one that runs kdoctor runs already.

    Raises:
        UsageProblem: there is no such Python, or it is none.
    """
    folder = folder or Path.cwd()
    chosen = interpreter_for(str(folder), environ) if python is None else interpreter_named(python)
    if chosen is None:
        raise UsageProblem(f"there is no Python at {python}")
    may_start = deep or python is not None or chosen.path == sys.executable
    found = (None if deep else read(chosen, environ)) or (
        ask(chosen, environ) if may_start else None
    )
    if found is None:
        raise UsageProblem(
            f"{chosen.path}: no file next to it says which Python it is (no pyvenv.cfg with a "
            "version, no conda-meta), and kdoctor starts it only with --deep"
        )
    return Environment(found, Packages(found.path), environ, folder)


def _python(python: Python) -> Check:
    number = ".".join(map(str, python.version))
    return ok("Python", f"{number}, {python.interpreter.path} ({python.interpreter.because})")
