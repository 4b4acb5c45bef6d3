"""Let kdoctor repair a copy, and tell what it found, changed and left."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import msgspec

import kdoctor
from benchmarks.migration.model import CACHE, Arm, Found, Repair
from kdoctor.engine.cache.location import DEFAULT as OWN_FOLDER

TARGET = "keras==3.15.1"
HOME = Path(kdoctor.__file__).parents[1]


class KdoctorProblem(Exception):
    """kdoctor ended with a traceback or a code that it does not know."""


def repair(arm: Arm, root: Path, originals: dict[str, Path]) -> Repair:
    """Fix every folder of ``root`` in place; ``originals`` are what they are copies of."""
    before = scan(root)
    begun = time.monotonic()
    unsafe = ["--unsafe"] if arm is Arm.UNSAFE else []
    run_fix(root, unsafe, sorted(originals))
    seconds = time.monotonic() - begun
    changed = sorted(
        path.relative_to(root).as_posix()
        for name, original in originals.items()
        for path in (root / name).rglob("*")
        if path.is_file() and OWN_FOLDER not in path.parts
        if _differs(path, original / path.relative_to(root / name))
    )
    broken = [
        path
        for path in changed
        if path.endswith(".py") and not compiles(root / path) and compiles(_old(path, originals))
    ]
    return Repair(round(seconds, 1), tuple(changed), tuple(broken), before, scan(root))


def run_fix(root: Path, options: list[str], paths: list[str]) -> None:
    """Run ``kdoctor fix --apply`` over these paths of ``root``.

    Raises:
        KdoctorProblem: it crashed.
    """
    _kdoctor(["fix", "--apply", *options, "--target", TARGET, *paths], root)


def scan(root: Path) -> tuple[Found, ...]:
    """Return what kdoctor says of the folders in ``root``; paths start with their names."""
    return _scanned(root, sorted(path.name for path in root.iterdir() if path.is_dir()))


def scan_folder(folder: Path) -> tuple[Found, ...]:
    """Return what kdoctor says of one folder; paths are below it."""
    return _scanned(folder, ["."])


def _scanned(folder: Path, paths: list[str]) -> tuple[Found, ...]:
    command = ["scan", "--format", "json", "--target", TARGET, *paths]
    told = json.loads(_kdoctor(command, folder).stdout)["findings"]
    return tuple(sorted(map(_found, told), key=_order))


def _order(found: Found) -> tuple[str, ...]:
    """Tell findings apart in an order of their own; None, which has none, is an empty text."""
    return tuple("" if each is None else str(each) for each in msgspec.structs.astuple(found))


def _found(finding: dict[str, Any]) -> Found:
    return Found(
        path=finding["path"].removeprefix("./"),
        line=finding["line"],
        end_line=finding["end_line"],
        code=finding["code"],
        name=finding["name"],
        severity=finding["severity"],
        symbol=finding["symbol"],
        message=finding["message"],
        applicability=finding["fix"] and finding["fix"]["applicability"],
    )


def source_hash() -> str:
    """Return what changes whenever kdoctor does."""
    told = hashlib.sha256()
    for path in sorted(Path(kdoctor.__file__).parent.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            told.update(path.relative_to(HOME).as_posix().encode())
            told.update(path.read_bytes())
    return told.hexdigest()


def compiles(path: Path) -> bool:
    """Say whether this Python can compile a file."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(path.read_bytes(), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _old(path: str, originals: dict[str, Path]) -> Path:
    name, _, inside = path.partition("/")
    return originals[name] / inside


def _differs(path: Path, original: Path) -> bool:
    return not original.is_file() or path.read_bytes() != original.read_bytes()


def _kdoctor(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "kdoctor", *arguments],
        cwd=folder,
        env=_surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1, 2} or "Traceback (most recent call last)" in done.stderr:
        told = f"kdoctor {' '.join(arguments)} ended with {done.returncode}"
        raise KdoctorProblem(f"{told}:\n{done.stderr[-3000:]}")
    return done


def _surroundings() -> dict[str, str]:
    """Return this process's variables, with this kdoctor, and its bytecode kept between runs."""
    kept = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
    return {**kept, "PYTHONPATH": str(HOME), "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")}
