"""Write which releases of the packages that bring Keras were ever published.

    python tools/published.py

A range like ``tensorflow>=2.4,<2.12`` means its newest release: for that the numbers of all
releases are needed, also of those whose API equals that of a later patch. pip tells them; it names
only those that some Python can install, so it is asked for several.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from packaging.version import Version

OUT = Path(__file__).resolve().parent.parent / "kdoctor" / "project" / "published.json"
PACKAGES = {"keras": "keras", "tensorflow": "tensorflow", "tf_keras": "tf-keras"}
PYTHONS = ("2.7", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def versions(package: str) -> list[str]:
    """Return the final releases of a package, oldest first."""
    found: set[Version] = set()
    for python in PYTHONS:
        command = [sys.executable, "-m", "pip", "index", "versions", package]
        command += ["--python-version", python, "--only-binary", ":all:"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("Available versions: "):
                found |= {Version(text) for text in line.partition(": ")[2].split(", ")}
    return [str(version) for version in sorted(found)]


def main() -> None:
    """Ask the package index and write the file."""
    table = {ours: versions(name) for ours, name in PACKAGES.items()}
    if not all(table.values()):
        sys.exit("the package index cannot be reached")
    OUT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
