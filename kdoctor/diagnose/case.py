"""Case: one exception with all that is known about where it was raised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kdoctor.diagnose.by_rules import ReadSource
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.tracebacks import Raised
from kdoctor.diagnose.version_detection import DetectedVersion
from kdoctor.target import Target

# Python's and TensorFlow's machinery that fetches an attribute or a module for whoever asks.
_FETCHES: Final = re.compile(
    r"^<frozen |/importlib/|/tensorflow(?:_core)?/python/util/"
    r"(?:lazy_loader|module_wrapper|deprecation_wrapper)\.py$|/keras/src/utils/traceback_utils\.py$"
    r"|/python/util/traceback_utils\.py$|/pydev_import_hook\.py$"
)

# Packages that Keras and TensorFlow call, and those that call whatever they are given: none of
# them is ever to blame for a name that Keras lacks.
_ASIDE: Final = frozenset(
    {
        *(
            "numpy",
            "scipy",
            "h5py",
            "ml_dtypes",
            "optree",
            "absl",
            "rich",
            "namex",
            "wrapt",
            "gast",
        ),
        *(
            "jax",
            "jaxlib",
            "torch",
            "PIL",
            "google",
            "grpc",
            "tensorboard",
            "astunparse",
            "flatbuffers",
        ),
        *("IPython", "ipykernel", "traitlets", "tornado", "_pytest", "pluggy", "pytest", "xdist"),
        *("click", "typer", "hydra", "tqdm", "joblib", "nbclient", "jupyter_client"),
    }
)


@dataclass(frozen=True, slots=True)
class Case:
    """One error and its surroundings.

    ``is_stated``: someone said that ``target`` is what runs there (an option, the environment, the
    text itself); otherwise it is the project's, or the newest, as far as ``detected`` allows.
    """

    error: Raised
    target: Target
    is_stated: bool
    detected: DetectedVersion
    read: ReadSource

    @property
    def has_frames(self) -> bool:
        """Whether the text shows a complete frame: a truncated log may not."""
        return any(
            each.path and each.origin is not FrameOrigin.UNKNOWN for each in self.error.frames
        )

    @property
    def raised_in(self) -> TracebackFrame | None:
        """The frame whose line used the missing object."""
        for frame in reversed(self.error.frames):
            if frame.origin is FrameOrigin.GENERATED:
                continue
            if not _FETCHES.search(frame.path.replace("\\", "/")):
                return frame
        return None

    @property
    def blamed(self) -> TracebackFrame | None:
        """The innermost frame outside of Keras, TensorFlow and Python itself."""
        for frame in reversed(self.error.frames):
            if frame.origin is FrameOrigin.USER or (
                frame.origin is FrameOrigin.PACKAGE and frame.package not in _ASIDE
            ):
                return frame
        return None

    @property
    def package(self) -> str:
        """The installed package whose line is to blame, "" if it is the user's code."""
        frame = self.blamed
        return frame.package if frame is not None and frame.origin is FrameOrigin.PACKAGE else ""

    @property
    def own(self) -> TracebackFrame | None:
        """The innermost frame in the user's code."""
        own = [frame for frame in self.error.frames if frame.origin is FrameOrigin.USER]
        return own[-1] if own else None

    @property
    def is_inside_keras(self) -> bool:
        """Whether the failing line is in Keras or TensorFlow."""
        frame = self.raised_in
        return frame is not None and frame.origin in {FrameOrigin.KERAS, FrameOrigin.TENSORFLOW}
