"""Start a process for each backend and device, and read the results of its checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import kdoctor
from kdoctor.errors import UsageProblem
from kdoctor.verify.processes import ON_THE_CPU, environment, folder_settings
from kdoctor.verify.reference.results import Result

BACKENDS = ("tensorflow", "jax", "torch")
CPU, GPU, ALL = "cpu", "gpu", "all"

# No check takes a minute; compiling all of them takes several.
_TIME_LIMIT = 1800
# Closed forms are compared in float64, and a GPU must not round float32 to TensorFloat-32.
_ENVIRONMENT = {
    "NVIDIA_TF32_OVERRIDE": "0",
    "JAX_ENABLE_X64": "1",
    "JAX_DEFAULT_MATMUL_PRECISION": "highest",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "PYTHONUTF8": "1",
}

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Place:
    """A backend on a device; ``gpu`` counts from 0, None is the CPU."""

    backend: str
    gpu: int | None = None

    @property
    def kind(self) -> str:
        """``cpu`` or ``gpu``."""
        return CPU if self.gpu is None else GPU


def installed() -> list[str]:
    """Return the installed backends; if there is none, TensorFlow, to report it as missing."""
    return [each for each in BACKENDS if find_spec(each) is not None] or [BACKENDS[0]]


def places(backends: Sequence[str], device: str) -> list[Place]:
    """Return where to run.

    Raises:
        UsageProblem: a backend is not installed, or a GPU was requested and none is found.
    """
    found = []
    for backend in backends:
        _require(backend)
        if device in {CPU, ALL}:
            found.append(Place(backend))
        if device in {GPU, ALL}:
            gpus = _gpus_of(backend)
            if device == GPU and not gpus:
                raise UsageProblem(
                    f"{backend} sees no GPU on this machine: run with --device cpu, or see "
                    "`kdoctor env --deep` for what is missing"
                )
            found += [Place(backend, gpu) for gpu in range(gpus)]
    return found


def run(place: Place, progress: Progress | None = None) -> Iterator[Result]:
    """Run all checks at a place; yield results as they arrive.

    Raises:
        UsageProblem: the process ended before its last check.
    """
    with tempfile.TemporaryDirectory(prefix="kdoctor-") as home:
        process = _started(place, [place.kind], home)
        watch = threading.Timer(_TIME_LIMIT, process.kill)
        watch.start()
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            total = json.loads(first)["checks"] if first else 0
            done = 0
            for done, line in enumerate(process.stdout, start=1):
                yield Result(**json.loads(line))
                if progress is not None:
                    progress(done, total)
            if not total or done < total:
                process.wait()
                raise UsageProblem(_how_it_ended(place, done, total, Path(home)))
        finally:
            watch.cancel()
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stdin):
                if stream is not None:
                    stream.close()


def _require(backend: str) -> None:
    missing = [name for name in ("keras", backend) if find_spec(name) is None]
    if missing:
        extra = "'keras-doctor[verify]'" if {"keras", "tensorflow"} & {*missing} else ""
        other = backend if backend in missing and backend != "tensorflow" else ""
        raise UsageProblem(
            f"the reference needs {' and '.join(missing)}, which this Python ({sys.executable}) "
            f"does not have: pip install {' '.join(filter(None, [extra, other]))}"
        )


def _gpus_of(backend: str) -> int:
    with tempfile.TemporaryDirectory(prefix="kdoctor-") as home:
        process = _started(Place(backend, gpu=-1), ["count"], home)
        out, _ = process.communicate(timeout=_TIME_LIMIT)
    return int(out or 0)


def _started(place: Place, arguments: list[str], home: str) -> subprocess.Popen[str]:
    path = [str(Path(kdoctor.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    own = folder_settings(home) | {
        "KERAS_BACKEND": place.backend,
        # The user's keras.json could change floatx, epsilon and the image format.
        "KERAS_HOME": home,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    if place.gpu is None:
        own |= ON_THE_CPU
    elif place.gpu >= 0:
        own["CUDA_VISIBLE_DEVICES"] = _visible(place.gpu)
    with (Path(home) / "stderr").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "kdoctor.verify.reference.worker", *arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env=environment(_ENVIRONMENT, own),
            cwd=home,
        )


def _visible(gpu: int) -> str:
    """Return the GPU's CUDA_VISIBLE_DEVICES entry; the user may have hidden some."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return given.split(",")[gpu] if given else str(gpu)


def _how_it_ended(place: Place, done: int, total: int, home: Path) -> str:
    said = (home / "stderr").read_text("utf-8", "replace").strip().splitlines()
    last = said[-1] if said else "no output"
    where = f"after {done} of {total} checks" if total else "before the first check"
    return f"the reference on {place.backend} ({place.kind}) ended {where}: {last}"
