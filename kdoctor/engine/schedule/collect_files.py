"""Collect the files in which a rule could fire, judging by their bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from kdoctor.documents import reported
from kdoctor.documents.discovery import has_known_ending
from kdoctor.engine.options import Options
from kdoctor.engine.schedule.task import Priority, Source, Task, absolute, working_folder
from kdoctor.engine.selection.file_selection import STDIN, FileSelection
from kdoctor.errors import FileProblem
from kdoctor.model import Unreadable
from kdoctor.modules.prefilter import Prefilter, PrefilterMemo

_NAMED: Final = 3  # links in a remark


class FileCollector:
    """Reads each file below ``paths`` once; keeps those in which a rule could fire.

    A file that is in ``memory`` is not read. The bytes are not kept: memory must not grow with the
    tree. ``-`` among the paths stands for standard input, which goes by ``stdin_filename`` where
    that is given. Without the gate all files are kept; ``Task.admitted`` still says which are of
    concern.

    Raises:
        UsageProblem: a path does not exist.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        options: Options,
        policy: FileSelection,
        memory: PrefilterMemo | None = None,
    ) -> None:
        named = list(dict.fromkeys(os.fspath(path) for path in paths))
        listing = policy.listing(path for path in named if path != STDIN)
        self.files: list[str] = []  # that were read
        self.unreadable = [*listing.unreadable]
        self.saved_models = listing.models
        self.remarks = [_of_links(listing.leading_out)] if listing.leading_out else []
        sources = [Source(path) for path in listing]
        alias = options.get("stdin_filename")
        if STDIN in named and not (alias and policy.excludes(alias)):
            path = reported(alias) if alias else STDIN
            sources.append(Source(path, options.get("stdin") or b""))
        # By path, not as named: the order on the command line changes nothing.
        self._sources = sorted(sources, key=lambda source: source.path)
        self._gate = options.get("gate", True)
        self._kind = options.get("kind")
        self._memory = memory
        self._here = working_folder()
        self._imported: set[str] = set()  # by those that do not speak of Keras

    def tasks(self, first: int = 0) -> Iterator[Task]:
        """Yield the files worth examining in path order, once all have been read.

        Where ``first`` is given, the first ones come as soon as they have so many bytes. Who
        imports them from further down is not known then: they may not have the best turn.
        """
        from kdoctor.rules import words  # noqa: PLC0415

        prefilter = Prefilter(words(), self._memory)
        found: list[tuple[str, Task]] = []
        size = 0
        for source in self._sources:
            own = absolute(source.path, self._here)
            task = self._task(own, source, prefilter)
            if task is None:
                continue
            found.append((own, task))
            size += task.size
            if size - task.size < first <= size:
                yield from self._with_turns(found)
                found.clear()
        prefilter.forget()
        yield from self._with_turns(found)

    def _task(self, own: str, source: Source, prefilter: Prefilter) -> Task | None:
        """Read a file; return its task, None if it can be skipped."""
        try:
            if source.data is None:
                facts = prefilter.of_file(own)
            else:
                facts = prefilter.of_data(own, source.data)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            self.unreadable.append(Unreadable(source.path, reason))
            return None
        self.files.append(source.path)
        # A comment that silences nothing is told of also where nothing speaks of Keras.
        admitted = prefilter.admits_with(own, facts) or facts.marked or self._is_of_no_kind(source)
        if not admitted and self._gate:
            return None
        self._imported.update(facts.imports)
        priority = Priority.USUAL if facts.speaks else Priority.IMPORTER
        return Task(source, facts.size, admitted=admitted, priority=priority)

    def _is_of_no_kind(self, source: Source) -> bool:
        """Say whether a file, which was named, is none that kdoctor reads, whatever it holds."""
        asked = self._kind is not None or source.is_stdin
        if asked or has_known_ending(source.path):
            return False
        from kdoctor.documents.document import kind_of  # noqa: PLC0415 - few name such a file

        try:
            kind_of(source.path, source.read(self._here))
        except (FileProblem, OSError):
            return True
        return False

    def _with_turns(self, found: Iterable[tuple[str, Task]]) -> Iterator[Task]:
        for own, task in found:
            is_imported = task.priority is Priority.USUAL and own in self._imported
            yield replace(task, priority=Priority.IMPORTED) if is_imported else task


def _of_links(paths: Sequence[str]) -> str:
    """Say which links were not followed."""
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    what = "1 link points" if len(paths) == 1 else f"{len(paths)} links point"
    return f"not read: {what} outside the folder ({named}); to read such a file, name it"
