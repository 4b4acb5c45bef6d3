"""The files of a project: the folders from the scanned paths upwards, and what lies in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kdoctor.config import Config, config_of
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.project.evidence import Evidence, Flag, Problem, Source
from kdoctor.project.readers import READERS, Reader, file_names
from kdoctor.project.readers.file import File, open_file, toml_of

_STDIN: Final = "-"
CONFIG_FILES: Final = ("kdoctor.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """Settings, and where they stand; ``line`` is that of the target."""

    path: str
    config: Config
    line: int | None = None


def start_of(paths: Iterable[str | os.PathLike[str]]) -> Path:
    """Return the folder in which all the paths lie; the working folder for standard input."""
    folders = []
    for path in paths:
        text = os.fspath(path)
        absolute = os.path.abspath("." if text == _STDIN else text)  # noqa: PTH100 - links stay
        folders.append(absolute if os.path.isdir(absolute) else os.path.dirname(absolute))  # noqa: PTH112, PTH120
    try:
        return Path(os.path.commonpath(folders or [str(Path.cwd())]))
    except ValueError:  # several drives of Windows
        return Path.cwd()


def sources_in(folder: Path) -> Iterator[Source]:
    """Yield what the files in one folder say, in the order of asking."""
    listing = listed(folder)
    for reader in READERS:
        for name in file_names(reader, listing):
            source = _source(reader, folder, name)
            if source is not None:
                yield source


def config_in(folder: Path) -> tuple[FoundConfig | None, tuple[Problem, ...]]:
    """Return kdoctor's settings in a folder, and why a file that may hold them cannot be read.

    Raises:
        UsageProblem: a setting is unknown or of the wrong sort.
    """
    problems = []
    for name in CONFIG_FILES:
        real = folder / name
        if not real.is_file():
            continue
        path = shown(real)
        try:
            file = open_file(real, path)
            if name == "pyproject.toml" and b"kdoctor" not in file.data:
                continue
            table = _table(toml_of(file.text), name)
        except FileProblem as problem:
            problems.append(Problem(path, str(problem)))
            continue
        if table is not None:
            where = path if name == "kdoctor.toml" else f"{path}: [tool.kdoctor]"
            config = config_of(table, where)
            return FoundConfig(path, config, _line_of_target(file, name)), tuple(problems)
    return None, tuple(problems)


def shown(path: Path) -> str:
    """Return the path as people read it: from the working folder where it lies near."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return path.as_posix()
    near = not relative.startswith(os.path.join("..", "..", ".."))  # noqa: PTH118
    return Path(relative).as_posix() if near else path.as_posix()


def listed(folder: Path) -> list[str]:
    """Return the names in a folder, and those of the files in its ``requirements`` folder."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - hot
        if "requirements" in names and (folder / "requirements").is_dir():
            below = os.listdir(folder / "requirements")  # noqa: PTH208
            names += [f"requirements/{name}" for name in below]
    except OSError:
        return []
    return names


def _source(reader: Reader, folder: Path, name: str) -> Source | None:
    """Read one file; None where it says nothing of Keras."""
    real = folder / name
    if not real.is_file():
        return None
    path, said, problems = shown(real), [], []
    try:
        file = open_file(real, path)
        if any(word in file.data for word in reader.words):
            said = list(reader.read(file))
    except FileProblem as problem:
        problems.append(Problem(path, str(problem)))
    problems += [each for each in said if isinstance(each, Problem)]
    return Source(
        reader.kind,
        path,
        str(folder),
        tuple(each for each in said if isinstance(each, Evidence)),
        tuple(each for each in said if isinstance(each, Flag)),
        tuple(problems),
    )


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    if name == "kdoctor.toml":
        return content
    tool = content.get("tool")
    table = tool.get("kdoctor") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, Mapping):
        raise UsageProblem("pyproject.toml: tool.kdoctor is no table: write [tool.kdoctor]")
    return table


def _line_of_target(file: File, name: str) -> int | None:
    start = 0 if name == "kdoctor.toml" else max(file.text.find("[tool.kdoctor]"), 0)
    return file.line_of("target", start)
