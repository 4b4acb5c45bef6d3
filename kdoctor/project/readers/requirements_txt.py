"""``requirements.txt`` as pip reads it: includes, constraints, hashes, markers, continued lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import Problem
from kdoctor.project.readers.file import File, ReadItem, beside, open_file, requirement_evidence

# As in pip: a comment begins at the start of a line or behind white space.
_COMMENT: Final = pattern(r"(?:^|\s+)#.*$")
_INCLUDE: Final = pattern(r"(?:-r|-c|--requirement|--constraint)(?:\s*=\s*|\s+|(?<=-[rc]))(\S.*)")
_EDITABLE: Final = pattern(r"(?:-e|--editable)(?:\s*=\s*|\s+)")
_OPTIONS: Final = pattern(r"\s--?[a-z].*$", re.DOTALL)  # --hash=…, --config-settings …


def read_requirements(file: File) -> Iterator[ReadItem]:
    """Yield what a requirements file says about Keras, and the files that it includes."""
    yield from _read(file, {file.real})


def _read(file: File, seen: set[Path]) -> Iterator[ReadItem]:
    for line, text in logical_lines(file.text):
        included = _INCLUDE.fullmatch(text)
        if included:
            yield from _include(file, line, included.group(1).strip("\"' "), seen)
            continue
        requirement = _EDITABLE.sub("", text, count=1) if text.startswith("-") else text
        if requirement.startswith("-"):
            continue
        yield from requirement_evidence(file, _OPTIONS.sub("", requirement), line)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield each line with its number, continued lines joined, without comments and blank lines.

    >>> list(logical_lines("# a\nkeras \\\n  >=2  # b\n"))
    [(2, 'keras   >=2')]
    """
    joined, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        is_comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not is_comment:
            joined += line[:-1]
            continue
        whole = _COMMENT.sub("", joined if is_comment else joined + line).strip()
        if whole:
            yield begun, whole
        joined, begun = "", 0
    if joined.strip():
        yield begun, _COMMENT.sub("", joined).strip()


def _include(file: File, line: int, name: str, seen: set[Path]) -> Iterator[ReadItem]:
    if "://" in name:
        return  # kdoctor calls no network
    real, shown = beside(file, name)
    if real in seen:
        return
    seen.add(real)
    try:
        yield from _read(open_file(real, shown), seen)
    except FileProblem as problem:
        yield Problem(file.path, f"included file {shown}: {problem} (line {line})")
