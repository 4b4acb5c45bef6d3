"""Where a requirement stands in the text of its file, and how it is written anew there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Span

# A name, extras, and the versions that are asked for; what follows (a marker, a hash) stays.
_VERSION: Final = r"[=<>!~]=?=?\s*[\w.*+!-]+"
_VERSIONS: Final = rf"\s*(?:{_VERSION}(?:\s*,\s*{_VERSION})*)"
_PARTS: Final = pattern(r"(?P<name>[\w.-]+)(?P<extras>\[[^\]]*\])?(?P<versions>.*)", re.DOTALL)
_SPACES: Final = pattern(r"[\s\"']")
# A row of Poetry, Pipfile or pixi: `keras = "^2.4"`, `keras = {version = "==2.3", extras = []}`.
_ROW: Final = (
    r"""(?P<start>["']?{name}["']?\s*=\s*(?:\{{[^}}]*?\bversion\s*=\s*)?)"""
    r"""(?P<quote>["'])(?P<versions>[^"']*)(?P=quote)"""
)
_HASH: Final = "--hash"
_ADDRESS: Final = "it is installed from an address"
_ELSEWHERE: Final = "its version stands elsewhere"
_HASHED: Final = "its hashes are those of the release that is named: let its tool write it anew"
_BUILD: Final = "it names one build: let conda find one of the new release"
_QUOTED: Final = "the quotes around the command leave no room for those that `>` needs"


class Written(Struct, frozen=True):
    """The characters of a requirement, and the edit that writes it anew, or why there is none."""

    span: Span
    edit: Edit | None = None
    why_not: str = ""


class Lines:
    """The lines of a text, as the readers of project files number them."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def written(
        self, number: int, requirement: str, instead: str, *, in_shell: bool = False
    ) -> Written:
        """Return where a requirement stands that begins on a line, and ``instead`` in its place.

        ``in_shell``: it is an argument of a command, where ``>`` needs quotes around it.
        """
        run = list(self._run(number))
        if not run:
            return Written(Span(0, 0), why_not=_ELSEWHERE)
        if "://" in requirement:
            return Written(self._content(run[0]), why_not=_ADDRESS)
        for index in run:
            line = self._lines[index]
            found = _found(line, requirement)
            if found is None:
                continue
            start = self._starts[index]
            span = Span(start + found.span.start, start + found.span.end)
            why_not = self._why_not(run, index, found.span.end)
            new = found.text(instead)
            if not why_not and in_shell and ">" in new and not _is_quoted(line, found.span):
                if line[: found.span.start].count("'") % 2:
                    why_not = _QUOTED
                new = f"'{new}'"
            if why_not:
                return Written(span, why_not=why_not)
            return Written(span, Edit(span, (new,)))
        return Written(self._content(run[0]), why_not=_ELSEWHERE)

    def _why_not(self, run: Sequence[int], index: int, end: int) -> str:
        if any(_HASH in self._lines[each] for each in run if each >= index):
            return _HASHED
        return _BUILD if self._lines[index][end : end + 1] == "=" else ""

    def _run(self, number: int) -> Iterator[int]:
        """Yield the lines that one begins: those behind a backslash, and comments among them."""
        index = number - 1
        while 0 <= index < len(self._lines):
            yield index
            line = self._lines[index].rstrip("\r\n")
            if not (line.endswith("\\") or (index >= number and line.lstrip().startswith("#"))):
                return
            index += 1

    def _content(self, index: int) -> Span:
        """Return what stands on a line, without the blanks around it."""
        line, start = self._lines[index], self._starts[index]
        first = len(line) - len(line.lstrip())
        return Span(start + min(first, len(line.rstrip())), start + len(line.rstrip()))


class _Found(Struct, frozen=True):
    """A requirement on a line: its span there, what it begins with, and the quote around it."""

    span: Span
    name: str
    extras: str = ""
    row: str = ""
    quote: str = ""

    def text(self, instead: str) -> str:
        """Return the new text; ``instead`` is a name with versions, without extras."""
        new = _PARTS.match(instead)
        assert new is not None
        name, versions = new["name"], new["versions"]
        if self.row:
            return f"{self.row}{self.quote}{versions}{self.quote}"
        kept = self.name if _same_package(self.name, name) else name
        return f"{kept}{self.extras}{versions}"


def _found(line: str, requirement: str) -> _Found | None:
    """Find a requirement on a line, that with the same versions before others of the name."""
    parts = _PARTS.match(requirement)
    if parts is None:
        return None
    name = re.escape(parts["name"])
    row = re.search(rf"(?<![\w.-]){_ROW.format(name=name)}", line)
    if row is not None:
        return _Found(Span(*row.span()), parts["name"], row=row["start"], quote=row["quote"])
    wanted = _clauses(parts["versions"])
    all_found = list(
        re.finditer(
            rf"(?<![\w.-])(?P<name>{name})(?P<extras>\[[^\]]*\])?(?P<versions>{_VERSIONS})", line
        )
    )
    same = [each for each in all_found if _clauses(each["versions"]) == wanted]
    for each in (*same, *all_found):
        return _Found(Span(*each.span()), each["name"], each["extras"] or "")
    return None


def _clauses(versions: str) -> frozenset[str]:
    return frozenset(_SPACES.sub("", versions).split(","))


def _same_package(written: str, new: str) -> bool:
    """Say whether a package has releases under its name with what ``new`` has.

    `tensorflow-gpu` ends with 2.12, and so do others; `tensorflow-cpu` does not (PyPI, 2026).
    """
    low = re.sub(r"[-_.]+", "-", written).lower()
    return low in {new.lower(), f"{new}-cpu".lower()}


def _is_quoted(line: str, span: Span) -> bool:
    return line[: span.start].endswith(("'", '"'))
