"""The effective settings of one path, and where each value comes from."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kdoctor.config import BACKENDS, PROJECT_TYPES, SETTINGS, WRITE
from kdoctor.engine.cache.location import DEFAULT, VARIABLE
from kdoctor.engine.options import Options
from kdoctor.engine.result import ProjectNotes
from kdoctor.engine.selection.codes import chosen_codes
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.engine.selection.targets import Targets
from kdoctor.project import Layer, Settings
from kdoctor.project.root import check_exists
from kdoctor.target import Target

_DEFAULTS: Final = {
    "namespace": "keep",
    "backend": BACKENDS[0],
    "keras-2-helpers": WRITE,
    "project-types": PROJECT_TYPES,
    "preview": False,
    "unsafe": False,
    "format": "text",
    "cache-dir": DEFAULT,
}


class SettingKind(enum.StrEnum):
    """The sources of a setting; earlier ones win."""

    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"  # a variable, which note names
    FILE = "file"  # with settings of kdoctor
    PROJECT = "project"  # its other files: what it installs
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """Where a value comes from: ``path`` and ``line`` of a settings file.

    ``note`` says in words what else decides: the project's files about the target.
    """

    kind: SettingKind
    path: str = ""
    line: int | None = None
    note: str = ""

    def __str__(self) -> str:
        """Return it for people: ``pyproject.toml:12``, ``command line``."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return place or self.note or str(self.kind)


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """One setting: its value as in a file; None where no value is the default.

    ``origins`` has one for each file that adds to the value; of ``per-file-ignores``, one for each
    pattern.
    """

    key: str
    value: Any
    origins: tuple[SettingOrigin, ...]


@dataclass(frozen=True, slots=True)
class SettingsOverview:
    """All effective settings of a file or folder.

    ``files`` are those with settings, the nearest first, then what it extends. ``rules`` are the
    codes that count, of ``known``; ``excluded``: a search from above passes over the path.
    ``project`` is what is to be said about the files that decide.
    """

    path: str
    files: tuple[str, ...]
    settings: tuple[EffectiveSettings, ...]
    rules: tuple[str, ...]
    known: int
    excluded: bool
    project: ProjectNotes


def overview(
    path: str, options: Options, *, unsafe: bool | None = None, form: str | None = None
) -> SettingsOverview:
    """Return the effective settings of a path, with command-line options.

    Raises:
        UsageProblem: there is no such path, or a setting cannot be what it is.
    """
    check_exists(path)
    policy = FileSelection([path], options)
    targets = Targets(policy, options)
    option: dict[str, Any] = {**options, "unsafe": unsafe, "format": form}
    every = chosen_codes(None)
    codes = policy.codes_in(path) if os.path.isdir(path) else policy.codes(path)  # noqa: PTH112
    return SettingsOverview(
        Path(path).as_posix(),
        tuple(layer.path for layer in policy.main.layers),
        tuple(_effective_setting(key, policy, targets.main, option) for key in SETTINGS),
        every if codes is None else codes,
        len(every),
        policy.excludes_from_search(path),
        policy.with_notes(targets.notes),
    )


def _effective_setting(
    key: str, policy: FileSelection, target: Target, option: Mapping[str, Any]
) -> EffectiveSettings:
    """Return a setting from the command line, else from files, else the default."""
    settings, layer = policy.main, policy.main.layer(key)
    match key:
        case "ignore":
            return _ignore(settings, option)
        case _ if option.get(key) is not None:
            return EffectiveSettings(key, option[key], (SettingOrigin(SettingKind.COMMAND_LINE),))
        case "cache-dir" if os.environ.get(VARIABLE):
            origin = SettingOrigin(SettingKind.ENVIRONMENT, note=f"${VARIABLE}")
            return EffectiveSettings(key, os.environ[VARIABLE], (origin,))
        case "target" if layer is None:
            origin = SettingOrigin(SettingKind.PROJECT, note=target.source)
            return EffectiveSettings(key, f"{target.name}=={target.version}", (origin,))
        case _ if layer is None:
            return EffectiveSettings(key, _DEFAULTS.get(key), (SettingOrigin(SettingKind.DEFAULT),))
        case "extend":
            extending = [each for each in settings.layers if each.config.extend is not None]
            files = [each.path for each in settings.layers[1:]]
            return EffectiveSettings(key, files, tuple(_origin(each, key) for each in extending))
        case "per-file-ignores" if layer.config.per_file_ignores:
            patterns = layer.config.per_file_ignores
            return EffectiveSettings(
                key, patterns, tuple(_origin(layer, key, each) for each in patterns)
            )
    return EffectiveSettings(key, settings.value(key), (_origin(layer, key),))


def _ignore(settings: Settings, option: Mapping[str, Any]) -> EffectiveSettings:
    """Return the ignored rules: files, then the command line, add to each other."""
    entries: list[str] = []
    origins: list[SettingOrigin] = []
    for layer in settings.selecting if option.get("select") is None else ():
        if layer.config.ignore is not None:
            entries += layer.config.ignore
            origins.append(_origin(layer, "ignore"))
    if option.get("ignore") is not None:
        entries += option["ignore"]
        origins.append(SettingOrigin(SettingKind.COMMAND_LINE))
    return EffectiveSettings(
        "ignore", entries or None, tuple(origins) or (SettingOrigin(SettingKind.DEFAULT),)
    )


def _origin(layer: Layer, *key: str) -> SettingOrigin:
    return SettingOrigin(SettingKind.FILE, layer.path, layer.line(*key))
