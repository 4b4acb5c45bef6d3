"""Run each minor release of TensorFlow beside newer NumPy, protobuf, h5py and ml_dtypes.

    python -m tools.environment_data.neighbours [2.10 …]

What a wheel asks for is not what breaks it: TensorFlow 2.10 allows any NumPy and fails with
NumPy 2; TensorFlow 2.13 asks for NumPy up to 1.24.3 and runs with 1.26. So it is tried, in
throw-away environments, and recorded in ``neighbours.json``: which version was put beside it, and
what a program of a few lines then raised, "" where it ran.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()
ROOM = HERE.parents[2] / "kdoctor/diagnose/environment"
OUT = ROOM / "neighbours.json"
TRIED = {
    "numpy": ("1.26.4", "2.0.2", ""),
    "protobuf": ("3.20.3", "4.25.9", "5.29.5", ""),
    "h5py": ("",),
    "ml-dtypes": ("",),
}
# Found by resolving: TensorFlow of these releases says too little of what it cannot stand.
HELD = ("numpy<2", "protobuf<3.21")
PROGRAM = """
import os, tempfile
import tensorflow as tf
tf.train.Example().SerializeToString()
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,))])
model(tf.ones((1, 2))).numpy()
model.predict([[1.0, 2.0]], verbose=0) if tf.__version__ < "2.16" else None
path = os.path.join(tempfile.mkdtemp(), "m.weights.h5")
model.save_weights(path)
model.load_weights(path)
"""
PYTHONS = ("3.8", "3.9", "3.10", "3.11")
RAISED = re.compile(r"[\w.]*(?:Error|Exception|Warning): ")
UV = Path(sys.executable).with_name("uv")


def main(wanted: list[str]) -> None:
    """Try the wanted minor releases, all without any, and merge what came out into the record."""
    releases = json.loads((ROOM / "releases.json").read_text())["tensorflow"]
    record = json.loads(OUT.read_text()) if OUT.exists() else {}
    minors = {".".join(version.split(".")[:2]): version for version in releases}
    for minor in wanted or minors:
        version = minors[minor]
        pythons = [python for python in releases[version]["pythons"] if python in PYTHONS]
        if not pythons:
            continue
        record[version] = _tried(version, max(pythons, key=PYTHONS.index))
        OUT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _tried(version: str, python: str) -> dict[str, dict[str, str]]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("NEIGHBOURS_ROOM")) as folder:
        base, cache = Path(folder) / "base", Path(folder) / "cache"
        environment = {**os.environ, "UV_CACHE_DIR": str(cache)}
        interpreter = max((Path.home() / ".pyenv/versions").glob(f"{python}.*/bin/python"))
        _run([UV, "venv", "-q", "--python", interpreter, base], environment)
        held = HELD if tuple(map(int, version.split(".")[:2])) < (2, 12) else ()
        command = [UV, "pip", "install", "-q", "--python", base / "bin/python", *held]
        done = _run([*command, f"tensorflow-cpu=={version}"], environment)
        if done:
            print(f"{version}: not installed: {done}", file=sys.stderr)
            return {}
        failed = _outcome(base)
        print(version, python, failed or "ok", file=sys.stderr, flush=True)
        if failed:
            return {}
        found: dict[str, dict[str, str]] = {}
        installed = _installed(base)
        for package, versions in TRIED.items():
            for number in versions:
                trial = Path(folder) / "trial"
                _run(["cp", "-al", base, trial], environment)
                put = f"{package}=={number}" if number else f"{package}>=0"
                command = [UV, "pip", "install", "-q", "--no-deps", "--upgrade", put]
                command += ["--python", trial / "bin/python"]
                failed = package not in installed or _run(command, environment)
                if not failed:
                    told = _version(trial, package)
                    outcome = _outcome(trial)
                    found.setdefault(package, {})[told] = outcome
                    print(version, package, told, outcome or "ok", file=sys.stderr, flush=True)
                shutil.rmtree(trial)
        return found


def _installed(folder: Path) -> set[str]:
    listed = subprocess.run(
        [UV, "pip", "freeze", "--python", folder / "bin/python"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.partition("==")[0] for line in listed.stdout.splitlines()}


def _version(folder: Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run(
        [folder / "bin/python", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _outcome(folder: Path) -> str:
    quiet = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [folder / "bin/python", "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **quiet},
        cwd=folder,
        timeout=300,
    )
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
    raised = [line for line in lines if RAISED.match(line)]
    return (raised or lines)[-1][:300]


def _run(command: list[object], environment: dict[str, str]) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    return "" if done.returncode == 0 else (done.stderr.strip() or "failed")


if __name__ == "__main__":
    main(sys.argv[1:])
