"""How long a look at saved models takes beside a walk through them by h5py alone.

``python -m benchmarks.speed.saved_models`` lets tf_keras write two models (MobileNetV2, and one of
464 MB) as ``.h5`` and ``.keras``. ``kdoctor model`` looks at each, and at a folder of copies; the
peer opens the same files by h5py in one process, and reads the same: configurations, and names,
shapes and types of all arrays. What is told is the processor time of both, with their start, and
the ratio of medians of interleaved runs.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.speed.measure import Command, run

HERE = Path(__file__).resolve().parents[2]
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
_WRITE = """
import sys, tf_keras as keras
small = keras.applications.MobileNetV2(weights=None)
small.compile("adam", "categorical_crossentropy", metrics=["acc"])
layers = [keras.layers.Dense(4000, name=f"dense_{number}") for number in range(8)]
large = keras.Sequential([keras.Input((1000,)), *layers])
for name, model in {"small": small, "large": large}.items():
    for ending in ("h5", "keras"):
        model.save(f"{sys.argv[1]}/{name}.{ending}")
"""
_PEER = """
import io, os, sys, zipfile, h5py
def told(file):
    arrays = []
    def meet(name, found):
        if isinstance(found, h5py.Dataset):
            arrays.append((name, found.shape, found.dtype))
        else:
            arrays.extend(dict(found.attrs).items())
    file.visititems(meet)
    return dict(file.attrs), arrays
for path in sys.argv[1:]:
    paths = sorted(os.scandir(path), key=lambda each: each.name) if os.path.isdir(path) else [path]
    for each in paths:
        each = os.fspath(each)
        if each.endswith(".h5"):
            with h5py.File(each, "r") as file:
                told(file)
            continue
        with zipfile.ZipFile(each) as archive:
            archive.read("config.json")
            with archive.open("model.weights.h5") as member, h5py.File(member, "r") as file:
                told(file)
"""


def main(
    *,
    copies: Annotated[int, typer.Option(help="Copies of each small model in the folder.")] = 50,
    runs: Annotated[int, typer.Option(help="Of each.", min=1)] = 5,
) -> None:
    """Show the seconds of processor time of kdoctor and of h5py, and their ratio."""
    compileall.compile_dir(HERE / "kdoctor", quiet=2)  # as pip does: else each start compiles anew
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run(
            [sys.executable, "-c", _WRITE, place],
            check=True,
            env=os.environ | _QUIET,
            stderr=subprocess.DEVNULL,
        )
        (folder / "many").mkdir()
        for number in range(copies):
            for ending in ("h5", "keras"):
                (folder / "many" / f"{number}.{ending}").hardlink_to(folder / f"small.{ending}")
        for name in ("large.h5", "large.keras", "small.h5", "small.keras", "many"):
            print(_line(folder, name, runs))


def _line(folder: Path, name: str, runs: int) -> str:
    kept = {"PYTHONPATH": str(HERE), "OPENBLAS_NUM_THREADS": "1"}
    both = {
        "kdoctor": [sys.executable, "-P", "-m", "kdoctor", "model", "--quiet", name],
        "h5py": [sys.executable, "-c", _PEER, name],
    }
    seconds: dict[str, list[float]] = {each: [] for each in both}
    for _ in range(runs):
        for each, words in both.items():
            done = run(Command(tuple(words), folder, 1, (0, 1), kept))
            seconds[each].append(done.cpu)
    ours, theirs = (statistics.median(seconds[each]) for each in both)
    return f"{name}: kdoctor {ours:.2f} s, h5py {theirs:.2f} s: {ours / theirs:.2f} times as long"


if __name__ == "__main__":
    typer.run(main)
