"""kdoctor and its peers: how each is called."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.migration import environment

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
TARGET = "keras==3.15.1"

Words = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A program: ``words`` makes its command line from paths.

    ``files``: it is to be given the files, not the folders. ``writes``: it changes what it is
    given, so each run gets a copy. ``codes`` are the exit codes that mean it did its work.
    """

    name: str
    words: Words
    files: bool = False
    writes: bool = False
    codes: tuple[int, ...] = (0, 1)


def peers(work: Path) -> dict[str, Tool]:
    """Return the peers by name, from an environment that is made where there is none.

    Those that are written in Python run on the interpreter that kdoctor runs on.
    """
    python = environment.make(work / "peers", REQUIREMENTS, sys.executable)
    programs = python.parent

    def tool(name: str, *words: str, files: bool = False, writes: bool = False) -> Tool:
        program = [str(programs / words[0]), *words[1:]]
        # Each bit is a kind of message, or that files could not be parsed.
        bits = {"pylint": 32, "Fixit": 4}.get(name, 2)
        return Tool(name, lambda paths: [*program, *paths], files, writes, tuple(range(bits)))

    known = [
        tool("ruff", "ruff", "check", "--no-cache", "--isolated"),
        tool("django-upgrade", "django-upgrade", "--target-version=5.0", files=True, writes=True),
        tool("pyupgrade", "pyupgrade", "--py311-plus", files=True, writes=True),
        tool("flake8", "flake8", "--isolated", "-j1"),
        tool("TorchFix", "torchfix"),
        tool("Fixit", "fixit", "lint"),
        tool("pylint", "pylint", "-j2", "--recursive=y", "--rcfile=/dev/null"),
    ]
    return {each.name: each for each in known}


def kdoctor(*words: str, source: Path | None = None) -> Tool:
    """Return kdoctor with these words; paths follow. ``source``: a checkout to take it from."""
    program = Path(sys.executable).with_name("kdoctor")
    start = [str(program)] if program.is_file() else [sys.executable, "-m", "kdoctor"]
    if source is not None:
        start = ["env", f"PYTHONPATH={source}", *start]
    # 2: files that are no Python of today, of which the densest tree has some.
    return Tool(
        "kdoctor",
        lambda paths: [*start, *words, *paths],
        writes="--apply" in words,
        codes=(0, 1, 2),
    )


def scan(*words: str) -> Tool:
    """Return ``kdoctor scan`` on folders, cold unless ``--cache`` is among the words."""
    start = [] if "--cache" in words else cold()
    rest = [word for word in words if word != "--cache"]
    return kdoctor("scan", "--isolated", f"--target={TARGET}", *start, *rest)


def cold() -> list[str]:
    """Return the option with which kdoctor knows nothing of the last run."""
    return ["--no-cache"] if has_cache() else []


@functools.cache
def has_cache() -> bool:
    """Say whether this kdoctor keeps results between runs."""
    done = subprocess.run(
        kdoctor("scan", "--help").words([]), capture_output=True, text=True, check=True
    )
    return "--no-cache" in done.stdout


def reading() -> Tool:
    """Return what only reads every file."""
    find = ["-type", "f", "-exec", "cat", "{}", "+"]
    return Tool("find -exec cat", lambda paths: ["find", *paths, *find])


def versions(work: Path) -> dict[str, str]:
    """Return the releases of the peers, as they are installed."""
    python = work / "peers" / "environment" / "bin" / "python"
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    wanted = {
        line.partition("==")[0].lower() for line in REQUIREMENTS.read_text().split() if "==" in line
    }
    found = (line.split("==") for line in listed.stdout.split())
    return {name: version for name, version in found if name.lower() in wanted | {"libcst"}}


def interpreter() -> str:
    """Return which Python kdoctor and the peers run on, in words: builds differ by a tenth."""
    made = f"{platform.python_build()[1]}, {platform.python_compiler()}"
    return f"Python {platform.python_version()} of {sys.base_prefix} ({made})"


def machine() -> str:
    """Return the processor, the cores in use and the memory, in words."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown processor",
    )
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {pages / 2**30:.0f} GB"
