"""Write what kdoctor makes of fixtures/ into tests/golden (or the folder given): read the diff.

    python tools/golden.py [FOLDER]

For each project: the files after ``kdoctor fix --apply``, and ``<project>.findings.txt`` with what
``kdoctor scan`` says of the files before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KDOCTOR = Path(sys.executable).with_name("kdoctor")
MODELS = "saved_models"  # no code to fix
TARGET = ("--target", "keras==3.15.1")


def main() -> None:
    """Write all projects."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("destination", nargs="?", type=Path, default=ROOT / "tests" / "golden")
    destination = parser.parse_args().destination
    shutil.rmtree(destination, ignore_errors=True)
    destination.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "fixtures")
        shutil.copytree(
            ROOT / "fixtures", work, ignore=shutil.ignore_patterns("__pycache__", ".kdoctor_cache")
        )
        for project in sorted(path.name for path in work.iterdir() if path.is_dir()):
            if project == MODELS:
                continue
            findings = "".join(f"{line}\n" for line in findings_of(project, work))
            (destination / f"{project}.findings.txt").write_text(findings, encoding="utf-8")
            kdoctor(["fix", "--apply", *TARGET, project], work)
            shutil.copytree(work / project, destination / project)


def findings_of(project: str, work: Path) -> list[str]:
    """Return one line a finding: place, code, severity, symbol, and what becomes of it."""
    scanned = json.loads(kdoctor(["scan", "--format", "json", *TARGET, project], work))
    return [line_of(finding) for finding in scanned["findings"]]


def line_of(finding: dict) -> str:
    """Return a finding as one line."""
    cell = f":cell {finding['cell']}" if finding["cell"] else ""
    place = f"{finding['path']}{cell}:{finding['line']}:{finding['column']}"
    fix = finding["fix"]
    cure = f"{fix['applicability']} fix" if fix else f"no fix: {finding['no_fix_because']}"
    what = f"{finding['code']} {finding['severity']} {finding['symbol']}"
    return f"{place}: {what} [{cure}]"


def kdoctor(arguments: list[str], work: Path) -> str:
    """Run kdoctor in ``work`` and return what it prints."""
    done = subprocess.run(
        [str(KDOCTOR), *arguments], cwd=work, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"kdoctor {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
