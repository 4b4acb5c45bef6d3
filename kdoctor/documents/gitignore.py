"""Git's ignore rules: nested ``.gitignore`` files with negation, and ``.git/info/exclude``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.documents.reading import read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


_FOLDER_SLASH = "ps_d"  # pathspec's name of the group for the slash after a folder that fits


class Patterns(Struct, frozen=True):
    """Patterns as in ``.gitignore``, which count from ``folder``."""

    folder: str  # with / at its end
    spec: GitIgnoreSpec
    written: tuple[str, ...] = ()
    elsewhere: Patterns | None = None  # those that hold for what lies outside of the folder

    @classmethod
    def of(cls, folder: str, written: Iterable[str], user: str = "") -> Patterns:
        """Return the patterns that people wrote down for a folder.

        ``user`` is another folder that takes them over: patterns without a ``/``, which say nothing
        of where a file lies, hold there, too.

        Raises:
            ValueError: one of them is none; which one, in people's words.
        """
        lines = tuple(written)
        for line in lines:
            if not _is_valid(line):
                raise ValueError(f"invalid pattern {line!r}")
        start = Path(folder).as_posix().rstrip("/") + "/"
        names = [line for line in lines if "/" not in line.rstrip("/")]
        elsewhere = cls.of(user, names) if user and user != folder and names else None
        return cls(start, _spec(lines), lines, elsewhere)

    def decide(self, path: str) -> bool | None:
        """Say whether ``path`` is left out; None where no pattern fits."""
        if path == self.folder:
            return None
        if not path.startswith(self.folder):
            return self.elsewhere.decide(path) if self.elsewhere else None
        return self.spec.check_file(path[len(self.folder) :]).include

    def overruled(self, path: str) -> Patterns:
        """Return the patterns that do not leave out a path, which was named all the same."""
        if not self.decide(path):
            return self
        one_by_one = (Patterns.of(self.folder, [line]) for line in self.written)
        kept = [each.written[0] for each in one_by_one if not each.decide(path)]
        elsewhere = self.elsewhere.overruled(path) if self.elsewhere else None
        return replace(Patterns.of(self.folder, kept), elsewhere=elsewhere)


class GitPatterns(Struct, frozen=True):
    """The patterns of one ``.gitignore``, which git asks of a folder before what lies in it.

    So each speaks of a path itself, and never of what lies below a folder that it fits: where
    ``!*/`` takes all folders back, a ``*`` before it still leaves out the files in them.
    """

    folder: str  # with / at its end
    patterns: tuple[GitIgnoreSpecPattern, ...]

    def decide(self, path: str) -> bool | None:
        """Say whether ``path`` is left out; None where no pattern fits. The last that fits counts.

        The path of a folder ends in ``/``.
        """
        if path == self.folder or not path.startswith(self.folder):
            return None
        own = path[len(self.folder) :]
        fits = (each.include for each in reversed(self.patterns) if _fits(each, own))
        return next(fits, None)


def _fits(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Say whether a pattern fits a path as a whole, not only a folder that it lies in."""
    regex = pattern.regex
    assert regex is not None
    if _FOLDER_SLASH in regex.groupindex:
        return any(match.end() == len(path) for match in regex.finditer(path))
    # What ends in `**` fits all that lies in a folder: its expression ends with the slash of that
    # folder, for which the slash at the end of a path is no sign.
    return regex.search(path.removesuffix("/")) is not None


class Ignores(Struct, frozen=True):
    """The rules that hold in one folder. All paths are real; those of folders end in ``/``."""

    rules: tuple[GitPatterns, ...] = ()  # outermost first; the innermost that decides, decides
    exclude: tuple[Patterns, ...] = ()  # asked for by the user

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self.rules or self.exclude)

    @classmethod
    def from_exclude(cls, exclude: Iterable[str]) -> Ignores:
        """Return the rules of ``exclude`` alone, which count from the working folder."""
        return cls(exclude=tuple(_rules(Path.cwd(), exclude)))

    @classmethod
    def above(cls, root: Path, exclude: Sequence[str]) -> Ignores:
        """Return what holds from outside of a folder that was named.

        Where git would leave out the folder itself, naming it has overruled the rules outside.
        """
        from_exclude = cls.from_exclude(exclude)
        outside = [root, *root.parents]
        tops = (at for at, folder in enumerate(outside) if os.path.lexists(folder / ".git"))
        depth = next(tops, 0)
        ignores = from_exclude
        for folder, below in zip(outside[depth:0:-1], outside[depth - 1 :: -1], strict=False):
            ignores = ignores.within(folder)
            if ignores.leave_out(f"{below.as_posix()}/"):
                return from_exclude
        return ignores

    def within(self, folder: Path) -> Ignores:
        """Add the rules that begin in a folder."""
        excluded = _git_rules(folder, folder / ".git" / "info" / "exclude")
        own = _git_rules(folder, folder / ".gitignore")
        rules = (*self.rules, *excluded, *own)
        return Ignores(rules, self.exclude) if rules != self.rules else self

    def leave_out(self, path: str) -> bool:
        """Say whether a file, or a folder and with it all that it holds, is left out."""
        return self.excluded(path) or self.ignored(path)

    def excluded(self, path: str) -> bool:
        """Say whether it is left out because the user asks for it."""
        return any(rules.decide(path) for rules in self.exclude)

    def ignored(self, path: str) -> bool:
        """Say whether git ignores it, unless it tracks it."""
        decisions = (rules.decide(path) for rules in reversed(self.rules))
        return next((decision for decision in decisions if decision is not None), False)

    def leave_out_below(self, path: Path) -> bool:
        """Say whether a path is left out, or a folder that it lies in."""
        if not self:
            return False
        folders = (f"{folder.as_posix()}/" for folder in path.parents)
        own = f"{path.as_posix()}/" if path.is_dir() else path.as_posix()
        return self.leave_out(own) or any(map(self.leave_out, folders))


def _lines(path: Path) -> Iterable[str]:
    try:
        # git passes over a byte order mark.
        return read_regular(path).decode("utf-8-sig", errors="surrogateescape").splitlines()
    except OSError:
        return ()


def _rules(folder: Path, patterns: Iterable[str]) -> list[Patterns]:
    valid = [pattern for pattern in patterns if pattern.strip() and _is_valid(pattern)]
    if not valid:
        return []
    return [Patterns(folder.as_posix().rstrip("/") + "/", _spec(valid))]


def _git_rules(folder: Path, file: Path) -> list[GitPatterns]:
    lines = [line for line in _lines(file) if line.strip() and _is_valid(line)]
    if not lines:
        return []
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - as _spec

    # Folders below a, and not a itself, which pathspec takes it for.
    lines = [f"{line.rstrip()}*/" if line.rstrip().endswith("/**/") else line for line in lines]
    patterns = (GitIgnoreSpecPattern(line) for line in lines)
    own = tuple(each for each in patterns if each.include is not None)
    return [GitPatterns(folder.as_posix().rstrip("/") + "/", own)] if own else []


def _is_valid(pattern: str) -> bool:
    """Say whether pathspec takes the pattern. git passes over those that it does not understand."""
    try:
        _spec([pattern])
    except (ValueError, re.error):  # [z-a] comes through as it is
        return False
    return True


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - three dozen modules; most folders rule nothing

    return GitIgnoreSpec.from_lines(lines)
