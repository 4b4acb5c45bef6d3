"""Read and write the baseline file: sorted JSON, one finding a line."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import msgspec

from kdoctor.documents import write_anew
from kdoctor.engine.baseline.entry import BaselineEntry
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.project.root import folders_to_root, leads_into, root_of, shown
from kdoctor.rules.redirects import redirected

FILE_NAME: Final = ".kdoctor-baseline.json"
_VERSION: Final = 1
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class _Line(msgspec.Struct, frozen=True, rename={"scope": "in"}):
    rule: str
    symbol: str
    scope: str
    source: str
    context: str


class _File(msgspec.Struct, frozen=True):
    version: Annotated[int, msgspec.Meta(ge=1)] = msgspec.field(name="kdoctor-baseline")
    files: dict[str, list[_Line]]
    not_checked: dict[str, str] = msgspec.field(name="not-checked", default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings of a project, as read from its baseline file.

    ``not_checked`` are the files that are known to be none that kdoctor can check, each with the
    reason that it had. ``old_names`` are the codes in the file that no rule has any more; entries
    have those that took their place.
    """

    path: Path
    entries: tuple[BaselineEntry, ...] = ()
    not_checked: Mapping[str, str] = field(default_factory=lambda: _NONE)
    old_names: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder that the entries' paths are relative to."""
        return Path(os.path.realpath(self.path)).parent

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Baseline:
        """Read a baseline.

        Raises:
            UsageProblem: there is none, or the file is no baseline that kdoctor can read.
        """
        path = Path(path)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise UsageProblem(
                f"there is no baseline {shown(path)}; create it with `kdoctor baseline write`"
            ) from None
        except IsADirectoryError:
            raise UsageProblem(
                f"{shown(path)} is a folder; name a baseline file, such as {FILE_NAME} in it"
            ) from None
        except OSError as error:
            raise UsageProblem(f"{shown(path)} cannot be read: {error.strerror or error}") from None
        file = _decoded(data, path)
        codes = {line.rule for lines in file.files.values() for line in lines}
        old = tuple(sorted(code for code in codes if redirected(code) is not None))
        return cls(path, tuple(_entries(file, old)), file.not_checked, old)

    def write(
        self, entries: Iterable[BaselineEntry], not_checked: Mapping[str, str] = _NONE
    ) -> None:
        """Write these entries and files, if the file does not say the same already.

        Raises:
            UsageProblem: it cannot be written.
        """
        data = _rendered(entries, not_checked)
        try:
            if not self.path.exists() or self.path.read_bytes() != data:
                write_anew(self.path, data)
        except OSError as error:
            raise UsageProblem(f"{self.path} cannot be written: {error.strerror}") from None
        except FileProblem as problem:
            raise UsageProblem(f"{self.path}: {problem}") from None


def configured_baseline(policy: FileSelection) -> Baseline | None:
    """Return the baseline named in the settings, None if there is none.

    Raises:
        UsageProblem: it is not there, or is none; the setting is named.
    """
    layer, path = policy.main.layer("baseline"), configured_file(policy)
    if layer is None or path is None:
        return None
    try:
        return Baseline.read(path)
    except UsageProblem as problem:
        raise UsageProblem(f"{layer.place('baseline')}: baseline: {problem}") from None


def configured_file(policy: FileSelection) -> Path | None:
    """Return the path of the baseline named in the settings, None if there is none."""
    layer = policy.main.layer("baseline")
    return None if layer is None else Path(layer.folder) / policy.main.value("baseline")


def default_file(policy: FileSelection) -> Path:
    """Return the default path of a project's baseline.

    That is what its settings say, else the nearest that there is, else beside its settings, else
    where the project begins.
    """
    configured = configured_file(policy)
    if configured is not None:
        return configured
    folders = list(folders_to_root(policy.start))
    having = [folder for folder in folders if (folder / FILE_NAME).is_file()]
    beside = [folder for folder in folders if policy.main and folder == _home(policy)]
    return next(iter([*having, *beside]), folders[-1]) / FILE_NAME


def check_writable(policy: FileSelection, path: Path) -> None:
    """Refuse to write a baseline from the settings outside of its project, links resolved.

    Raises:
        UsageProblem: the project's settings, or a link in it, would have kdoctor write elsewhere.
    """
    project = root_of(policy.start) or Path.cwd()
    if policy.has_named_settings or leads_into(path, project):
        return
    layer = policy.main.layer("baseline")
    where = f"{layer.place('baseline')}: baseline" if layer else shown(path)
    raise UsageProblem(
        f"{where} points outside the project, to {os.path.realpath(path)}; to write "
        f"there, pass --baseline {shlex.quote(os.path.realpath(path))}"
    )


def _home(policy: FileSelection) -> Path:
    return Path(policy.main.layers[0].folder)


def _decoded(data: bytes, path: Path) -> _File:
    try:
        # Not msgspec's own reader: it takes no half of a surrogate pair, as a path may have.
        file = msgspec.convert(json.loads(data), _File)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise UsageProblem(
            f"{shown(path)} is not a valid baseline ({_read_error(data, error)})"
        ) from None
    if file.version > _VERSION:
        raise UsageProblem(
            f"{shown(path)} was written by a newer kdoctor (format {file.version}, this one knows "
            f"{_VERSION}); upgrade kdoctor"
        )
    return file


def _entries(file: _File, old: Iterable[str]) -> Iterable[BaselineEntry]:
    codes = {code: _code_now(code) for code in old}
    for name, lines in file.files.items():
        for line in lines:
            rule = codes.get(line.rule, line.rule)
            yield BaselineEntry(name, line.scope, rule, line.symbol, line.source, line.context)


def _code_now(code: str) -> str:
    """Return the current code for an old one; a retired code is returned as it is."""
    from kdoctor.engine.selection.codes import codes_beyond_its_text  # noqa: PLC0415 - most have none

    (now,) = codes_beyond_its_text(code) or (code,)
    return now


def _read_error(data: bytes, error: Exception) -> str:
    if b"<<<<<<<" in data and b">>>>>>>" in data:
        return "unresolved merge conflict: keep the lines of both sides, or recreate the file"
    return " ".join(str(error).split())


def _rendered(entries: Iterable[BaselineEntry], not_checked: Mapping[str, str]) -> bytes:
    """Return JSON with one line per entry, for readable diffs and merges."""
    blocks = []
    for path, group in groupby(sorted(entries), key=lambda entry: entry.path):
        rows = [f"      {_row(entry)}" for entry in group]
        blocks.append(f"    {_json_string(path)}: [\n" + ",\n".join(rows) + "\n    ]")
    files = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    text = f'{{\n  "kdoctor-baseline": {_VERSION},\n  "files": {files}'
    if not_checked:
        rows = [
            f"    {_json_string(path)}: {_json_string(why)}"
            for path, why in sorted(not_checked.items())
        ]
        text += ',\n  "not-checked": {\n' + ",\n".join(rows) + "\n  }"
    text += "\n}\n"
    return text.encode()


def _row(entry: BaselineEntry) -> str:
    fields = {
        "rule": entry.rule,
        "symbol": entry.symbol,
        "in": entry.scope,
        "source": entry.source,
        "context": entry.context,
    }
    return (
        "{"
        + ", ".join(f"{_json_string(name)}: {_json_string(text)}" for name, text in fields.items())
        + "}"
    )


def _json_string(text: str) -> str:
    """Write a string as JSON, readable where UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: a file name that is no UTF-8
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)
