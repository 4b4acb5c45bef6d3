"""The releases that write the files, and an environment for each."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CACHE = Path.home() / ".cache" / "kdoctor" / "writers"
PYENV = Path.home() / ".pyenv" / "versions"
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_USE_LEGACY_KERAS": "0",
}


@dataclass(frozen=True, slots=True)
class Writer:
    """A Keras that writes: the module, and where it is to be had.

    ``python`` is "" for the Python that runs this, whose TensorFlow then serves a ``keras`` of
    ``needs`` in a folder of its own.
    """

    name: str
    module: str
    python: str = ""
    needs: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where what it needs is installed; `make old-oracle` needs the same of the oldest."""
        if "tensorflow==1.15.5" in self.needs:
            return CACHE.with_name("old-oracle") / self.name.partition("-")[2]
        return CACHE / self.name

    def install(self) -> bool:
        """Install what it needs; False where this machine has not the Python for it."""
        done = self.folder / ".installed"
        if not self.needs or done.exists():
            return True
        command = [sys.executable, "-m", "pip", "install", "--quiet"]
        if self.python:
            found = sorted(PYENV.glob(f"{self.python}.*/bin/python"))
            if not found:
                return False
            subprocess.run([found[-1], "-m", "venv", self.folder], check=True)
            command[0] = str(self.folder / "bin" / "python")
        else:
            command += ["--no-deps", "--target", str(self.folder)]
        subprocess.run([*command, *self.needs], check=True)
        done.touch()
        return True

    def run(self, *arguments: object) -> None:
        """Run a script with its Python and its Keras."""
        environment = {**os.environ, **QUIET}
        environment.pop("PYTHONPATH", None)
        python = sys.executable
        if self.python:
            python = str(self.folder / "bin" / "python")
        elif self.needs:
            environment["PYTHONPATH"] = str(self.folder)
        subprocess.run([python, *map(str, arguments)], check=True, env=environment)


_OLD = ("tensorflow==1.15.5", "h5py<3", "protobuf<3.21", "numpy<1.19")
# Of each minor release of Keras 3 the last one that the TensorFlow of this environment serves.
_OF_KERAS_3 = (
    *("3.14.1", "3.13.2", "3.12.4", "3.11.3", "3.10.0", "3.9.2", "3.8.0", "3.7.0", "3.6.0"),
    *("3.5.0", "3.4.1", "3.3.3", "3.2.1", "3.1.1"),
)
WRITERS = (
    Writer("tf_keras", "tf_keras"),
    Writer("keras", "keras"),
    *(Writer(f"keras-{each}", "keras", needs=(f"keras=={each}",)) for each in _OF_KERAS_3),
    Writer("keras-3.0.5", "keras", needs=("keras==3.0.5", "dm-tree")),
    Writer("tensorflow-2.15.1", "tensorflow", "3.11", ("tensorflow-cpu==2.15.1",)),
    Writer("tensorflow-2.13.1", "tensorflow", "3.11", ("tensorflow-cpu==2.13.1",)),
    Writer("tensorflow-2.10.1", "tensorflow", "3.10", ("tensorflow-cpu==2.10.1", "numpy<2")),
    Writer(
        "tensorflow-2.8.4",
        "tensorflow",
        "3.9",
        ("tensorflow-cpu==2.8.4", "protobuf<3.21", "numpy<1.24"),
    ),
    Writer(
        "tensorflow-2.6.5",
        "tensorflow",
        "3.9",
        ("tensorflow-cpu==2.6.5", "keras==2.6.0", "protobuf<3.21", "numpy<1.24"),
    ),
    Writer("tensorflow-2.4.4", "tensorflow", "3.8", ("tensorflow-cpu==2.4.4",)),
    Writer("keras-2.3.1", "keras", "3.7", ("keras==2.3.1", *_OLD)),
    Writer("keras-2.2.4", "keras", "3.7", ("keras==2.2.4", *_OLD)),
)
