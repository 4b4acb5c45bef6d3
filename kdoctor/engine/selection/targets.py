"""Choose each file's Keras target: the option, or its own project's."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kdoctor.engine.options import Options
from kdoctor.engine.result import ProjectNotes, TargetUse
from kdoctor.engine.schedule.task import Task
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.errors import UsageProblem
from kdoctor.model import Unreadable
from kdoctor.target import Target

if TYPE_CHECKING:
    from kdoctor.project import Chain, Projects


class Targets:
    """The targets of one run.

    ``main`` is that of the folder in which all named paths lie, or what was asked for. A file of
    another project further down (one that has its own lock or requirements) has that project's, so
    that the same is said about it whether it is named alone or found below a folder.

    Raises:
        UsageProblem: the requested target is unknown, or a setting of the project is.
    """

    def __init__(self, policy: FileSelection, options: Options) -> None:
        option = options.get("target")
        self._configs = policy.configs
        self._broken_settings = policy.broken_settings
        self._projects: Projects | None = None
        self._chains: list[Chain] = []
        if isinstance(option, Target):
            self.main = option
        elif option is not None:
            from kdoctor.keras_api import resolve_targets  # noqa: PLC0415

            self.main = resolve_targets(option, "--target")
        else:
            # Imported where nobody said what the target is.
            from kdoctor.project import Projects  # noqa: PLC0415

            self._projects = Projects(configs=policy.configs)
            self.main = self._of(policy.start)

    def assigned(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield the tasks, each with its target.

        Those are left out for which a setting of a project further down is unknown or names no
        Keras: they are held up.
        """
        if self._projects is None:
            yield from (task.with_target(self.main) for task in tasks)
            return
        targets: dict[str, Target] = {}
        for task in tasks:
            folder = os.path.dirname(task.source.path)  # noqa: PTH120 - hot
            if folder not in targets:
                own = os.path.abspath(folder)  # noqa: PTH100
                if own not in self._broken_settings.problems:
                    try:
                        targets[folder] = self._of(Path(own))
                    except UsageProblem as problem:
                        self._broken_settings.add(own, problem)
                if self._broken_settings.holds(own, task.source.path):
                    continue
            yield task.with_target(targets[folder])

    def is_asked(self, folder: str) -> bool:
        """Say whether a Keras 3 is asked for in a folder, by an option or a setting."""
        if self._projects is None:
            return self.main.asked and not self.main.is_before_keras_3
        if folder in self._broken_settings.problems:
            return False
        try:
            target = self._projects.asked(Path(folder))
        except UsageProblem:
            return False  # it is told of where the target is needed
        return target is not None and not target.is_before_keras_3

    def uses(self, tasks: Iterable[Task]) -> tuple[TargetUse, ...]:
        """Return how many files each target applies to, the main one first."""
        # Not those that only --no-gate looks into: it must change nothing of what is said.
        counts = Counter(task.target for task in tasks if task.target and task.admitted)
        main = [(self.main, counts.pop(self.main, 0))]
        if not main[0][1] and counts:
            main = []
        return tuple(TargetUse(target, files) for target, files in [*main, *counts.most_common()])

    @property
    def notes(self) -> ProjectNotes:
        """Notes on the files that name the targets or contain settings."""
        conflicts = dict.fromkeys(text for chain in self._chains for text in chain.conflicts)
        found = (each for chain in self._chains for each in chain.problems)
        problems = dict.fromkeys([*found, *self._configs.problems])
        unreadable = [Unreadable(problem.path, problem.why) for problem in problems]
        return ProjectNotes(tuple(conflicts), (*unreadable, *self._broken_settings.unreadable()))

    def _of(self, folder: Path) -> Target:
        if self._projects is None:
            return self.main
        chain = self._projects.chain(folder)
        self._chains.append(chain)
        return chain.target
