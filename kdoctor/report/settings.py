"""Reports of the effective settings for a path, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from kdoctor.config import schema
from kdoctor.engine.selection.effective_settings import (
    EffectiveSettings,
    SettingOrigin,
    SettingsOverview,
)
from kdoctor.report.formats import format_names
from kdoctor.report.output import Page, printable

_NOTHING: Final = {"select": "all rules", "extend": "no file"}


def write_text(found: SettingsOverview, page: Page) -> None:
    """Write which files apply, then each setting with its value and origin."""
    page.line(f"{page.paint('path', printable(found.path))}: {_deciding(found)}")
    page.line()
    rows = [row for setting in found.settings for row in _rows(setting)]
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for key, value, origin in rows:
        is_default = origin in {"", "default"}
        padded = f"{value:{min(values, 60)}}"
        shown = padded if is_default else page.paint("good", padded)
        page.line(f"  {key:{keys}}  {shown}  {page.paint('quiet', origin)}".rstrip())
    page.line()
    page.line(_rules(found))
    if found.excluded:
        page.line("It is excluded: read only if it is named itself, and not with --force-exclude.")


def write_json(found: SettingsOverview, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "path": found.path,
        "files": list(found.files),
        "settings": {
            each.key: {"value": each.value, "from": [_from(origin) for origin in each.origins]}
            for each in found.settings
        },
        "rules": list(found.rules),
        "excluded": found.excluded,
        "conflicts": list(found.project.conflicts),
        "unreadable": [{"path": file.path, "why": file.why} for file in found.project.unreadable],
    }
    page.line(json.dumps(document, indent=2))


def write_schema(page: Page) -> None:
    """Write the JSON schema of a settings file."""
    page.line(json.dumps(schema(format_names()), indent=2))


def _deciding(found: SettingsOverview) -> str:
    if not found.files:
        return "no kdoctor.toml or [tool.kdoctor] applies; these are the defaults"
    nearest, *extended = map(printable, found.files)
    return nearest + (f", which extends {', then '.join(extended)}" if extended else "")


def _rows(setting: EffectiveSettings) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and origin; the key only once if there are several origins."""
    values = list(_values(setting))
    pairs = zip_longest(values, map(str, setting.origins), fillvalue="")
    for number, (value, origin) in enumerate(pairs):
        yield "" if number else setting.key, printable(value), printable(origin)


def _values(setting: EffectiveSettings) -> Iterator[str]:
    value = setting.value
    if isinstance(value, dict) and value:
        yield from (f"{pattern}: {', '.join(rules)}" for pattern, rules in value.items())
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is None:
        yield _NOTHING.get(setting.key, "nothing")
    elif isinstance(value, str):
        yield value
    else:
        yield ", ".join(value) or "nothing"


def _rules(found: SettingsOverview) -> str:
    counted, known = len(found.rules), found.known
    if counted == known:
        return f"All {known} rules are selected."
    if counted <= 12:
        listed = f": {', '.join(found.rules)}" if counted else ""
        return f"{counted} of {known} rules are selected{listed}"
    return f"{counted} of {known} rules are selected; --json lists them."


def _from(origin: SettingOrigin) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": origin.kind.value}
    if origin.path:
        told |= {"path": origin.path, "line": origin.line}
    if origin.note:
        told["note"] = origin.note
    return told
