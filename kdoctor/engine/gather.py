"""From paths to the files that are worth a look, by their bytes alone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from kdoctor.documents import reported
from kdoctor.engine.options import Options
from kdoctor.engine.orders import Source, Task, Turn, absolute, working_folder
from kdoctor.engine.policy import STDIN, Policy
from kdoctor.engine.prefilter import Memory, Prefilter
from kdoctor.model import Unreadable


class Gathered(Struct):
    """The files that were read, those worth a look, and those that cannot be read."""

    files: Collection[str] = ()
    tasks: Collection[Task] = ()
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def read(self) -> int:
        """How many files were read."""
        return len(self.files)


def gather(
    paths: Iterable[str | os.PathLike[str]],
    options: Options,
    policy: Policy,
    memory: Memory | None = None,
) -> Gathered:
    """Read every file below ``paths`` once and keep those in which a rule could fire.

    A file that is in ``memory`` is not read. The bytes are not kept: memory must not grow with the
    tree. ``-`` among the paths stands for standard input, which goes by ``stdin_filename`` where
    that is given. Without the gate all files are kept; ``Task.admitted`` still says which are of
    concern.

    Raises:
        UsageProblem: a path does not exist.
    """
    gathered = Gathered()
    files: list[str] = []
    from kdoctor.rules import words  # noqa: PLC0415

    prefilter = Prefilter(words(), memory)
    named = list(dict.fromkeys(os.fspath(path) for path in paths))
    listing = policy.listing(path for path in named if path != STDIN)
    gathered.unreadable += listing.unreadable
    sources = [Source(path) for path in listing]
    alias = options.get("stdin_filename")
    if STDIN in named and not (alias and policy.excludes(alias)):
        path = reported(alias) if alias else STDIN
        sources.append(Source(path, options.get("stdin") or b""))
    here = working_folder()
    found: list[tuple[str, Task]] = []
    imported: set[str] = set()  # by those that do not speak of Keras
    # By path, not as named: the order on the command line changes nothing.
    for source in sorted(sources, key=lambda source: source.path):
        own = absolute(source.path, here)
        try:
            if source.data is None:
                facts = prefilter.of_file(own)
            else:
                facts = prefilter.of_data(own, source.data)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            gathered.unreadable.append(Unreadable(source.path, reason))
            continue
        files.append(source.path)
        # A comment that silences nothing is told of also where nothing speaks of Keras.
        admitted = prefilter.admits_with(own, facts) or facts.marked
        if admitted or not options.get("gate", True):
            turn = Turn.USUAL if facts.speaks else Turn.IMPORTER
            found.append((own, Task(source, facts.size, admitted=admitted, turn=turn)))
            imported.update(facts.imports)
    prefilter.forget()
    gathered.files = files
    gathered.tasks = [
        replace(task, turn=Turn.IMPORTED) if task.turn is Turn.USUAL and own in imported else task
        for own, task in found
    ]
    return gathered
