"""Plan a run: find the files, their settings and targets."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
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


class Discovered(Struct, frozen=True):
    """The files that were read, those worth examining, and the unreadable ones.

    ``notes`` are those on the project's own files, and on what was skipped; ``models`` counts saved
    models that were passed.
    """

    files: Collection[str]
    tasks: Collection[Task]
    unreadable: Sequence[Unreadable]
    notes: ProjectNotes
    models: int = 0

    @property
    def read(self) -> int:
        """How many files were read."""
        return len(self.files)


class Plan:
    """The plan of a run: who examines which files, each with its own target and rules.

    ``workers`` is who does it: a number of processes, None for one a core, or an executor.

    Raises:
        UsageProblem: a rule or target does not exist, or a setting cannot be what it is.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        options: Options,
        *,
        unsafe: bool | None = None,
    ) -> None:
        self.workers = workers_of(options)
        self._paths = list(paths)
        self._options = options
        self._policy = FileSelection(self._paths, options)
        self.targets = Targets(self._policy, options)
        self.scan_options = scan_options_of(
            self.targets.main, options, unsafe=self._policy.unsafe(unsafe)
        )
        self._remarks: list[str] = []  # on what was not done
        self.cache = self._cache() if options.get("cache") else None

    def discover(self) -> Discovered:
        """Read the files; return what was found.

        Raises:
            UsageProblem: a path does not exist, or a setting cannot be what it is.
        """
        return self.discovery().finish()

    def discovery(self) -> Discovery:
        """Begin to read the files; the tasks come as they are found. Raises as ``discover``."""
        collector = FileCollector(
            self._paths, self._options, self._policy, self.cache, self.targets.is_asked
        )
        return Discovery(self._find(collector))

    def _cache(self) -> Cache | None:
        # Only where it is wanted.
        from kdoctor.engine.cache.cache import Cache  # noqa: PLC0415
        from kdoctor.engine.cache.location import OutOfProject, store_of  # noqa: PLC0415

        try:
            return Cache(store_of(self._policy))
        except OutOfProject as problem:
            self._remarks.append(str(problem))
            return None

    def _find(self, collector: FileCollector) -> Generator[Task, None, Discovered]:
        found: list[Task] = []
        tasks = self._policy.assigned(collector.tasks(first=min_parallel_bytes(self.workers)))
        for task in self.targets.assigned(tasks):
            found.append(task)
            yield task
        # A cache asks for all of them again.
        kept = _compressed_if_many if self.cache is None else list
        broken_settings = self._policy.broken_settings.files
        files = [file for file in collector.files if file not in broken_settings]
        # Settings are read on the way: only now all is known that is to be said of them.
        notes = self._policy.with_notes(self.targets.notes)
        remarks = (*self._remarks, *collector.remarks, *notes.remarks)
        notes = replace(notes, remarks=remarks)
        return Discovered(
            kept(files), kept(found), collector.unreadable, notes, collector.saved_models
        )


class Discovery:
    """An iterator of tasks that finds them while it is asked, so that work can begin early."""

    def __init__(self, search: Generator[Task, None, Discovered]) -> None:
        self._search = search
        self._discovered: Discovered | None = None

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        """Return the next task.

        Raises:
            StopIteration: all have been found.
            UsageProblem: a setting cannot be what it is.
        """
        try:
            return next(self._search)
        except StopIteration as end:
            self._discovered = self._discovered or end.value
            raise

    def finish(self) -> Discovered:
        """Find the tasks that nobody has asked for yet; return everything that was found.

        Raises:
            UsageProblem: a setting cannot be what it is.
        """
        deque(self, maxlen=0)
        assert self._discovered is not None
        return self._discovered


def _compressed_if_many(things: Collection[T]) -> Collection[T]:
    """Return a collection that is kept to the end, compressed if it is large."""
    if len(things) < _COMPRESSION_THRESHOLD:
        return things
    # Not for a small scan: pickle takes longer to import.
    from kdoctor.engine.schedule.compressed import Compressed  # noqa: PLC0415

    return Compressed(things)
