"""Evidence: what a file of the project says about its Keras."""

from __future__ import annotations

import enum
import re
from typing import Final

from msgspec import Struct

from kdoctor.target import SWITCHES_ON


class Distribution(enum.StrEnum):
    """The distributions that provide Keras."""

    KERAS = "keras"
    TENSORFLOW = "tensorflow"
    TF_KERAS = "tf_keras"


# TensorFlow is published under many names; each has the API of its version.
_NAMES: Final = {
    "keras": Distribution.KERAS,
    "keras-gpu": Distribution.KERAS,  # conda
    "keras-nightly": Distribution.KERAS,
    "tf-keras": Distribution.TF_KERAS,
    "tf-keras-nightly": Distribution.TF_KERAS,
} | dict.fromkeys(
    (
        *("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-macos"),
        *("tensorflow-intel", "tensorflow-rocm", "tensorflow-cpu-aws", "tensorflow-aarch64"),
        *("tensorflow-mkl", "tensorflow-base", "tensorflow-eigen", "intel-tensorflow"),
        *("tensorflow-directml", "nvidia-tensorflow", "tf-nightly", "tf-nightly-gpu"),
        *("tf-nightly-cpu",),
    ),
    Distribution.TENSORFLOW,
)
# A file without any of these is not worth parsing.
WORDS: Final = (
    b"keras",
    b"Keras",
    b"KERAS",
    b"tensorflow",
    b"Tensorflow",
    b"TensorFlow",
    b"nightly",
)


class EvidenceKind(enum.StrEnum):
    """The kinds of sources, as shown to users; earlier ones take precedence."""

    LOCK = "lock file"
    REQUIREMENTS = "requirements file"
    PROJECT = "project file"
    CONDA = "conda environment file"
    PIPFILE = "Pipfile"
    INSTALLED = "virtual environment"
    SETTINGS = "settings of the environment"


class Evidence(Struct, frozen=True):
    """One requirement on a package that brings Keras.

    ``requirement`` is how it is written in the file. ``specifiers`` says the same as a version
    specifier of Python packaging: ``==2.10.0``, ``>=2.4,<2.12``, "" for any version.
    ``group`` is the extra or dependency group that it belongs to, ``marker`` on which machines or
    Pythons it counts; "" for everywhere. ``nightly``: the newest build, whatever the number.
    """

    distribution: Distribution
    requirement: str
    specifiers: str
    path: str
    line: int | None = None
    group: str = ""
    marker: str = ""
    nightly: bool = False

    @property
    def is_conditional(self) -> bool:
        """Whether it applies to some installations only."""
        return bool(self.group or self.marker)

    @property
    def place(self) -> str:
        """Its location, for display: ``requirements.txt:3``."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Flag(Struct, frozen=True):
    """A setting of ``TF_USE_LEGACY_KERAS``."""

    value: str
    path: str
    line: int | None = None

    @property
    def on(self) -> bool:
        """Whether TensorFlow treats the value as true."""
        return self.value in SWITCHES_ON

    @property
    def place(self) -> str:
        """Its location, for display."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class EvidenceSource(Struct, frozen=True):
    """One examined source, and what it says. ``folder`` is its absolute path.

    ``problems`` are sentences, each with the path in front, about what could not be read.
    """

    kind: EvidenceKind
    path: str
    folder: str
    evidence: tuple[Evidence, ...] = ()
    flags: tuple[Flag, ...] = ()
    problems: tuple[Problem, ...] = ()


class Problem(Struct, frozen=True):
    """A part of a file that cannot be read."""

    path: str
    why: str


def distribution_of(name: str) -> Distribution | None:
    """Return the distribution of a requirement's name, None if it does not provide Keras.

    >>> distribution_of("TensorFlow_GPU")
    <Distribution.TENSORFLOW: 'tensorflow'>
    """
    return _NAMES.get(re.sub(r"[-_.]+", "-", name.strip()).lower())


def may_name_keras(data: bytes) -> bool:
    """Say whether a file with these bytes can name a package with a Keras."""
    return b"\0" in data or any(word in data for word in WORDS)  # a null: UTF-16
