"""Record which packages cannot be imported with Keras 3: ``python -m tools.package_imports``.

Each package of ``packages.toml`` is installed into a folder of its own, in its last release, and
imported beside the TensorFlow, Keras and tf_keras that are here: as they are, and with
``TF_USE_LEGACY_KERAS=1``. What raises since Keras 2 is not there is written to
``kdoctor/rules/environment/packages.json``; what raises for another reason is told and left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(__file__).with_name("packages.toml")
RECORD = ROOT / "kdoctor" / "rules" / "environment" / "packages.json"
FOLDER = Path.home() / ".cache" / "kdoctor" / "packages_of_keras_2"
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
_SECONDS = 300
_AT_A_TIME = 2
_WHERE = re.compile(r" \((?:/|most likely)[^)]*\)")  # the file, which is another elsewhere
_GOT = re.compile(r" but got version .*", re.DOTALL)
# What has the name of Keras or TensorFlow itself, not that of a package called after them.
_OF_KERAS = re.compile(r"(?<![\w-])(?:tf\.)?(?:keras|tensorflow)(?![\w-])")

Package = dict[str, Any]


def main() -> None:
    """Import all packages and write the record."""
    packages: list[Package] = tomllib.loads(PACKAGES.read_text("utf-8"))["package"]
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        asked = list(pool.map(_asked, packages))
    broken = {module: told for each in asked for module, told in each.items()}
    frameworks = ("keras", "tensorflow", "tf_keras")
    record = {
        "frameworks": {name: version(name) for name in frameworks},
        "packages": dict(sorted(broken.items())),
    }
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(packages)} packages, {len(broken)} of their modules cannot be imported")


def _asked(package: Package) -> dict[str, dict[str, str]]:
    distribution, module = package["distribution"], package["module"]
    folders = [_installed(each) for each in (distribution, *package.get("needs", ()))]
    now = _raised(module, folders, {})
    old = _raised(module, folders, {"TF_USE_LEGACY_KERAS": "1"})
    if now is None or old is None:
        return {}  # nothing is known of it
    release = next(
        (each.version for each in distributions(path=[str(folders[0])])
         if each.metadata["Name"].lower().replace("_", "-") == distribution.replace("_", "-")),
        "",
    )  # fmt: skip
    found = {}
    for name, error in now.items():
        if not _OF_KERAS.search(error):
            print(f"{name}: {error[:150]}", file=sys.stderr)
            continue
        found[name] = {"distribution": distribution, "release": release, "error": error}
        # Where a package cannot be imported, its modules are not asked.
        above = (old[each] for each in old if f"{name}.".startswith(f"{each}."))
        found[name]["legacy"] = next(above, "")
    return found


def _installed(requirement: str) -> Path:
    """Return the folder into which a distribution was installed, without what it depends on."""
    folder = FOLDER / requirement
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*command, "--target", str(folder), requirement],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print(f"{requirement}: not installed", file=sys.stderr)
    return folder


def _raised(module: str, folders: list[Path], more: dict[str, str]) -> dict[str, str] | None:
    """Return what each module raises that cannot be imported; None where that was not to be had."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    environ = kept | _QUIET | more | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, str(Path(__file__).with_name("asking.py")), module]
    try:
        done = subprocess.run(
            command,
            check=False,
            env=environ,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            cwd=FOLDER,
        )
    except subprocess.TimeoutExpired:
        print(f"{module}: takes too long", file=sys.stderr)
        return None
    if done.returncode:
        print(f"{module}: ended with {done.returncode}", file=sys.stderr)
        return None
    errors: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return {name: _short(text) for name, text in errors.items()}


def _short(error: str) -> str:
    """Return an error without where its file lies, and without what it goes on to advise."""
    return _GOT.sub("", _WHERE.sub("", error)).split("\n")[0].strip()


if __name__ == "__main__":
    main()
