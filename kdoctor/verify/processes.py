"""What every process that runs frameworks is given, and how it answers."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

# Without their logs, and with kernels that do not depend on the machine.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
ON_THE_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
# Processes run side by side, one on each core.
ONE_THREAD = {
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
# They would make another Keras, or other defaults, of what is to be run.
UNHEARD = ("TF_USE_LEGACY_KERAS", "KERAS_HOME", "TF_XLA_FLAGS", "PYTHONSTARTUP")


def environment(*settings: Mapping[str, str], unheard: Collection[str] = UNHEARD) -> dict[str, str]:
    """Return this process's environment without what is not to be heard, and with settings."""
    found = {key: value for key, value in os.environ.items() if key not in unheard}
    for each in (QUIET, *settings):
        found |= each
    return found


def keeping_to(folder: str) -> dict[str, str]:
    """Return settings by which what a process leaves behind goes with its folder.

    What AutoGraph writes stays where a process is ended before it comes to tidy up.
    """
    return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder)


def own_output() -> TextIO:
    """Keep the output for answers: what frameworks and examples print goes to the error stream."""
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return own


@contextmanager
def kept_for_good() -> Iterator[None]:
    """Let the garbage collector wait while frameworks are imported, and pass them over after that.

    They are a million objects. ``keras.utils.clear_session`` has all that is not passed over walked
    through, which takes longer than most of what runs between two of its calls.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
