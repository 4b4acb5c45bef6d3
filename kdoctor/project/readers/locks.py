"""Lock files: ``uv.lock``, ``poetry.lock``, ``pdm.lock``, ``pylock.toml`` and ``Pipfile.lock``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import Evidence, distribution_of
from kdoctor.project.readers.file import File, toml_of
from kdoctor.project.requirement import Where, pinned

# ``[[package]]`` of uv, Poetry and PDM, ``[[packages]]`` of PEP 751.
_TABLE: Final = pattern(r"^\[\[packages?\]\][ \t]*$", re.MULTILINE)
_NAME: Final = pattern(r"^name\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_CONFLICT: Final = pattern(r"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE)


def read_toml_lock(file: File) -> Iterator[Evidence]:
    """Yield the versions that a lock file in TOML holds.

    Locks reach megabytes, and parsing takes 0.2 s a megabyte: only the tables of the packages that
    bring Keras are parsed, and what stands in front and at the end, where a broken file shows.
    """
    text = file.text
    _check_no_conflict(text)
    starts = [found.start() for found in _TABLE.finditer(text)]
    toml_of(text[: starts[0]] if starts else text)
    for start, end in pairwise([*starts, len(text)]):
        named = _NAME.search(text, start, end)
        distribution = distribution_of(named.group(1)) if named else None
        if distribution is None and end != len(text):
            continue
        line = text.count("\n", 0, start) + 1
        parsed = toml_of(text[start:end], line)
        if distribution is None or named is None:
            continue
        package = next(iter(parsed.values()))[0]
        version = package.get("version")
        if isinstance(version, str):
            yield pinned(distribution, named.group(1), version, Where(file.path, line))


def read_pipfile_lock(file: File) -> Iterator[Evidence]:
    """Yield the versions that ``Pipfile.lock`` holds."""
    _check_no_conflict(file.text)
    try:
        content: Any = json.loads(file.text)
    except json.JSONDecodeError as error:
        why = error.msg[:1].lower() + error.msg[1:]
        raise FileProblem(f"not valid JSON: {why} (line {error.lineno})") from None
    if not isinstance(content, dict):
        raise FileProblem("not a valid Pipfile.lock: the top level is not an object (line 1)")
    for section in ("default", "develop"):
        packages = content.get(section)
        for name, row in packages.items() if isinstance(packages, dict) else ():
            distribution = distribution_of(name)
            version = row.get("version", "") if isinstance(row, dict) else ""
            if distribution is not None and isinstance(version, str) and version:
                line = file.line_of(f'"{name}": {{')
                yield pinned(distribution, name, version.lstrip("="), Where(file.path, line))


def _check_no_conflict(text: str) -> None:
    """Refuse a lock file with conflict markers, by far the most common damage.

    Raises:
        FileProblem: git left its marks in the file.
    """
    mark = _CONFLICT.search(text)
    if mark:
        line = text.count("\n", 0, mark.start()) + 1
        raise FileProblem(f"unresolved merge conflict (line {line})")
