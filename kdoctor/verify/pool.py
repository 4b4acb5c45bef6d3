"""Worker processes that run the frameworks, and their job queue."""

from __future__ import annotations

import dataclasses
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from kdoctor.verify.jobs import BACKENDS, DEFAULT_BACKEND, ExampleJob, Outcome, RewriteJob
from kdoctor.verify.processes import ON_THE_CPU, ONE_THREAD, environment, folder_settings

Job = RewriteJob | ExampleJob

# Code compiled here runs only once.
_ENVIRONMENT = ON_THE_CPU | ONE_THREAD | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}


class Worker:
    """A process that runs one job after another, with Keras 3 on one backend."""

    def __init__(self, backend: str = DEFAULT_BACKEND) -> None:
        self.backend = backend
        self.has_died = False
        self._folder = tempfile.TemporaryDirectory(prefix="kdoctor-", ignore_cleanup_errors=True)
        own = folder_settings(self._folder.name) | {"KERAS_BACKEND": backend}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kdoctor.verify.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(_ENVIRONMENT, own),
        )

    def ask(self, job: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer, or None if the process died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def do(self, job: Job) -> Outcome:
        """Return the outcome of a job; a failure if the process died."""
        kind = "rewrite" if isinstance(job, RewriteJob) else "example"
        answer = self.ask({"kind": kind, **dataclasses.asdict(job)})
        if answer is not None:
            return Outcome(**answer)
        self.has_died = True
        what = {"mode": "", "what": "the worker died", "input": ""}
        return Outcome(job.id, job.backend, failing=1, failures=[what])

    def end(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


def about() -> dict[str, Any]:
    """Return the versions of the frameworks in the workers.

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
            "the proofs need TensorFlow, Keras and tf_keras: pip install 'keras-doctor[verify]'"
        )
    return found


def run_all(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Run all jobs in ``workers`` processes; yield outcomes as they arrive.

    A process has one backend, so jobs are ordered by backend.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for job in sorted(jobs, key=lambda job: BACKENDS.index(job.backend)):
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
        if job.backend != worker.backend or worker.has_died:
            worker.end()
            worker = Worker(job.backend)
        done.put(worker.do(job))
    worker.end()
