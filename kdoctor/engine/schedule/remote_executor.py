"""Run chunks on any ``concurrent.futures`` executor: none lost, none twice.

Workers may die, and their machines with them. What does not come back is sent again, and done in
this process where that does not help.
"""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pickle import loads
from typing import Any, Final, NoReturn

from msgspec.structs import replace

from kdoctor.engine.schedule.remote_worker import Work, execute, packed, perform, version
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.errors import KdoctorError, UsageProblem

_SENDINGS: Final = 3
# Seconds without any news until the next chunk is done here, too: its answer may be lost.
_FIRST_RESULT_TIMEOUT: Final = 60.0


@dataclass(slots=True)
class InFlightChunk:
    """A submitted chunk and its number of attempts."""

    chunk: Sequence[Task]
    future: Future[bytes]
    sendings: int = 1


def run_on_executor(
    work: Work, scan_options: ScanOptions, chunks: Sequence[Sequence[Task]], executor: Executor
) -> Iterator[list[Any]]:
    """Yield the chunks' results in order, whichever worker runs them.

    Raises:
        KdoctorError: the executor takes no work, or its workers cannot do it.
    """
    office = RemoteClient(executor, work, replace(scan_options, folder=os.getcwd()))  # noqa: PTH109 - a str
    waiting: deque[InFlightChunk] = deque()
    try:
        for chunk in chunks:
            waiting.append(InFlightChunk(chunk, office.send(chunk, 1)))
        while waiting:
            yield office.results(waiting)
            waiting.popleft()  # with what it holds: memory must not grow with the tree
    finally:
        for in_flight in waiting:
            in_flight.future.cancel()


class RemoteClient:
    """Submits the chunks of one run and collects their results."""

    def __init__(self, executor: Executor, work: Work, scan_options: ScanOptions) -> None:
        self._executor = executor
        self._work = work
        self._scan_options = scan_options
        self._run = uuid.uuid4().hex

    def send(self, chunk: Sequence[Task], attempt: int) -> Future[bytes]:
        """Submit a chunk. Each attempt differs, because engines deduplicate equal calls."""
        package = packed(self._run, attempt, self._work, self._scan_options, chunk)
        try:
            return self._executor.submit(execute, version(), package)
        except Exception as error:  # noqa: BLE001 - each engine has its own
            _refuse(error)

    def results(self, waiting: Sequence[InFlightChunk]) -> list[Any]:
        """Return the results of the first chunk in flight."""
        in_flight = waiting[0]
        while _wait_for_first(waiting):
            try:
                results: list[Any] = loads(in_flight.future.result())  # noqa: S301 - of our own making
            except (BrokenExecutor, KdoctorError) as error:
                _refuse(error)
            except Exception as error:  # noqa: BLE001 - each engine has its own for a lost worker
                if not self._retry(in_flight, error):
                    break
            else:
                return results
        in_flight.future.cancel()
        return perform(self._run, self._work, self._scan_options, in_flight.chunk)

    def _retry(self, in_flight: InFlightChunk, error: Exception) -> bool:
        """Send a chunk again whose worker died, up to the maximum number of attempts."""
        self._check_workers(in_flight.chunk, error)
        if in_flight.sendings == _SENDINGS:
            return False
        in_flight.sendings += 1
        in_flight.future = self.send(in_flight.chunk, in_flight.sendings)
        return True

    def _check_workers(self, chunk: Sequence[Task], error: Exception) -> None:
        """Raise an error that another worker would raise too."""
        if any("No module named 'kdoctor" in str(each) for each in _chain(error)):
            raise UsageProblem(
                f"the workers of the executor do not have {version()}; install it on them "
                "(with Dask, also on its scheduler)"
            ) from error
        if isinstance(error, FileNotFoundError) and any(
            error.filename == task.source.path and Path(error.filename).exists() for task in chunk
        ):
            raise UsageProblem(
                f"{error.filename}: {error.strerror}; the workers of an executor must see the "
                "files at the same paths"
            ) from error


def _wait_for_first(waiting: Sequence[InFlightChunk]) -> bool:
    """Wait for the first result; return False if no results arrive for too long."""
    first, back = waiting[0].future, -1
    while back < (now := sum(each.future.done() for each in waiting)):
        back = now
        with suppress(TimeoutError, CancelledError):
            first.exception(_FIRST_RESULT_TIMEOUT)
        if first.done():
            return True
    return False


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _refuse(error: Exception) -> NoReturn:
    if isinstance(error, KdoctorError):
        raise error
    what = " ".join(f"{type(error).__name__}: {error}".split())
    raise KdoctorError(f"the executor has failed: {what}") from error
