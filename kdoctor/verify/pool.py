"""Worker processes that run frameworks, and a queue of jobs for them."""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from kdoctor.verify.jobs import BACKENDS, DEFAULT_BACKEND, ExampleJob, Outcome, RewriteJob

Job = RewriteJob | ExampleJob

# Quiet, on the CPU, with the same kernels on every machine.
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # what is compiled here runs once
}
_UNSET = ("TF_USE_LEGACY_KERAS", "KERAS_HOME")


class Worker:
    """One process, which does one job after the other, with Keras 3 on one backend."""

    def __init__(self, backend: str = DEFAULT_BACKEND) -> None:
        self.backend = backend
        environment = {k: v for k, v in os.environ.items() if k not in _UNSET} | _ENVIRONMENT
        environment["KERAS_BACKEND"] = backend
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kdoctor.verify.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, job: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer; None where the process died on it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def end(self) -> None:
        """Let the process end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def about() -> dict[str, Any]:
    """Return the versions that workers run.

    Raises:
        RuntimeError: the frameworks are not installed.
    """
    worker = Worker()
    try:
        found = worker.ask({"kind": "about"})
    finally:
        worker.end()
    if found is None:
        raise RuntimeError(
            "the proofs need TensorFlow, Keras and tf_keras: pip install 'kdoctor[verify]'"
        )
    return found


def run_all(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Do all jobs in ``workers`` processes; yield outcomes as they come.

    A process has one backend: jobs for the same one follow each other.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for job in sorted(jobs, key=lambda job: BACKENDS.index(backend_of(job))):
        waiting.put(job)
    threads = [
        threading.Thread(target=_work, args=(waiting, done), daemon=True)
        for _ in range(min(workers, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    for _ in jobs:
        yield done.get()
    for thread in threads:
        thread.join()


def _work(waiting: queue.SimpleQueue[Job], done: queue.SimpleQueue[Outcome]) -> None:
    worker = Worker()
    while True:
        try:
            job = waiting.get_nowait()
        except queue.Empty:
            break
        if backend_of(job) != worker.backend:
            worker.end()
            worker = Worker(backend_of(job))
        kind = "rewrite" if isinstance(job, RewriteJob) else "example"
        answer = worker.ask({"kind": kind, **dataclasses.asdict(job)})
        if answer is None:
            worker.end()
            worker = Worker(worker.backend)
            what = {"mode": "", "what": "the worker died", "input": ""}
            done.put(Outcome(job.id, backend_of(job), failing=1, failures=[what]))
        else:
            done.put(Outcome(**answer))
    worker.end()


def backend_of(job: Job) -> str:
    """Return on which backend a job is to be run."""
    return job.backend if isinstance(job, RewriteJob) else DEFAULT_BACKEND
