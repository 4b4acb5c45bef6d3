"""Run a rule's example on the installed Keras 3: both the problem and the fix must be real."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras

import kdoctor
from kdoctor.verify.execution import Ended, execute
from kdoctor.verify.jobs import DEFAULT_BACKEND, ExampleJob, Outcome
from kdoctor.verify.references import reset_state

TIME_LIMIT = 120  # seconds
_HERE = str(Path(kdoctor.__file__).parent.parent)  # the folder from which kdoctor is imported
_SEED = 20
_KEPT = {"keras", "tensorflow", "tf_keras", "numpy"}  # not imported again for each example

# The code of a separate process: reads the task from stdin, prints the outcome on its last line.
_ALONE = """
import dataclasses, json, sys
sys.path.insert(0, sys.argv[1])
from kdoctor.verify.execution import execute
print("\\n" + json.dumps(dataclasses.asdict(execute(**json.load(sys.stdin)))))
"""


def prove_example(job: ExampleJob) -> Outcome:
    """Run ``before``, which must raise the stated error, and ``after``, which must not.

    If the example compares with Keras 2, ``before`` must also run there and give the same value. On
    another backend only ``after`` is run: what ``before`` does there, nobody wrote down.
    """
    oracle = f"keras {keras.__version__}"
    if job.on_keras_2:
        oracle += f", tf_keras {metadata.version('tf_keras')}"
    outcome = Outcome(job.id, job.backend, oracle=oracle)
    outcome.failures += [
        {"mode": part, "what": what[:300], "input": job.rule} for part, what in _failures(job)
    ]
    outcome.failing = len(outcome.failures)
    outcome.holds = not outcome.failures
    return outcome


def _failures(job: ExampleJob) -> Iterator[tuple[str, str]]:
    if job.backend != DEFAULT_BACKEND:
        ended = _run(job, job.after or "", job.check)
        if ended.raised is not None:
            yield "after", f"it raises {ended.raised}"
        return
    raised = _run(job, job.before).raised
    if not (raised is None if job.raises is None else (raised or "").startswith(job.raises)):
        yield "before", f"it raises {raised}"
    cured = None if job.after is None else _run(job, job.after, job.check, job.same)
    if cured is not None and cured.raised is not None:
        yield "after", f"it raises {cured.raised}"
    left = _run(job, job.before, job.check, job.same) if _is_shown_by_before(job) else None
    if job.after is None and left is not None and left.raised is not None and not _changes(job):
        yield "before", f"it raises {left.raised}"
    if not job.on_keras_2:
        return
    old = _run(job, job.before, job.check, job.same, on_keras_2=True)
    if old.raised is not None:
        yield "on Keras 2", f"it raises {old.raised}"
        return
    new = left if job.after is None and not job.changes else cured
    if new is not None and new.raised is None and not _same(old.value, new.value):
        yield "on Keras 2", f"{job.same}: {old.value} -> {new.value}"
    if job.changes and left is not None and left.raised is None and _same(old.value, left.value):
        yield "before", "nothing shows that it means something else than on Keras 2"


def _is_shown_by_before(job: ExampleJob) -> bool:
    """Say whether ``before`` shows more on Keras 3 than that it runs."""
    return job.raises is None and (job.after is None or _changes(job))


def _changes(job: ExampleJob) -> bool:
    return job.on_keras_2 and job.changes


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    try:
        return bool(np.allclose(one, other, rtol=1e-5, atol=1e-5, equal_nan=True))
    except (TypeError, ValueError):
        return bool(one == other)


def _run(
    job: ExampleJob, code: str, check: str = "", value: str = "", *, on_keras_2: bool = False
) -> Ended:
    """Run code, in this process or in one of its own."""
    whole = f"{job.prelude}\n{code}\n{check}"
    if job.alone:
        return _run_alone({"code": whole, "value": value, "on_keras_2": on_keras_2})
    with _undone_afterwards():
        return execute(whole, value, on_keras_2=on_keras_2)


def _run_alone(request: dict[str, Any]) -> Ended:
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", _ALONE, _HERE], input=json.dumps(request), cwd=folder,
                text=True, capture_output=True, timeout=TIME_LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Ended(f"TimeoutError: it runs for more than {TIME_LIMIT} s")
    try:
        return Ended(**json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        return Ended(f"the process ended with {done.returncode}")


@contextlib.contextmanager
def _undone_afterwards() -> Iterator[None]:
    """Give the code a folder of its own, and restore what it may have changed."""
    environment, path, folder = dict(os.environ), list(sys.path), os.getcwd()  # noqa: PTH109
    modules, keras_of_tf = set(sys.modules), tf.__dict__["keras"]
    signal.signal(signal.SIGALRM, _too_late)
    with (
        tempfile.TemporaryDirectory() as own,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        keras.utils.set_random_seed(_SEED)
        os.chdir(own)
        signal.alarm(TIME_LIMIT)
        try:
            yield
        finally:
            signal.alarm(0)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            sys.path[:] = path
            for name in set(sys.modules) - modules:
                if name.partition(".")[0] not in _KEPT or name.startswith("tensorflow.keras"):
                    del sys.modules[name]
            # `import tensorflow.keras` replaces `tf.keras` by a module with another name.
            tf.__dict__["keras"] = keras_of_tf
            keras.config.set_dtype_policy("float32")
            keras.config.set_floatx("float32")
            keras.config.set_epsilon(1e-7)
            tf_keras.mixed_precision.set_global_policy("float32")
            tf_keras.backend.set_floatx("float32")
            random.seed(_SEED)
            reset_state()


def _too_late(_: int, __: FrameType | None) -> None:
    raise TimeoutError(f"it runs for more than {TIME_LIMIT} s")
