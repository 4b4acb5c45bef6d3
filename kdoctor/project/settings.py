"""kdoctor's settings for each folder: the nearest file with settings, and what it extends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from kdoctor.config import CONFIG_FILES, Config, Key, config_of, value_of
from kdoctor.documents.encoding import as_searched
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.interpreters import folder_above
from kdoctor.project.root import shown

if TYPE_CHECKING:
    from kdoctor.project.evidence import Problem

_PYPROJECT: Final = "pyproject.toml"
_TABLE: Final = ("tool", "kdoctor")


class Layer(Struct, frozen=True, eq=False):
    """The settings in one file. Its patterns are relative to ``folder``, an absolute path."""

    path: str
    folder: str
    config: Config
    lines: Mapping[Key, int] = field(default_factory=dict)

    def line(self, *key: str) -> int | None:
        """Return the line of a key, or of its table."""
        starts = (key[:length] for length in range(len(key), -1, -1))
        return next((self.lines[start] for start in starts if start in self.lines), None)

    def place(self, *key: str) -> str:
        """Return the location of a key, for display: ``pyproject.toml:12``."""
        line = self.line(*key)
        return self.path if line is None else f"{self.path}:{line}"


class Settings(Struct, frozen=True, eq=False):
    """The settings of a folder: none, or those of a file and of what it extends."""

    layers: tuple[Layer, ...] = ()  # the nearest first, then what it extends

    def __bool__(self) -> bool:
        """Say whether any file has settings."""
        return bool(self.layers)

    @property
    def path(self) -> str:
        """The nearest file, "" where there is none."""
        return self.layers[0].path if self.layers else ""

    def layer(self, key: str) -> Layer | None:
        """Return the file that sets a key, None if no file does."""
        said = (layer for layer in self.layers if value_of(layer.config, key) is not None)
        return next(said, None)

    def value(self, key: str) -> Any:
        """Return a setting, None where no file says it."""
        layer = self.layer(key)
        return None if layer is None else value_of(layer.config, key)

    @property
    def selecting(self) -> Sequence[Layer]:
        """The files whose ``select`` and ``ignore`` count: up to the first with a ``select``.

        So one that ignores a rule adds to what it extends, and one that selects starts anew.
        """
        for number, layer in enumerate(self.layers, 1):
            if layer.config.select is not None:
                return self.layers[:number]
        return self.layers


NO_SETTINGS: Final = Settings()


class _UnreadableSettings(UsageProblem):
    """A file that cannot be read, and may contain settings."""

    def __init__(self, path: Path, why: FileProblem) -> None:
        from kdoctor.project.evidence import Problem  # noqa: PLC0415

        self.path = path
        self.problem = Problem(shown(path), str(why))
        super().__init__(str(_unusable(shown(path), why)))


class Configs:
    """The settings of the folders of one run. Each file is read once.

    ``file`` holds for all folders, whatever lies in them; its patterns count from the working
    folder, as those of ruff's ``--config`` do. ``isolated`` reads no file at all. ``problems`` are
    the files of which nobody can know whether they have settings: they may not be read.

    Raises:
        UsageProblem: ``file`` cannot be read, or both are given.
    """

    def __init__(
        self, file: str | os.PathLike[str] | None = None, *, isolated: bool = False
    ) -> None:
        if file is not None and isolated:
            raise UsageProblem("--config cannot be combined with --isolated: drop one of them")
        self.problems: list[Problem] = []
        self._nearest = lru_cache(maxsize=4096)(self._find)
        self._all: Settings | None = NO_SETTINGS if isolated else None
        if file is not None:
            # Links stay, and so does ~nobody.
            path = Path(os.path.abspath(os.path.expanduser(file)))  # noqa: PTH100, PTH111
            if not os.path.isfile(path):  # noqa: PTH113 - the other raises for a name too long
                named = os.fspath(file) or "''"
                raise UsageProblem(f"--config: no such file: {named}")
            self._all = Settings(tuple(_layers(path, str(Path.cwd()))))
            if not self._all:
                raise UsageProblem(f"--config: {shown(path)} has no [tool.kdoctor] table")

    def of(self, folder: str) -> Settings:
        """Return the settings for files in a folder, given by its absolute path.

        Raises:
            UsageProblem: a file with settings cannot be read, or says what it cannot say.
        """
        return self._nearest(folder) if self._all is None else self._all

    def _find(self, folder: str) -> Settings:
        for name in CONFIG_FILES:
            path = os.path.join(folder, name)  # noqa: PTH118 - hot
            if os.path.isfile(path) and (layers := self._layers(Path(path))):  # noqa: PTH113
                return Settings(layers)
        above = folder_above(folder)
        return NO_SETTINGS if above is None else self._nearest(above)

    def _layers(self, path: Path) -> tuple[Layer, ...]:
        try:
            return tuple(_layers(path))
        except _UnreadableSettings as unread:
            if unread.path != path:  # another file extends it: then it has settings
                raise
            self.problems.append(unread.problem)
            return ()


def _layers(path: Path, folder: str | None = None) -> Iterator[Layer]:
    """Yield a file's settings, then those that it extends; nothing without a kdoctor table.

    ``folder`` is what the patterns of all count from, None for the folder of each.
    """
    layer = _read(path, folder)
    if layer is None:
        return
    yield layer
    chain = [path]
    while layer.config.extend is not None:
        where, path = f"{layer.place('extend')}: extend", _extended(layer, path)
        if path in chain:
            ring = " → ".join(shown(each) for each in [*chain[chain.index(path) :], path])
            raise UsageProblem(f"{where} is circular: {ring}; remove one of them")
        layer = _read(path, folder)
        if layer is None:
            raise UsageProblem(f"{where}: {shown(path)} has no [tool.kdoctor] table")
        yield layer
        chain.append(path)


def _extended(layer: Layer, path: Path) -> Path:
    assert layer.config.extend is not None
    named = os.path.expanduser(os.path.expandvars(layer.config.extend))  # noqa: PTH111
    found = Path(os.path.normpath(path.parent / named))
    if not found.is_file():
        raise UsageProblem(
            f"{layer.place('extend')}: extend: no such file: {shown(found)}; "
            "the path is relative to the file that contains `extend`"
        )
    return found


def _read(path: Path, folder: str | None) -> Layer | None:
    """Read one file; None where it is a ``pyproject.toml`` without a table for kdoctor.

    Raises:
        UsageProblem: it cannot be read, or says what it cannot say.
    """
    # Not where no file has settings: its package reads all that can say what the target is.
    from kdoctor.project.readers.file import open_file, toml_of  # noqa: PLC0415

    name = shown(path)
    is_pyproject = path.name == _PYPROJECT
    try:
        file = open_file(path, name)
    except FileProblem as problem:
        raise (
            _UnreadableSettings(path, problem) if is_pyproject else _unusable(name, problem)
        ) from None
    if is_pyproject and b"kdoctor" not in as_searched(file.data):
        return None
    try:
        table: Any = toml_of(file.text)
    except FileProblem as problem:
        if is_pyproject and b"tool.kdoctor" not in file.data:
            return None  # reported when the target is read from it
        raise _unusable(name, problem) from None
    prefix = _TABLE if is_pyproject else ()
    for part in prefix:
        table = table.get(part) if isinstance(table, dict) else None
        if table is None:
            return None
    from kdoctor.project.toml_lines import key_lines  # noqa: PLC0415

    lines = {
        key[len(prefix) :]: line
        for key, line in key_lines(file.text).items()
        if key[: len(prefix)] == prefix
    }
    layer = Layer(name, folder or str(path.parent), Config(), lines)
    if not isinstance(table, dict):
        raise UsageProblem(f"{layer.place()}: tool.kdoctor is not a table: write [tool.kdoctor]")
    return Layer(name, layer.folder, config_of(table, lambda key: layer.place(*key)), lines)


def _unusable(name: str, why: FileProblem) -> UsageProblem:
    return UsageProblem(f"{name}: {why}; fix it, or ignore all settings with --isolated")
