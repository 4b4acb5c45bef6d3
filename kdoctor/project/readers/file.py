"""A file of the project, as its reader receives it."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from kdoctor.documents.reading import read_regular
from kdoctor.errors import FileProblem
from kdoctor.project.evidence import Evidence, Flag, Problem
from kdoctor.project.requirement import Where, parse_requirement

ReadItem = Evidence | Flag | Problem  # what a reader yields

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class File(Struct, frozen=True, dict=True):
    """One file: the path to display, the real path, and the bytes."""

    path: str
    real: Path
    data: bytes

    @cached_property
    def text(self) -> str:
        """The text. PowerShell writes ``pip freeze > requirements.txt`` in UTF-16.

        Raises:
            FileProblem: it is no text.
        """
        encoding = next((name for mark, name in _MARKS if self.data.startswith(mark)), "utf-8")
        try:
            return self.data.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise FileProblem(f"not UTF-8: byte {error.start}") from None

    def line_of(self, needle: str, start: int = 0) -> int | None:
        """Return the first line with ``needle`` outside comments, None if there is none."""
        at = start
        while (at := self.text.find(needle, at)) >= 0:
            begin = self.text.rfind("\n", 0, at) + 1
            if "#" not in self.text[begin:at]:
                return self.text.count("\n", 0, at) + 1
            at += 1
        return None


def open_file(real: Path, shown: str) -> File:
    """Read a file.

    Raises:
        FileProblem: it cannot be read.
    """
    try:
        return File(shown, real, read_regular(real))
    except OSError as error:
        raise FileProblem(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # no file can be called so
        raise FileProblem(f"cannot be read: {error}") from None


def requirement_evidence(
    file: File,
    text: str,
    line: int | None,
    group: str = "",
    parse: Callable[[str, Where], Evidence | None] = parse_requirement,
) -> Iterator[ReadItem]:
    """Yield the evidence of one requirement: nothing if it is not about Keras."""
    try:
        found = parse(text, Where(file.path, line, group))
    except FileProblem as problem:
        yield Problem(file.path, f"{problem} (line {line})")
        return
    if found is not None:
        yield found


def beside(file: File, name: str) -> tuple[Path, str]:
    """Return the path of a file named relative to ``file``, and the path to display."""
    real = Path(os.path.normpath(file.real.parent / name))
    return real, Path(os.path.normpath(Path(file.path).parent / name)).as_posix()


def toml_of(text: str, first_line: int = 1) -> dict[str, Any]:
    """Parse TOML; ``first_line`` is the line of the file on which ``text`` begins.

    Raises:
        FileProblem: it is none.
    """
    import re  # noqa: PLC0415
    import tomllib  # noqa: PLC0415

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileProblem(f"not valid TOML: nested too deeply (line {first_line})") from None
    except ValueError as error:  # also of a number of thousands of digits
        why = str(error)
        at = re.search(r"at line (\d+)", why)
        line = int(at.group(1)) if at else text.count("\n") + 1
        why = re.sub(r"\s*\(at .*\)", "", why)
        what = why[:1].lower() + why[1:]
        raise FileProblem(f"not valid TOML: {what} (line {line + first_line - 1})") from None
