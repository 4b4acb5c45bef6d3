"""A frame of a traceback, and whose code it runs."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import Final, Protocol


class FrameOrigin(enum.StrEnum):
    """Whose code a frame runs."""

    USER = "user"
    KERAS = "keras"  # keras, tf_keras, or the Keras inside TensorFlow
    TENSORFLOW = "tensorflow"
    PACKAGE = "package"  # any other installed package
    PYTHON = "python"  # the standard library
    GENERATED = "generated"  # written by tf.function from someone's function
    UNKNOWN = "unknown"  # the log begins within its path


class Program(Protocol):
    """The cells of a notebook as one program, if the notebook is available."""

    @property
    def path(self) -> str:
        """The notebook's file if it was found by its cells, else ""."""

    @property
    def data(self) -> bytes:
        """Its source."""

    def place(self, line: int) -> str:
        """Return the location of a line in the notebook, for display."""

    def diff(self, before: str, after: str) -> str:
        """Return the differences between two sources of it, by location in the notebook."""


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """One call of a traceback. ``source`` is the line as the traceback shows it, "" for none.

    ``program`` has the frame's cell in it, below ``above`` lines of others; ``notebook`` is the
    file of the cell, as far as the text names one.
    """

    path: str
    line: int | None
    function: str = ""
    source: str = ""
    program: Program | None = field(default=None, compare=False, repr=False)
    above: int = field(default=0, compare=False, repr=False)
    notebook: str = field(default="", compare=False, repr=False)

    @property
    def row(self) -> int:
        """The line in the file or program, 0 for none."""
        return (self.line or 0) + self.above

    @property
    def file(self) -> str:
        """The path of what is scanned for it: of all cells of a program the same."""
        return self.path if self.program is None else "the notebook"

    def place(self, line: int) -> str:
        """Return the location of another line of the frame's file or program, for display."""
        return f"line {line}" if self.program is None else self.program.place(line)

    @property
    def origin(self) -> FrameOrigin:
        """Whose code this is, by its path alone."""
        return _origin(self.path)[0]

    @property
    def package(self) -> str:
        """The installed package that the file belongs to, "" for the user's own."""
        return _origin(self.path)[1]

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell of a notebook or a line at a prompt: there is no file to read."""
        return self.path.startswith(("<", "Cell In"))

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


CUT: Final = "…"  # before what is left of a path
_INSTALLED: Final = re.compile(
    r"(?:site|dist)-packages/(?:[^/]+\.egg/)?(?P<package>[^/]+?)(?:\.py\w?|\.\w[\w-]*\.so)?(?:/|$)"
)
# Frames of Keras 3 may be cut to the package's own folders.
_OWN_FOLDERS: Final = re.compile(
    r"(?:^|/)(?P<package>tensorflow/python|keras/src|keras/engine|tf_keras/src|keras_core)/"
)
# What runs the program for an editor is as little to blame as Python itself.
_RUNNER: Final = re.compile(r"/(?:pydev|_pydev_bundle|_pydevd?_imps|debugpy|spyder_kernels)/")
_PYTHON: Final = re.compile(
    r"(?:^|/)(?:lib/python\d(?:\.\d+)?(?:\.zip)?/|Python\d+/lib/|python\d+\.zip/)|^<frozen ",
    re.IGNORECASE,
)
_WINDOWS_LIBRARY: Final = re.compile(
    r"^[A-Z]:/.*/(?:Python|conda)[^/]*(?:/envs/[^/]+)?/lib/", re.IGNORECASE
)
_GENERATED: Final = re.compile(
    r"__autograph_generated_file|^<(?:template|unknown|lambdifygenerated)"
)
# Cython tells the place in the package's sources: ``numpy/random/_generator.pyx``.
_COMPILED: Final = re.compile(r"^(?:src/)?(?:(?P<package>\w+)/)?(?:[\w.]+/)*[\w.]+\.p(?:yx|xi|xd)$")
_KERAS_IN_TENSORFLOW: Final = re.compile(r"/tensorflow(?:_core)?/python/keras/")
_KERAS: Final = frozenset({"keras", "tf_keras", "keras_core"})
_TENSORFLOW: Final = frozenset({"tensorflow", "tensorflow_core"})


def _origin(path: str) -> tuple[FrameOrigin, str]:
    path = path.replace("\\", "/")
    if _GENERATED.search(path):
        return FrameOrigin.GENERATED, ""
    if _RUNNER.search(path):
        return FrameOrigin.PYTHON, ""
    if compiled := _COMPILED.match(path):
        return FrameOrigin.PACKAGE, compiled["package"] or ""
    installed = [*_INSTALLED.finditer(path)]
    if installed or (installed := [*_OWN_FOLDERS.finditer(path)]):
        package = installed[-1]["package"].split("/", maxsplit=1)[0]
        return _of_package(package, path), package
    if _PYTHON.search(path) or _WINDOWS_LIBRARY.match(path):
        return FrameOrigin.PYTHON, ""
    return FrameOrigin.UNKNOWN if path.startswith(CUT) else FrameOrigin.USER, ""


def _of_package(package: str, path: str) -> FrameOrigin:
    if package in _KERAS or _KERAS_IN_TENSORFLOW.search(path):
        return FrameOrigin.KERAS
    return FrameOrigin.TENSORFLOW if package in _TENSORFLOW else FrameOrigin.PACKAGE
