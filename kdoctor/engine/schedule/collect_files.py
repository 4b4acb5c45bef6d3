"""Collect the files in which a rule could fire, judging by their bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from kdoctor.config import BACKENDS
from kdoctor.documents import reported
from kdoctor.documents.discovery import Search, has_known_ending
from kdoctor.documents.requirement_files import is_requirements_file
from kdoctor.engine.options import Options
from kdoctor.engine.schedule.task import Priority, Source, Task, absolute, working_folder
from kdoctor.engine.selection.file_selection import STDIN, FileSelection
from kdoctor.errors import FileProblem
from kdoctor.model import Unreadable
from kdoctor.modules.prefilter import Prefilter, PrefilterMemo
from kdoctor.project.evidence import may_name_keras
from kdoctor.suppression.may_have_comments import may_have_directives

_SETUP: Final = "setup.py"
_NAMED: Final = 3  # links in a remark


class FileCollector:
    """Reads each file below ``paths`` once; keeps those in which a rule could fire.

    A file that is in ``memory`` is not read. The bytes are not kept: memory must not grow with the
    tree. ``-`` among the paths stands for standard input, which goes by ``stdin_filename`` where
    that is given. Files of requirements below a folder are looked at where ``is_asked`` says of
    the absolute path of their folder that its target is asked for. Without the gate all files are
    kept; ``Task.admitted`` still says which are of concern.

    Raises:
        UsageProblem: a path does not exist.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        options: Options,
        policy: FileSelection,
        memory: PrefilterMemo | None = None,
        is_asked: Callable[[str], bool] | None = None,
    ) -> None:
        named = list(dict.fromkeys(os.fspath(path) for path in paths))
        search = Search(_is_code_or_requirements) if is_asked is not None else None
        listing = policy.listing((path for path in named if path != STDIN), search)
        self.files: list[str] = []  # that were read
        self.unreadable = [*listing.unreadable]
        self.saved_models = listing.models
        leading_out = [path for path in listing.leading_out if has_known_ending(path)]
        self.remarks = [_of_links(leading_out)] if leading_out else []
        self._given = {STDIN, *map(reported, named)}
        sources = [Source(path) for path in _where_asked(listing, self._given, is_asked)]
        alias = options.get("stdin_filename")
        if STDIN in named and not (alias and policy.excludes(alias)):
            path = reported(alias) if alias else STDIN
            self._given.add(path)
            sources.append(Source(path, options.get("stdin") or b""))
        # By path, not as named: the order on the command line changes nothing.
        self._sources = sorted(sources, key=lambda source: source.path)
        self._gate = options.get("gate", True)
        self._kind = options.get("kind")
        self._asks_for_backends = policy.asks_for_backends
        self._memory = memory
        self._is_asked = is_asked
        self._here = working_folder()
        self._seen = {each.path for each in options.get("observations", ())}
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
        if self._is_requirements(source):
            return self._task_of_requirements(source)
        try:
            if source.data is None:
                facts = prefilter.of_file(own)
            else:
                facts = prefilter.of_data(own, source.data)
        except OSError as error:
            self._note_unreadable(source, error)
            return None
        self.files.append(source.path)
        # A comment that silences nothing is told of also where nothing speaks of Keras.
        admitted = prefilter.admits_with(own, facts) or facts.marked or self._is_of_no_kind(source)
        # Of Keras may be what such a file only handles: that was seen as it ran.
        admitted = admitted or (bool(self._seen) and os.path.realpath(own) in self._seen)
        admitted = admitted or self._may_run_on_a_backend(own, source)
        if not admitted and self._is_asked_setup(own):
            admitted = may_name_keras(source.read(self._here))
        if not admitted and self._gate:
            return None
        self._imported.update(facts.imports)
        priority = Priority.USUAL if facts.speaks else Priority.IMPORTER
        return Task(source, facts.size, admitted=admitted, priority=priority)

    def _may_run_on_a_backend(self, path: str, source: Source) -> bool:
        """Say whether a file calls a framework where other backends count, too.

        A layer of another file may call what is in it.
        """
        if not self._asks_for_backends(path):
            return False
        data = source.read(self._here)
        return any(each.encode() in data for each in BACKENDS)

    def _is_asked_setup(self, path: str) -> bool:
        """Say whether a file is a ``setup.py`` that can contradict the target."""
        folder, name = os.path.split(path)
        return name == _SETUP and self._is_asked is not None and self._is_asked(folder)

    def _is_requirements(self, source: Source) -> bool:
        if self._kind is not None:
            return self._kind == "requirements"
        return not has_known_ending(source.path) and is_requirements_file(source.path)

    def _task_of_requirements(self, source: Source) -> Task | None:
        """Read a file of requirements; return its task, None if it keeps nothing on Keras 2.

        That one counts as read only where it was named.
        """
        try:
            data = source.read(self._here)
        except OSError as error:
            self._note_unreadable(source, error)
            return None
        is_asked = self._kind is not None and may_name_keras(data)
        admitted = is_asked or may_have_directives(data) or _has_pins(source.path, data)
        if admitted or source.path in self._given:
            self.files.append(source.path)
        if not admitted and self._gate:
            return None
        return Task(source, len(data), admitted=admitted)

    def _note_unreadable(self, source: Source, error: OSError) -> None:
        reason = f"cannot be read: {error.strerror or error}"
        self.unreadable.append(Unreadable(source.path, reason))

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


def _has_pins(path: str, data: bytes) -> bool:
    if not may_name_keras(data):
        return False
    from kdoctor.project.pins import has_pins  # noqa: PLC0415 - for few files

    return has_pins(path, data)


def _is_code_or_requirements(path: str) -> bool:
    return has_known_ending(path) or is_requirements_file(path)


def _where_asked(
    files: Iterable[str], given: Collection[str], is_asked: Callable[[str], bool] | None
) -> Iterator[str]:
    """Yield the files, those of requirements only where they are named or the target is asked."""
    if is_asked is None:
        yield from files
        return
    asked: dict[str, bool] = {}
    for path in files:
        if path not in given and not has_known_ending(path):
            folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - links stay
            if folder not in asked:
                asked[folder] = is_asked(folder)
            if not asked[folder]:
                continue
        yield path


def _of_links(paths: Sequence[str]) -> str:
    """Say which links were not followed."""
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    what = "1 link points" if len(paths) == 1 else f"{len(paths)} links point"
    return f"not read: {what} outside the folder ({named}); to read such a file, name it"
