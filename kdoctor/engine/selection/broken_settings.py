"""Files that cannot be checked because their settings are broken."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from kdoctor.errors import UsageProblem
from kdoctor.model import Unreadable


class BrokenSettings(Struct):
    """The errors in some folders' settings, and the files affected.

    A monorepo goes on without these files: to look into them by other settings than their own
    could report, or write, what these rule out.
    """

    problems: dict[str, str] = field(default_factory=dict)  # by the absolute path of the folder
    files: dict[str, str] = field(default_factory=dict)  # the problem, by the path to report

    def add(self, folder: str, problem: UsageProblem) -> None:
        """Record that the settings for files in a folder cannot be used."""
        self.problems[folder] = str(problem)

    def holds(self, folder: str, path: str) -> bool:
        """Say whether a file in the folder is affected, and record it."""
        problem = self.problems.get(folder)
        if problem is None:
            return False
        self.files[path] = problem
        return True

    def unreadable(self) -> list[Unreadable]:
        """Return each broken settings file once, with what it leaves unchecked."""
        waiting = Counter(self.files.values())
        found = []
        for problem in sorted(set(self.problems.values())):
            # The sentences about settings begin with the place. Lines move, a path stays.
            place, _, why = problem.partition(": ")
            path, _, line = place.rpartition(":")
            if line.isdecimal():
                place, why = path, f"line {line}: {why}"
            number = waiting[problem]
            if number:
                what = "1 file was" if number == 1 else f"{number} files were"
                why += f" ({what} not checked, because these settings apply there)"
            found.append(Unreadable(place, why))
        return found
