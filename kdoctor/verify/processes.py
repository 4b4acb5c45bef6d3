"""Environment and output of the processes that run frameworks."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

# No logs, and no kernels that depend on the machine.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
ON_THE_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
# Processes run side by side, one on each core.
ONE_THREAD = {
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
# These would select another Keras or change its defaults.
REMOVED = ("TF_USE_LEGACY_KERAS", "KERAS_HOME", "TF_XLA_FLAGS", "PYTHONSTARTUP")


def environment(*settings: Mapping[str, str], removed: Collection[str] = REMOVED) -> dict[str, str]:
    """Return this process's environment without some variables, and with some settings."""
    found = {key: value for key, value in os.environ.items() if key not in removed}
    for each in (QUIET, *settings):
        found |= each
    return found


def folder_settings(folder: str) -> dict[str, str]:
    """Return settings that put all files of a process into its folder.

    AutoGraph's files would otherwise remain if a process is killed before it deletes them.
    """
    return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder)


def reserve_stdout() -> TextIO:
    """Reserve stdout for answers; frameworks and examples print to stderr."""
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return own


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Disable garbage collection while frameworks are imported, and freeze their objects.

    They are a million objects. ``keras.utils.clear_session`` collects garbage among all objects
    that are not frozen, which takes longer than most of what runs between two calls of it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
