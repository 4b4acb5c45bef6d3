"""Scan and fix real packages of Keras 2 times, and hold kdoctor to what it says about them.

For each package: its source distribution is fetched with pip (once, into a cache outside the
repository), scanned, and repaired in two copies, one with the safe fixes and one with all. Then

- every error about a name is looked up in the installed Keras: one that resolves is a false alarm;
- every file that compiled before must compile after the fix;
- a second fix must change nothing.

    python -m tools.check_packages                         # the packages that the tests use
    python -m tools.check_packages keras-adabound==0.6.0   # others
    python -m tools.check_packages --json

Exit codes: 0 all holds, 1 something does not, 3 the package index cannot be reached.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kdoctor.errors import INTERNAL_ERROR
from tools.named_in_findings import look_up, name_in

PACKAGES = ("keras-rl==0.4.2", "keras-self-attention==0.35.0", "keras-retinanet==0.5.1")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kdoctor-packages"
KDOCTOR = Path(sys.executable).with_name("kdoctor")
UNREACHABLE = 3
# "Fixed 1 finding in 1 file; left: 2 errors, 1 change."
LEFT = re.compile(r"\bleft: [^\n]*")
NUMBER = re.compile(r"\d+")
# Without it, the target is the Keras 2 that the packages themselves ask for.
TARGET = ("--target", "keras==3.15.1")


class IndexUnreachableError(Exception):
    """pip could not fetch the package."""


@dataclasses.dataclass
class Report:
    """What was found in one package, and what does not hold."""

    package: str
    files: int
    findings: dict[str, int]
    fixed: int
    fixed_unsafe: int
    errors_checked: int
    errors_not_checkable: list[str]
    false_alarms: list[str]
    crashes: list[str]
    unreadable: list[str]
    compile_failures: list[str]
    second_run_changes: list[str]

    @property
    def holds(self) -> bool:
        """Whether everything that kdoctor promises holds for this package."""
        return not (
            self.crashes or self.false_alarms or self.compile_failures or self.second_run_changes
        )


def main() -> int:
    """Check the packages named on the command line and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="name==version")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    try:
        archives = [fetch(package) for package in arguments.packages]
    except IndexUnreachableError as problem:
        print(problem, file=sys.stderr)
        return UNREACHABLE
    reports = check(dict(zip(arguments.packages, archives, strict=True)))
    if arguments.json:
        print(json.dumps([dataclasses.asdict(report) for report in reports], indent=1))
    else:
        print_table(reports)
    return 0 if all(report.holds for report in reports) else 1


def fetch(package: str) -> Path:
    """Return the package's source distribution, from the cache or from the index."""
    folder = CACHE / package
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=_made(CACHE)) as partial:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            # Of this package alone: what pip needs to read its metadata may come built.
            command += ["--no-binary", package.partition("==")[0], "--dest", partial, package]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise IndexUnreachableError(f"pip could not fetch {package}: {done.stderr.strip()}")
            shutil.copytree(partial, folder)
    return next(path for path in folder.iterdir() if path.suffix in {".gz", ".zip"})


def check(archives: dict[str, Path]) -> list[Report]:
    """Scan and fix each package in a folder of its own; look up the names of all at once."""
    with tempfile.TemporaryDirectory() as folder:
        sources = {package: Path(folder, package, "source") for package in archives}
        for package, archive in archives.items():
            unpack(archive, sources[package])
        scans = {package: scan(source) for package, source in sources.items()}
        names = [named_in(f) for scanned in scans.values() for f in errors_of(scanned)]
        verdicts = look_up(names, sys.executable)
        return [report(package, sources[package], scans[package], verdicts) for package in archives]


