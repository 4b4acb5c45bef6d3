"""Query a Python for its version, search path and platform, without importing packages."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter

# Runs on Python 2.7 and later. The working folder is taken off the path before anything is
# imported: a json.py of the user's must not be what answers.
_QUESTION: Final = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json, os, platform, site
user = getattr(site, "USER_SITE", None)
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "path": [os.path.abspath(entry) for entry in sys.path],
    "prefix": sys.prefix,
    "user_site": user if getattr(site, "ENABLE_USER_SITE", False) else None,
    "markers": {
        "implementation_name": getattr(getattr(sys, "implementation", None), "name", "cpython"),
        "implementation_version": platform.python_version(),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": "%d.%d" % sys.version_info[:2],
        "sys_platform": sys.platform,
    },
}))
"""
_TIMEOUT: Final = 30  # seconds; a cold disk needs some of them


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter that answered. ``path`` is its search path without the working folder."""

    interpreter: Interpreter
    version: tuple[int, int, int]
    path: tuple[Path, ...]
    prefix: Path
    user_site: Path | None
    markers: Mapping[str, str]

    @property
    def minor(self) -> str:
        """As TensorFlow's wheels are named: ``3.11``."""
        return f"{self.version[0]}.{self.version[1]}"


def ask(interpreter: Interpreter, environ: Mapping[str, str]) -> Python:
    """Start the interpreter to query its version and search path.

    Raises:
        UsageProblem: it cannot be started, or is no Python.
    """
    answer = _answer(interpreter.path, environ)
    if answer is None:
        raise UsageProblem(
            f"{interpreter.path} is not a Python: it did not answer when asked for its version"
        )
    user = answer["user_site"]
    major, minor, micro = answer["version"]
    return Python(
        interpreter,
        (major, minor, micro),
        tuple(Path(entry) for entry in answer["path"]),
        Path(answer["prefix"]),
        Path(user) if user else None,
        answer["markers"],
    )


def _answer(program: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    if not os.path.exists(program):  # noqa: PTH110 - also of a link that leads nowhere
        raise UsageProblem(f"there is no Python at {program}")
    try:
        done = subprocess.run(
            [program, "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=dict(environ),
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise UsageProblem(
            f"{program} cannot be started: {error.strerror or error} (is it a Python?)"
        ) from None
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return answer if isinstance(answer, dict) and "markers" in answer else None
