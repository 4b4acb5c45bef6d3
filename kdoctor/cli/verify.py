"""``kdoctor verify``: run the reference on this machine's backends and devices."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import options, streams

if TYPE_CHECKING:
    from kdoctor.verify.reference.results import Result


class Backend(enum.StrEnum):
    """The backends that Keras 3 computes with, for ``--backend``."""

    TENSORFLOW = "tensorflow"
    JAX = "jax"
    TORCH = "torch"
    ALL = "all"


class Device(enum.StrEnum):
    """What is computed on, for ``--device``."""

    CPU = "cpu"
    GPU = "gpu"
    ALL = "all"


BackendOption = Annotated[
    Backend, typer.Option("--backend", help="The backend of Keras 3, or all that are installed.")
]
DeviceOption = Annotated[
    Device, typer.Option("--device", help="The CPU, each GPU that the backend sees, or both.")
]


def verify(
    *,
    backend: BackendOption = Backend.TENSORFLOW,
    device: DeviceOption = Device.ALL,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = options.Color.AUTO,
) -> None:
    """Check the reference here: against closed forms, finite differences, Keras and tf_keras.

    \b
    kdoctor verify                                on TensorFlow, on the CPU and each GPU
    kdoctor verify --backend all --device cpu

    Exit code: 0 where all is within tolerance, 1 where something is not, 2 where it cannot run.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.report.reference import write_json, write_results  # noqa: PLC0415

    results = _results(backend, device)
    page = streams.output(color)
    if json:
        write_json(results, page)
    else:
        write_results(results, page)
    if not all(each.holds for each in results):
        raise typer.Exit(1)


def _results(backend: Backend, device: Device) -> list[Result]:
    from kdoctor.report.page import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.verify.reference.run import installed, places, run  # noqa: PLC0415

    backends = installed() if backend is Backend.ALL else [backend.value]
    found: list[Result] = []
    for place in places(backends, device.value):
        with progress(sys.stderr, shown=is_terminal(sys.stderr)) as heard:
            found += run(place, heard)
    return found
