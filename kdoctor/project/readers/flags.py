"""``TF_USE_LEGACY_KERAS`` in ``.env`` files and Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import Flag
from kdoctor.project.readers.file import File

_DOTENV: Final = pattern(
    r"^[ \t]*(?:export[ \t]+)?TF_USE_LEGACY_KERAS[ \t]*=[ \t]*[\"']?(\w+)", re.MULTILINE
)
# `ENV A=1 TF_USE_LEGACY_KERAS=1`, continued over lines, or the old `ENV NAME value`.
_DOCKER: Final = pattern(
    r"^[ \t]*ENV\b(?:[^\n\\]|\\.|\\\n)*?\bTF_USE_LEGACY_KERAS[ \t]*[= \t][ \t]*[\"']?(\w+)",
    re.MULTILINE | re.IGNORECASE,
)


def read_dotenv(file: File) -> Iterator[Flag]:
    """Yield what ``.env`` sets."""
    yield from _flags(file, _DOTENV)


def read_dockerfile(file: File) -> Iterator[Flag]:
    """Yield what a ``Dockerfile`` sets for the program."""
    yield from _flags(file, _DOCKER)


def _flags(file: File, pattern: re.Pattern[str]) -> Iterator[Flag]:
    for found in pattern.finditer(file.text):
        line = file.text.count("\n", 0, found.start(1)) + 1
        yield Flag(found.group(1), file.path, line)
