"""How long a line may be, by what a project tells its linters and formatters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kdoctor.project.root import folders_to_root

_SPEAKS_OF_IT: Final = re.compile(r"line[-_]length", re.IGNORECASE)
# By the table of `pyproject.toml`; of several, the first decides.
_TABLES: Final = (
    ("ruff", "line-length"),
    ("black", "line-length"),
    ("flake8", "max-line-length"),
    ("pycodestyle", "max-line-length"),
    ("pycodestyle", "max_line_length"),
    ("autopep8", "max_line_length"),
    ("isort", "line_length"),
)
_SECTIONS: Final = ("flake8", "pycodestyle", "pep8", "FORMAT", "MASTER", "isort")
_KEYS: Final = ("max-line-length", "max_line_length", "line_length")


def line_limit(start: Path) -> int | None:
    """Return the limit that holds in a folder, None where nobody sets one.

    The nearest file counts. A file that cannot be read says nothing: it is told elsewhere.
    """
    for folder in folders_to_root(start):
        for name, read in _READERS.items():
            found = next(_numbers(folder / name, read), None)
            if found is not None:
                return found
    return None


def _numbers(path: Path, read: Callable[[str], Iterator[Any]]) -> Iterator[int]:
    try:
        text = path.read_text("utf-8") if path.is_file() else ""
    except (OSError, ValueError):
        return
    if not _SPEAKS_OF_IT.search(text):
        return
    for each in read(text):
        if str(each).strip().isdigit() and int(each) > 0:
            yield int(each)


def _ruff(text: str) -> Iterator[Any]:
    yield _toml(text).get("line-length")


def _pyproject(text: str) -> Iterator[Any]:
    tools = _toml(text).get("tool")
    for name, key in _TABLES:
        table = tools.get(name) if isinstance(tools, dict) else None
        if isinstance(table, dict):
            yield table.get(key)


def _toml(text: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - for few projects

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _ini(text: str) -> Iterator[Any]:
    import configparser  # noqa: PLC0415 - for few projects

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in _SECTIONS:
        for key in _KEYS:
            yield parser.get(section, key, fallback=None)


_READERS: Final[dict[str, Callable[[str], Iterator[Any]]]] = {
    ".ruff.toml": _ruff,
    "ruff.toml": _ruff,
    "pyproject.toml": _pyproject,
    ".flake8": _ini,
    "setup.cfg": _ini,
    "tox.ini": _ini,
    ".pylintrc": _ini,
}