def report(package: str, source: Path, scanned: dict, verdicts: Mapping[str, str | None]) -> Report:
    """Fix two copies of a package beside it, and say what came of it."""
    errors = errors_of(scanned)
    names = [named_in(finding) for finding in errors]
    failures: list[str] = []
    changes: list[str] = []
    left = {}
    for options in ((), ("--unsafe",)):
        copy = source.with_name("fixed" + "".join(options))
        shutil.copytree(source, copy)
        fix(copy, *options)
        failures += no_longer_compiling(source, copy)
        changed, left[options] = by_a_second_fix(copy, *options)
        changes += changed
    total = len(scanned["findings"])
    unreadable = [f"{_inside(u['path'])}: {u['why']}" for u in scanned["files"]["unreadable"]]
    return Report(
        package=package,
        files=scanned["files"]["read"],
        findings=dict(sorted(collections.Counter(f["code"] for f in scanned["findings"]).items())),
        fixed=total - left[()],
        fixed_unsafe=total - left["--unsafe",],
        errors_checked=sum(verdicts.get(name) is not None for name in names),
        errors_not_checkable=sorted(
            {f["symbol"] for f, name in zip(errors, names, strict=True) if not verdicts.get(name)}
        ),
        false_alarms=[
            _place(f)
            for f, name in zip(errors, names, strict=True)
            if verdicts.get(name) == "exists"
        ],
        crashes=[line for line in unreadable if INTERNAL_ERROR in line],
        unreadable=[line for line in unreadable if INTERNAL_ERROR not in line],
        compile_failures=failures,
        second_run_changes=changes,
    )


def errors_of(scanned: dict) -> list[dict]:
    """Return the findings of code that raises."""
    return [finding for finding in scanned["findings"] if finding["severity"] == "error"]


def named_in(finding: dict) -> str:
    """Return the name that an error says is not there, or nothing: it says something else."""
    return name_in(**{field: finding[field] for field in ("code", "message", "symbol")})


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a source distribution; members that would land outside of ``folder`` are refused."""
    if archive.suffix == ".zip":
        shutil.unpack_archive(archive, folder)
    else:
        shutil.unpack_archive(archive, folder, filter="data")


def scan(folder: Path) -> dict:
    """Return the findings of a folder as ``kdoctor scan --format json`` tells them."""
    done = kdoctor("scan", "--format", "json", *TARGET, str(folder))
    return json.loads(done.stdout)


def fix(folder: Path, *options: str) -> int:
    """Repair a folder in place; return how many findings are left."""
    done = kdoctor("fix", "--apply", *TARGET, *options, str(folder))
    left = LEFT.search(done.stdout + done.stderr)
    return sum(map(int, NUMBER.findall(left[0]))) if left else 0


def kdoctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run kdoctor; a traceback or an exit code it does not know is an error (2: unread files)."""
    command = [str(KDOCTOR), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1, 2} or "Traceback (most recent call last)" in done.stderr:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done


def no_longer_compiling(before: Path, after: Path) -> list[str]:
    """Return the files of ``after`` that are no Python although they were in ``before``."""
    return [
        str(path.relative_to(after))
        for path in sorted(after.rglob("*.py"))
        if compiles(before / path.relative_to(after)) and not compiles(path)
    ]


def compiles(path: Path) -> bool:
    """Say whether this Python can compile a file."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def by_a_second_fix(folder: Path, *options: str) -> tuple[list[str], int]:
    """Fix once more; return the files that changed, and how many findings are left."""
    before = digests(folder)
    left = fix(folder, *options)
    after = digests(folder)
    return sorted(path for path in before | after if before.get(path) != after.get(path)), left


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file under ``folder``."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def print_table(reports: list[Report]) -> None:
    """Print one row a package, and below it everything that does not hold."""
    table = Table(title="kdoctor on packages of Keras 2 times")
    for column in ("package", "files", "findings", "fixed safe", "with unsafe", "errors checked"):
        table.add_column(column)
    for column in ("false alarms", "no longer compiling", "changed by a second fix"):
        table.add_column(column, justify="right")
    for report in reports:
        table.add_row(
            report.package,
            str(report.files),
            "  ".join(f"{code} {count}" for code, count in report.findings.items()),
            str(report.fixed),
            str(report.fixed_unsafe),
            f"{report.errors_checked}"
            + (f" (+{len(report.errors_not_checkable)})" if report.errors_not_checkable else ""),
            str(len(report.false_alarms)),
            str(len(report.compile_failures)),
            str(len(report.second_run_changes)),
        )
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for report in reports:
        for field in (
            "crashes",
            "false_alarms",
            "unreadable",
            "compile_failures",
            "second_run_changes",
        ):
            for line in getattr(report, field):
                console.print(
                    f"{report.package}: {field.replace('_', ' ')}: {line}", soft_wrap=True
                )
        if report.errors_not_checkable:
            names = ", ".join(report.errors_not_checkable)
            console.print(f"{report.package}: no name to look up: {names}", soft_wrap=True)


def _place(finding: dict) -> str:
    return f"{_inside(finding['path'])}:{finding['line']} {finding['code']} {finding['symbol']}"


def _inside(path: str) -> str:
    return re.sub(r"^.*?/source/", "", path)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
