"""Raise the errors that people meet, for real, and keep their texts.

    python -m tools.raise_errors [word ...]

Each program of ``programs.toml`` (those whose id has one of the words in it) is run in its
environment; what it printed is written to ``tests/diagnose/recorded/<id>.txt``, with the folders of
this machine made short. Programs of one environment are forked from one process that has imported
its Keras; those that are to fail on the way there run alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).with_name("programs.toml")
RECORDED = ROOT / "tests" / "diagnose" / "recorded"
ENVIRONMENTS = Path.home() / ".cache" / "kdoctor" / "environments"
FORKING = Path(__file__).with_name("forking.py")
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_SECONDS = 400

Program = dict[str, Any]


def main() -> None:
    """Run the programs that are asked for and write what they print."""
    words = sys.argv[1:]
    programs: list[Program] = tomllib.loads(PROGRAMS.read_text("utf-8"))["program"]
    chosen = [each for each in programs if not words or any(w in each["id"] for w in words)]
    RECORDED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for program in (each for each in chosen if each.get("alone")):
            write(program, alone(program, Path(folder) / program["id"]))
        together = [each for each in chosen if not each.get("alone")]
        for name, group in groupby(sorted(together, key=environment), key=environment):
            for program, text in forked(name, list(group), Path(folder) / name):
                write(program, text)


def environment(program: Program) -> str:
    """Return the name of the environment that a program runs in."""
    return str(program.get("environment", "current"))


def python(name: str) -> str:
    """Return the interpreter of an environment."""
    return sys.executable if name == "current" else str(ENVIRONMENTS / name / "bin" / "python")


def packages(name: str) -> Path:
    """Return the folder in which an environment's packages lie."""
    top = Path(sys.prefix) if name == "current" else ENVIRONMENTS / name
    return next((top / "lib").glob("python3*/site-packages"))


def environ(program: Program) -> dict[str, str]:
    """Return the variables that a program runs under; nothing of the caller's Keras."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return kept | QUIET | program.get("env", {})


def alone(program: Program, folder: Path) -> str:
    """Run a program by itself and return what it printed."""
    folder.mkdir()
    (folder / "train.py").write_text(program["code"], "utf-8")
    variables = environ(program)
    if overlay := program.get("overlay"):
        variables["PYTHONPATH"] = str(overlaid(overlay, program.get("stale"), folder))
    done = subprocess.run(
        [python(environment(program)), "train.py"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return shortened(done.stdout + done.stderr, folder)


def overlaid(overlay: str, stale: str | None, folder: Path) -> Path:
    """Put another environment's package where it is imported first."""
    package, _, name = overlay.partition(" of ")
    place = folder / "overlay" / "lib" / "python3" / "site-packages"
    place.mkdir(parents=True)
    for found in packages(name).glob(f"{package}*"):
        if found.name == package or found.name.startswith((f"{package}.", f"{package}-")):
            (shutil.copytree if stale else os.symlink)(found, place / found.name)
    if stale:
        release, _, part = stale.partition(": ")
        wheel = folder / "wheel"
        requirement = release.replace(" ", "==")
        subprocess.run(
            [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "-t", wheel, requirement],
            check=True,
        )
        shutil.copytree(wheel / package / part, place / package / part)
    return place


def forked(name: str, programs: list[Program], folder: Path) -> list[tuple[Program, str]]:
    """Run programs in forks of one process that has imported Keras; return what each printed."""
    folder.mkdir()
    for program in programs:
        place = folder / program["id"]
        place.mkdir()
        (place / "train.py").write_text(program["code"], "utf-8")
    subprocess.run(
        [python(name), FORKING, *(folder / program["id"] for program in programs)],
        env=environ({}),
        timeout=_SECONDS * len(programs),
        check=True,
    )
    found = []
    for program in programs:
        place = folder / program["id"]
        found.append((program, shortened((place / "printed").read_text("utf-8"), place)))
    return found


def shortened(text: str, folder: Path) -> str:
    """Make the folders of this machine those of nobody."""
    text = re.sub(r"[^\s\"']*/overlay/lib/python3/", "/venv/lib/python3/", text)
    text = text.replace(str(folder), "/home/me/project")
    text = re.sub(rf"{re.escape(str(ENVIRONMENTS))}/[^/]+", "/venv", text)
    text = text.replace(sys.prefix, "/venv").replace(str(Path.home()), "/home/me")
    text = re.sub(r"/\S+/(lib/python3\.\d+)/(?!site-packages)", r"/usr/\1/", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x7f0000000000", text)


def write(program: Program, text: str) -> None:
    """Keep what a program printed."""
    (RECORDED / f"{program['id']}.txt").write_text(text, "utf-8")
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "(nothing)")
    print(f"{program['id']}: {last[:150]}", flush=True)


if __name__ == "__main__":
    main()
