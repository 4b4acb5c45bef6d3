"""The Python that runs the packages' tests: an environment of its own, made once in the cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.migration.sources import FetchProblem

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PYTHON = "python3.11"  # of which the figures are; snapshottest needs a Python before 3.12


def make(cache: Path, requirements: Path = REQUIREMENTS, base: str | None = None) -> Path:
    """Return the Python of an environment with all that is in ``requirements.txt``.

    ``base`` is the interpreter that it is made with, by default the first of the usual version.
    """
    folder = cache / "environment"
    python = folder / "bin" / "python"
    stamp = folder / "made-from"
    wanted = hashlib.sha256(requirements.read_bytes() + (base or "").encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        base = base or shutil.which(PYTHON) or sys.executable
        subprocess.run([base, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", str(requirements)], check=True)
        stamp.write_text(wanted)
    return python


def besides(cache: Path, python: Path, requires: tuple[str, ...]) -> Path:
    """Return a folder with these distributions, installed there once without what they need.

    A package's own needs stay out of the environment: it is the same for all, and nothing that
    one package asks for changes what another one runs with.

    Raises:
        FetchProblem: pip could not install them.
    """
    told = "\n".join(sorted(requires))
    folder = cache / "requires" / hashlib.sha256(told.encode()).hexdigest()[:16]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
            whole = Path(partial, "whole")
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            command = [*pip, "--no-deps", "--no-compile", "--target", str(whole), *requires]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise FetchProblem(f"{' '.join(command)}\n{done.stderr.strip()[-2000:]}")
            whole.rename(folder)
    return folder


def versions(python: Path) -> str:
    """Return the releases that decide what a test does, as ``name==version`` lines."""
    code = (
        "import importlib.metadata as m\n"
        "for n in 'keras tensorflow tf_keras numpy pytest'.split(): print(f'{n}=={m.version(n)}')"
    )
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def installed(python: Path, folder: Path | None = None) -> str:
    """Return a Python's distributions, or those in ``folder``, as ``name==version`` lines."""
    code = (
        "import importlib.metadata as m, sys\n"
        "found = m.distributions(path=sys.argv[1:] or sys.path)\n"
        "print(*sorted({f'{d.name}=={d.version}' for d in found}), sep='\\n')"
    )
    # Isolated: neither this process's path nor the folder that it runs in count.
    command = [str(python), "-I", "-c", code, *([str(folder)] if folder else [])]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
