"""Fix packages, and ask ruff what it finds then that it had not found before.

    python -m tools.check_lint PACKAGE...             # folders; they are not written to
    python -m tools.check_lint PACKAGE... --show      # each new finding

Asked are the rules that a fix could break: the order of imports (I001), the length of lines (E501)
and imports that nothing uses (F401). Each package is fixed twice, with its safe fixes and with all
of them. A project's own settings of ruff count; else ruff's defaults, with the limit that the
project gives flake8, black or pycodestyle, and with each usual limit where it gives none: a file
may keep to any of them. Where a file had such findings before (a file that nobody sorts), more of
the same kind are counted apart: nobody held the file to the rule.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kdoctor.project.code_style import style_of

CODES = ("I001", "E501", "F401")
TARGET = ("--target", "keras==3.15.1")
_RUFF = (sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "json")
_KDOCTOR = (sys.executable, "-m", "kdoctor", "fix", "--apply", "--no-cache")
_USUAL_LIMITS = (88, 100, 120)
_CAME_TO_THE_END = (0, 1)  # 1: something is left that nothing fixes

Found = Counter[tuple[str, str]]  # how many findings of a code there are in a file


@dataclasses.dataclass(frozen=True)
class New:
    """What ruff finds in one file after a fix only; ``kept`` says that it found none before."""

    path: str
    code: str
    count: int
    kept: bool


def main() -> int:
    """Fix and ask, and print a line for each package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="name the files")
    arguments = parser.parse_args()
    total: Counter[tuple[str, str, bool]] = Counter()
    for package in arguments.packages:
        for way in ((), ("--unsafe",)):
            found = list(new_findings(package, way))
            name = f"{package.name} {'safe' if not way else 'unsafe'}"
            print(f"{name:38} {told(Counter((_kind(each.code), each.kept) for each in found))}")
            for each in found:
                total[way[0] if way else "safe", _kind(each.code), each.kept] += each.count
                if arguments.show:
                    had = "" if each.kept else " (had some)"
                    print(f"    {each.path}: {each.count} more {each.code}{had}")
    for way in ("safe", "--unsafe"):
        counts = {(code, kept): total[way, code, kept] for code in CODES for kept in (True, False)}
        print(f"{'all ' + way:38} {told(Counter(counts))}")
    return int(any(count for (_, _, kept), count in total.items() if kept))


def _kind(code: str) -> str:
    return code.partition(" ")[0]


def told(counts: Counter[tuple[str, bool]]) -> str:
    """Say how many there are of each code: in files that had none, and in others."""
    return "  ".join(f"{code} {counts[code, True]} (+{counts[code, False]})" for code in CODES)


def new_findings(package: Path, way: Sequence[str]) -> Iterator[New]:
    """Yield what ruff finds in a package after a fix and had not found before."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, package.name)
        shutil.copytree(package, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        before = findings(copy)
        fix(copy, way)
        after = findings(copy)
    for path, code in sorted(after - before):
        count = after[path, code] - before[path, code]
        yield New(path, code, count, kept=not before[path, code])


def fix(folder: Path, way: Sequence[str]) -> None:
    """Fix a folder; a fix that did not come to its end leaves nothing to ask ruff about."""
    command = [*_KDOCTOR, *way, *TARGET, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in _CAME_TO_THE_END:
        raise SystemExit(f"kdoctor fix ended with {done.returncode}:\n{done.stderr[-2000:]}")


def findings(folder: Path) -> Found:
    """Ask ruff about a folder: with its first settings about all, with the others about lengths."""
    first, *others = _settings(folder)
    found = _found(folder, first, CODES)
    return sum((_found(folder, each, ("E501",)) for each in others), found)


def _found(folder: Path, settings: Sequence[str], codes: Sequence[str]) -> Found:
    command = [*_RUFF, "--select", ",".join(codes), *settings, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    limit = f" at {settings[-1]}" if settings else ""
    return Counter(
        (
            str(Path(each["filename"]).relative_to(folder)),
            each["code"] + (limit if each["code"] == "E501" else ""),
        )
        for each in json.loads(done.stdout)
    )


def _settings(folder: Path) -> list[list[str]]:
    own = [folder / name for name in ("ruff.toml", ".ruff.toml")]
    project = folder / "pyproject.toml"
    if any(path.is_file() for path in own) or (
        project.is_file() and "[tool.ruff" in project.read_text("utf-8")
    ):
        return [[]]
    told = style_of(folder).line_limit
    limits = _USUAL_LIMITS if told is None else (told,)
    return [["--isolated", "--line-length", str(each)] for each in limits]


if __name__ == "__main__":
    sys.exit(main())
