"""Run a rule's example on the installed Keras 3: the problem must be real, and the cure too."""

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
from types import FrameType

import keras

from kdoctor.verify.jobs import ExampleJob, Outcome
from kdoctor.verify.oracles import reset_state

TIME_LIMIT = 120  # seconds
_SEED = 20

# What a process of its own is given: code on its input, the exception on its last line.
_ALONE = """
import json, sys
try:
    exec(compile(sys.stdin.read(), "<example>", "exec"), {"__name__": "__main__"})
except BaseException as error:
    print("\\n" + json.dumps(f"{type(error).__name__}: {error}"))
else:
    print("\\nnull")
"""


def prove_example(job: ExampleJob) -> Outcome:
    """Run ``before``, which must raise what it says, and ``after``, which must run."""
    outcome = Outcome(job.id, oracle=f"keras {keras.__version__}")
    raised = _run(f"{job.prelude}\n{job.before}", alone=job.alone)
    if job.raises is None and raised is not None:
        outcome.failures.append(_failure("before", f"it raises {raised}", job))
    if job.raises is not None and not (raised or "").startswith(job.raises):
        outcome.failures.append(_failure("before", f"it raises {raised}", job))
    if job.after is not None:
        raised = _run(f"{job.prelude}\n{job.after}\n{job.check}", alone=job.alone)
        if raised is not None:
            outcome.failures.append(_failure("after", f"it raises {raised}", job))
    outcome.failing = len(outcome.failures)
    outcome.holds = not outcome.failures
    return outcome


def _failure(part: str, what: str, job: ExampleJob) -> dict[str, str]:
    return {"mode": part, "what": what[:300], "input": job.rule}


def _run(code: str, *, alone: bool) -> str | None:
    """Run code to its end; return the exception that stopped it."""
    return _run_alone(code) if alone else _run_here(code)


def _run_alone(code: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", _ALONE], input=code, cwd=folder, text=True,
                capture_output=True, timeout=TIME_LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"TimeoutError: it runs for more than {TIME_LIMIT} s"
    lines = done.stdout.splitlines()
    try:
        found: str | None = json.loads(lines[-1])
    except (IndexError, ValueError):
        return f"the process ended with {done.returncode}"
    return found


def _run_here(code: str) -> str | None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    with _undone_afterwards():
        try:
            # Examples are the project's own code, not the user's.
            exec(compile(code, "<example>", "exec"), namespace)  # noqa: S102
        except BaseException as error:  # noqa: BLE001 - also sys.exit() ends an example
            return f"{type(error).__name__}: {error}"
    return None


@contextlib.contextmanager
def _undone_afterwards() -> Iterator[None]:
    """Give the code a folder of its own, and bring back afterwards what it may have changed."""
    environment, path, folder = dict(os.environ), list(sys.path), os.getcwd()  # noqa: PTH109
    modules = set(sys.modules)
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
                if name.partition(".")[0] not in {"keras", "tensorflow", "tf_keras", "numpy"}:
                    del sys.modules[name]
            keras.config.set_dtype_policy("float32")
            keras.config.set_floatx("float32")
            keras.config.set_epsilon(1e-7)
            random.seed(_SEED)
            reset_state()


def _too_late(_: int, __: FrameType | None) -> None:
    raise TimeoutError(f"it runs for more than {TIME_LIMIT} s")
