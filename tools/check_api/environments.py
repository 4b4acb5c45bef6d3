"""The environments in which old and new Keras run here, and how they are made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

CACHE = Path.home() / ".cache" / "kdoctor" / "environments"
_PYENV = Path.home() / ".pyenv" / "versions"
_COMPLETE = "requirements.txt"  # written last: what is in an environment that is whole


class NotInstallableError(Exception):
    """The environment cannot be made on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Root:
    """What to import, and the table and release that should say the same of it.

    Without a public listing (``keras`` up to 2.12) every module file is compared.
    """

    module: str
    table: str
    release: str
    has_listing: bool = True
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """How people call it: ``TF_USE_LEGACY_KERAS=1 tf.keras``."""
        settings = "".join(f"{name}={value} " for name, value in self.variables.items())
        return settings + self.module.replace("tensorflow.", "tf.")


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python with a TensorFlow and its Keras. Without ``python``: the one that runs this."""

    name: str
    python: str
    requirements: tuple[str, ...]
    roots: tuple[Root, ...]


def _keras_2(keras: str, tensorflow: str, *, has_listing: bool) -> tuple[Root, ...]:
    return (
        Root("keras", "keras", keras, has_listing=has_listing),
        Root("tensorflow.keras", "tf.keras", keras),
        Root("tensorflow.compat.v1.keras", "tf.compat.v1.keras", keras),
        _private(tensorflow),
    )


def _keras_3(keras: str, tensorflow: str) -> tuple[Root, ...]:
    return (
        Root("keras", "keras", keras),
        Root("tensorflow.keras", "tf.keras", keras),
        _private(tensorflow),
    )


def _private(tensorflow: str) -> Root:
    name = "tensorflow.python.keras"
    return Root(name, name, tensorflow, has_listing=False)


# Old releases bound nothing from above: NumPy 1.24, protobuf 4 and h5py 3 broke them later.
# scipy: keras.preprocessing.image binds it where it is there.
ENVIRONMENTS = (
    Environment(
        "this one",
        "",
        (),
        (
            *_keras_3("3.15.1", "2.21.0"),
            Root("tf_keras", "tf_keras", "2.21.0"),
            Root("tensorflow.keras", "tf_keras", "2.21.0", variables={"TF_USE_LEGACY_KERAS": "1"}),
        ),
    ),
    Environment(
        "keras-3.6.0",
        "3.11",
        ("keras==3.6.0", "tensorflow-cpu==2.18.1"),
        _keras_3("3.6.0", "2.18.1"),
    ),
    Environment(
        "keras-3.0.5",
        "3.11",
        ("keras==3.0.5", "tensorflow-cpu==2.16.2", "numpy<2"),
        _keras_3("3.0.5", "2.16.2"),
    ),
    Environment(
        "keras-2.15.0",
        "3.11",
        ("keras==2.15.0", "tensorflow-cpu==2.15.1", "numpy<2"),
        _keras_2("2.15.0", "2.15.1", has_listing=True),
    ),
    Environment(
        "keras-2.13.1",
        "3.11",
        ("keras==2.13.1", "tensorflow-cpu==2.13.1", "numpy<2"),
        _keras_2("2.13.1", "2.13.1", has_listing=True),
    ),
    Environment(
        "keras-2.10.0",
        "3.10",
        ("keras==2.10.0", "tensorflow-cpu==2.10.1", "numpy<2", "protobuf<3.20", "scipy"),
        _keras_2("2.10.0", "2.10.1", has_listing=False),
    ),
    Environment(
        "keras-2.4.3",
        "3.8",
        ("keras==2.4.3", "tensorflow-cpu==2.4.4", "scipy"),
        (
            Root("keras", "keras", "2.4.3", has_listing=False),
            Root("tensorflow.keras", "tf.keras", "2.4.4"),
            Root("tensorflow.compat.v1.keras", "tf.compat.v1.keras", "2.4.4"),
            _private("2.4.4"),
        ),
    ),
    Environment(
        "keras-2.3.1",
        "3.7",
        (
            *("keras==2.3.1", "tensorflow==1.15.5"),
            *("numpy<1.19", "h5py<3", "protobuf<3.21", "scipy"),
        ),
        (
            Root("keras", "keras", "2.3.1", has_listing=False),
            Root("tensorflow.keras", "tf.keras", "1.15.5"),
            Root("tensorflow.compat.v1.keras", "tf.compat.v1.keras", "1.15.5"),
            Root("tensorflow.compat.v2.keras", "tf.compat.v2.keras", "1.15.5"),
            Root("tensorflow.contrib.keras", "tensorflow.contrib.keras", "1.15.5"),
            _private("1.15.5"),
        ),
    ),
)

# What is known not to run here, and why: said in every table, lest it be taken for compared.
NOT_COMPARED = {
    "keras 2.0.9 to 2.2.5": "need TensorFlow 1.4 to 1.13, released for Python up to 3.6 or 3.7",
    "keras on theano or CNTK": "neither can be installed; the table speaks of TensorFlow alone",
}


def made(environment: Environment) -> Path:
    """Return the interpreter of the environment; make it first where it is not there yet.

    Raises:
        NotInstallableError: there is no such Python here, or pip could not install it.
    """
    if not environment.python:
        return Path(sys.executable)
    folder = CACHE / environment.name
    wanted = "\n".join(environment.requirements) + "\n"
    marker = folder / _COMPLETE
    python = folder / "bin" / "python"
    if marker.exists() and marker.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    print(f"making {folder} …", file=sys.stderr)
    _run([str(_interpreter(environment.python)), "-m", "venv", str(folder)])
    # Of TensorFlow's dependencies some are source archives that need an older setuptools.
    _run([*_pip(python), "--upgrade", "pip", "wheel", "setuptools<70"])
    _run([*_pip(python), "--prefer-binary", *environment.requirements])
    marker.write_text(wanted)
    return python


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _interpreter(version: str) -> Path:
    found = sorted(_PYENV.glob(f"{version}.*/bin/python")) or [
        Path(path) for path in [shutil.which(f"python{version}")] if path
    ]
    if not found:
        raise NotInstallableError(
            f"there is no Python {version} here (try: pyenv install {version})"
        )
    return found[-1]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise NotInstallableError(f"`{' '.join(command[1:4])} …` failed: {' '.join(last)}")
