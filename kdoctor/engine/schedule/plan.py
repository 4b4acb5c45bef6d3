"""Plan a run: find the files, their settings and targets."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.engine.options import Options, scan_options_of, workers_of
from kdoctor.engine.result import ProjectNotes
from kdoctor.engine.schedule.collect_files import FileCollector
from kdoctor.engine.schedule.dispatch import min_parallel_bytes
from kdoctor.engine.schedule.task import Task
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.engine.selection.targets import Targets
from kdoctor.model import Unreadable

if TYPE_CHECKING:
    from kdoctor.engine.cache.cache import Cache

T = TypeVar("T")

_COMPRESSION_THRESHOLD = 1000  # files, or tasks: 200 kB


class Gathered(Struct, frozen=True):
    """The files that were read, those worth examining, and the unreadable ones."""

    files: Collection[str] = ()
    tasks: Collection[Task] = ()
    unreadable: Sequence[Unreadable] = ()

    @property
    def read(self) -> int:
        """How many files were read."""
        return len(self.files)


class Plan:
    """The plan of a run: each file as a task with its own target and rules.

    ``workers`` is who does it: a number of processes, None for one a core, or an executor.

    Raises:
        UsageProblem: a path, rule or target does not exist, or a setting cannot be what it is.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        options: Options,
        *,
        unsafe: bool | None = None,
    ) -> None:
        self.workers = workers_of(options)
        paths = list(paths)
        policy = FileSelection(paths, options)
        self._policy = policy
        self.targets = Targets(policy, options)
        self.scan_options = scan_options_of(
            self.targets.main, options, unsafe=policy.unsafe(unsafe)
        )
        self.remarks: list[str] = []
        """What is to be said of what was not done or not read."""
        self.cache = self._cache(policy) if options.get("cache") else None
        self._gathered = Gathered()
        gathering = FileCollector(paths, options, policy, self.cache)
        self.remarks += gathering.remarks
        self._finding = self._find(gathering, policy)

    def discovered_tasks(self) -> Iterator[Task]:
        """Yield the tasks, once, as they are found.

        Raises:
            UsageProblem: a setting cannot be what it is.
        """
        return self._finding

    @property
    def tasks(self) -> Collection[Task]:
        """The files worth examining, in path order."""
        return self.gathered.tasks

    @property
    def gathered(self) -> Gathered:
        """Everything that was found, once discovery is complete.

        Raises:
            UsageProblem: a setting cannot be what it is.
        """
        deque(self._finding, maxlen=0)
        return self._gathered

    @property
    def notes(self) -> ProjectNotes:
        """Notes on the project's own files, and on what was skipped."""
        notes = self._policy.with_notes(self.targets.notes)
        return replace(notes, remarks=(*self.remarks, *notes.remarks))

    def _cache(self, policy: FileSelection) -> Cache | None:
        # Only where it is wanted.
        from kdoctor.engine.cache.cache import Cache  # noqa: PLC0415
        from kdoctor.engine.cache.location import OutOfProject, store_of  # noqa: PLC0415

        try:
            return Cache(store_of(policy))
        except OutOfProject as problem:
            self.remarks.append(str(problem))
            return None

    def _find(self, gathering: FileCollector, policy: FileSelection) -> Iterator[Task]:
        found: list[Task] = []
        tasks = policy.assigned(gathering.tasks(first=min_parallel_bytes(self.workers)))
        for task in self.targets.assigned(tasks):
            found.append(task)
            yield task
        # A cache asks for all of them again.
        kept = _compressed_if_many if self.cache is None else list
        broken_settings = policy.broken_settings.files
        files = [file for file in gathering.files if file not in broken_settings]
        self._gathered = Gathered(kept(files), kept(found), gathering.unreadable)


def _compressed_if_many(things: Collection[T]) -> Collection[T]:
    """Return what stays until the end, as bytes where it is much: memory must not grow with it."""
    if len(things) < _COMPRESSION_THRESHOLD:
        return things
    # Not for a small scan: pickle takes longer to import.
    from kdoctor.engine.schedule.compressed import Compressed  # noqa: PLC0415

    return Compressed(things)
