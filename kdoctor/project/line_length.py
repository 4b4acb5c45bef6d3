"""Line length of a project, from the settings of its linters and formatters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kdoctor.project.tool_files import ini_of, toml_of

_SPEAKS_OF_IT: Final = re.compile(
    r"line[-_]length|\b(?:ruff|black|flake8|pycodestyle)\b", re.IGNORECASE
)
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
# What a tool keeps to that a project uses and tells nothing; the first that is used counts.
_FORMATTERS: Final = ("ruff", "black")
_OF_FORMATTERS: Final = 88
_STYLE_CHECKERS: Final = {"flake8": 79, "pycodestyle": 79}
_UNCHECKED: Final = re.compile(r"\bE(?:5(?:01?)?)?\b")  # `ignore = E501`, or all of its kind
_SECTIONS: Final = ("flake8", "pycodestyle", "pep8", "FORMAT", "MASTER", "isort")
_KEYS: Final = ("max-line-length", "max_line_length", "line_length")


def limit_in(texts: Mapping[str, str]) -> int | None:
    """Return the limit that the files of one folder set, by name; None where they set none."""
    for name, read in _READERS.items():
        text = texts.get(name)
        if text is None or not (read is _ruff or _SPEAKS_OF_IT.search(text)):
            continue
        for each in read(text):
            if str(each).strip().isdigit() and int(each) > 0:
                return int(each)
    return None


def _ruff(text: str) -> Iterator[Any]:
    yield from _of_formatter(toml_of(text))


def _of_formatter(table: Mapping[str, Any]) -> Iterator[Any]:
    yield table.get("line-length")
    if "extend" not in table:  # the file it extends is mostly in a folder above, read next
        yield _OF_FORMATTERS


def _pyproject(text: str) -> Iterator[Any]:
    tools = toml_of(text).get("tool")
    for name, key in _TABLES:
        table = tools.get(name) if isinstance(tools, dict) else None
        if isinstance(table, dict):
            yield table.get(key)
    for name in _FORMATTERS:
        table = tools.get(name) if isinstance(tools, dict) else None
        if isinstance(table, dict):
            yield from _of_formatter(table)


def _ini(text: str) -> Iterator[Any]:
    parser = ini_of(text)
    for section in _SECTIONS:
        for key in _KEYS:
            yield parser.get(section, key, fallback=None)
    if parser.get("isort", "profile", fallback=None) == "black":
        yield _OF_FORMATTERS
    for name, usual in _STYLE_CHECKERS.items():
        if parser.has_section(name) and not _UNCHECKED.search(_ignored(parser[name])):
            yield usual


def _ignored(section: Mapping[str, str]) -> str:
    return " ".join(section.get(key, "") for key in ("ignore", "extend-ignore", "extend_ignore"))


def _editor(text: str) -> Iterator[Any]:
    """Yield the EditorConfig settings for Python: in `[*.py]`, `[*.{py,pyi}]` or `[*]`."""
    for section in reversed(re.split(r"(?m)^\s*\[(?=.*\]\s*$)", text)):
        head, _, rest = section.partition("]")
        if head.startswith("*") and (head == "*" or re.search(r"\bpy\b", head)):
            found = re.search(r"(?mi)^\s*max_line_length\s*=\s*(\d+)\s*$", rest)
            yield None if found is None else found.group(1)


_READERS: Final[dict[str, Callable[[str], Iterator[Any]]]] = {
    ".ruff.toml": _ruff,
    "ruff.toml": _ruff,
    "pyproject.toml": _pyproject,
    ".flake8": _ini,
    "setup.cfg": _ini,
    "tox.ini": _ini,
    ".pylintrc": _ini,
    ".editorconfig": _editor,
}
FILES: Final = tuple(_READERS)
