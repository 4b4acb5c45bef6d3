"""The GPUs that TensorFlow sees, or why it sees none."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import Version

from kdoctor.diagnose.environment.environment import Environment, release
from kdoctor.diagnose.environment.health_report import Check, Remedy, ok, warning
from kdoctor.diagnose.environment.installed import Installed

_VISIBLE: Final = "CUDA_VISIBLE_DEVICES"
_NO_WINDOWS_SINCE: Final = Version("2.11")
# The extra that brings the CUDA libraries as packages; before, they were to be installed by hand.
_EXTRA_SINCE: Final = Version("2.14")


@dataclass(frozen=True, slots=True)
class Devices:
    """What TensorFlow reports about devices."""

    gpus: list[str]
    built_with_cuda: bool
    cuda: str
    cudnn: str


def check_devices(environment: Environment, devices: Devices) -> Iterator[Check]:
    """Name the GPUs, or the first reason why TensorFlow sees none."""
    tensorflow = environment.tensorflow
    if tensorflow is None:
        return
    if devices.gpus:
        yield ok("GPU", ", ".join(devices.gpus))
        return
    if not _has_card():
        yield ok("GPU", "none: this machine has no NVIDIA card, TensorFlow computes on the CPU")
        return
    version = release(tensorflow.version)
    hidden = environment.variables.get(_VISIBLE)
    if hidden is not None and hidden.strip() in {"", "-1"}:
        message = f"not seen: {_VISIBLE}={hidden} hides it"
        yield warning("GPU", message, environment.unset(_VISIBLE))
    elif not devices.built_with_cuda and sys.platform == "win32" and version >= _NO_WINDOWS_SINCE:
        message = f"not seen: tensorflow {tensorflow.version} has no GPU support on native Windows"
        yield warning("GPU", message, Remedy(note="run it under WSL 2, or use tensorflow 2.10"))
    elif not devices.built_with_cuda:
        message = f"not seen: {tensorflow.name} {tensorflow.version} is built without CUDA"
        yield warning("GPU", message, _another_build(environment, tensorflow))
    else:
        libraries = " and ".join(
            f"{name} {number}"
            for name, number in (("CUDA", devices.cuda), ("cuDNN", devices.cudnn))
            if number
        )
        message = f"not seen: the driver or the required libraries ({libraries}) were not found"
        cure = (
            environment.install(_with_cuda(tensorflow.version))
            if version >= _EXTRA_SINCE
            else Remedy(note=f"install {libraries} and put them on LD_LIBRARY_PATH")
        )
        yield warning("GPU", message, cure)


def _another_build(environment: Environment, tensorflow: Installed) -> Remedy:
    """Return how to get a build with CUDA; tensorflow-cpu may be intentional."""
    again = environment.install(_with_cuda(tensorflow.version)).command
    if tensorflow.name == "tensorflow":
        return Remedy(again, "if such a build exists for this system")
    gone = environment.uninstall(tensorflow.name).command
    return Remedy(note=f"to use the GPU, replace it with the other build: {gone} && {again}")


def _with_cuda(version: Version) -> str:
    extra = "[and-cuda]" if release(version) >= _EXTRA_SINCE else ""
    return f"tensorflow{extra}=={version}"


def _has_card() -> bool:
    if platform.system() == "Linux":
        return any(Path("/proc/driver/nvidia/gpus").glob("*")) or Path("/dev/nvidia0").exists()
    import shutil  # noqa: PLC0415

    return shutil.which("nvidia-smi") is not None
