"""Requirements in tables of TOML: ``pyproject.toml`` and ``Pipfile``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kdoctor.errors import FileProblem
from kdoctor.project.evidence import Evidence, Problem
from kdoctor.project.readers.file import File, ReadItem, requirement_evidence, toml_of
from kdoctor.project.requirement import Where, parse_poetry, parse_requirement


def read_pyproject(file: File) -> Iterator[ReadItem]:
    """Yield what the dependencies in ``pyproject.toml`` say, whichever tool they are for."""
    content = toml_of(file.text)
    project, tool = _table(content, "project"), _table(content, "tool")
    uv, poetry = _table(tool, "uv"), _table(tool, "poetry")
    yield from _requirements(file, project.get("dependencies"), "")
    for name in ("constraint-dependencies", "override-dependencies"):
        yield from _requirements(file, uv.get(name), "")
    yield from _rows(file, _table(poetry, "dependencies"), "")
    for manager in (_table(tool, "pixi"), _table(_table(tool, "pixi"), "workspace")):
        yield from _rows(file, _table(manager, "pypi-dependencies"), "")
    groups = (
        ("extra", _table(project, "optional-dependencies")),
        ("group", _table(content, "dependency-groups")),
        ("group", _table(_table(tool, "pdm"), "dev-dependencies")),
    )
    for sort, table in groups:
        for name, entries in table.items():
            yield from _requirements(file, entries, f"{sort} {name}")
    yield from _requirements(file, uv.get("dev-dependencies"), "group dev")
    yield from _rows(file, _table(poetry, "dev-dependencies"), "group dev")
    for name, group in _table(poetry, "group").items():
        if isinstance(group, Mapping):
            yield from _rows(file, _table(group, "dependencies"), f"group {name}")
    for name, environment in _table(_table(tool, "hatch"), "envs").items():
        if isinstance(environment, Mapping):
            yield from _requirements(file, environment.get("dependencies"), f"environment {name}")


def read_pipfile(file: File) -> Iterator[ReadItem]:
    """Yield what a ``Pipfile`` says."""
    content = toml_of(file.text)
    yield from _rows(file, _table(content, "packages"), "")
    yield from _rows(file, _table(content, "dev-packages"), "group dev")


def _requirements(file: File, entries: Any, group: str) -> Iterator[ReadItem]:
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, str):
            continue  # {include-group = "…"}: that group is read by itself
        line = file.line_of(entry) or file.line_of(entry.replace('"', '\\"'))
        yield from requirement_evidence(file, entry, line, group)


def _rows(file: File, table: Mapping[str, Any], group: str) -> Iterator[ReadItem]:
    for name, value in table.items():
        for choice in value if isinstance(value, list) else [value]:
            try:
                yield from _row(file, name, choice, group)
            except FileProblem as problem:
                line = file.line_of(name)
                yield Problem(file.path, f"{problem} (line {line})")


def _row(file: File, name: str, value: Any, group: str) -> Iterable[Evidence]:
    if isinstance(value, str):
        return parse_poetry(name, value, Where(file.path, _line(file, name), group))
    if not isinstance(value, Mapping):
        return ()
    marks = ("markers", "marker", "python", "platform", "sys_platform", "python_version")
    marker = " and ".join(f"{key} {value[key]}" for key in marks if key in value)
    if value.get("optional"):
        group = group or "optional"
    version = value.get("version", "")
    url = value.get("url") or value.get("git")
    if url and not version:
        tag = value.get("tag") or value.get("rev") or value.get("ref") or ""
        text = f"{name} @ {url}{f'@{tag}' if tag else ''}"
        found = parse_requirement(text, Where(file.path, _line(file, name), group))
        return () if found is None else (found,)
    where = Where(file.path, _line(file, name), group)
    return parse_poetry(name, str(version), where, marker)


def _line(file: File, name: str) -> int | None:
    """Return the line of the row ``name = …``: names of tables and other values hold it too."""
    for number, line in enumerate(file.text.splitlines(), 1):
        key, equals, _ = line.partition("=")
        if equals and key.strip().strip("\"'") == name:
            return number
    return file.line_of(name)


def _table(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}
