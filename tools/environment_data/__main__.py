"""Write what the releases of TensorFlow, Keras and tf_keras ask for, as their wheels say it.

    python -m tools.environment_data

``kdoctor env`` judges what is installed by its own metadata. It needs to know of releases that are
not installed, too: which TensorFlow a Python can have, and which one goes with a Keras. Of each
minor release the last patch is asked, of Keras 3 every minor. pip tells: the metadata alone is
read, no wheel is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

OUT = Path(__file__).resolve().parents[2] / "kdoctor/diagnose/environment/releases.json"
PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
SINCE = {
    "tensorflow": Version("1.15"),
    "keras": Version("2.2"),
    "tf-keras": Version("2.14"),
}
TOLD = ("keras", "tensorflow", "tf-keras", "numpy", "protobuf", "h5py", "ml-dtypes")


def main() -> None:
    """Ask the package index and write the file."""
    table = {}
    for package, since in SINCE.items():
        pythons = _pythons(package)
        chosen = _last_patches([version for version in pythons if version >= since])
        table[package] = {
            str(version): _release(package, version, pythons[version]) for version in chosen
        }
    if not all(table.values()):
        sys.exit("the package index cannot be reached")
    OUT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def _pythons(package: str) -> dict[Version, list[str]]:
    """Return each final release with the Pythons that have a wheel of it, on this platform."""
    found: dict[Version, list[str]] = {}
    for python in PYTHONS:
        command = [sys.executable, "-m", "pip", "index", "versions", package]
        command += ["--python-version", python, "--only-binary", ":all:"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("Available versions: "):
                for text in line.partition(": ")[2].split(", "):
                    found.setdefault(Version(text), []).append(python)
    return found


def _last_patches(versions: list[Version]) -> list[Version]:
    last: dict[tuple[int, int], Version] = {}
    for version in sorted(versions):
        last[version.major, version.minor] = version
    return list(last.values())


def _release(package: str, version: Version, pythons: list[str]) -> dict[str, Any]:
    print(f"{package} {version} …", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
    command += ["--ignore-installed", "--only-binary", ":all:", "--python-version", pythons[-1]]
    command += ["--target", "never-made", "--report", "-", f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    metadata = json.loads(done.stdout)["install"][0]["metadata"]
    allowed = SpecifierSet(metadata.get("requires_python") or "")
    return {
        # A wheel that lies at hand is offered to every Python.
        "pythons": [python for python in pythons if f"{python}.99" in allowed],
        "requires": {
            canonicalize_name(each.name): str(each.specifier)
            for each in map(Requirement, metadata.get("requires_dist", ()))
            if canonicalize_name(each.name) in TOLD and _always(each)
        },
    }


def _always(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


if __name__ == "__main__":
    main()
