"""The target that a file has by its own code, whatever the project says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kdoctor.documents import Document, Unit
from kdoctor.engine.result import OwnTarget
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Place, Span
from kdoctor.modules.legacy_switch import LegacySwitch
from kdoctor.target import Target

_INSTALL: Final = "install"
_SHELL_COMMAND: Final = pattern(r"^[^\s\\](?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
"""A line that is not indented, with those that it goes on in behind a backslash."""


class Installed(Struct, frozen=True):
    """The target that a notebook installs, and the first place that does."""

    target: Target
    why: str
    place: Place


def installed_by(document: Document) -> Installed | None:
    """Return what a notebook installs by ``!pip``, ``%pip`` or in ``%%bash``, None if it is open.

    What is indented may not run, and says nothing.
    """
    if document.kind != "notebook" or _INSTALL not in document.text:
        return None
    calls = [*_in_magics(document), *_in_shell_cells(document)]
    if not calls:
        return None
    # Imported for few notebooks.
    from kdoctor.project.chain import target_of  # noqa: PLC0415
    from kdoctor.project.installer_calls import installed  # noqa: PLC0415

    said = [
        (place, each)
        for place, text in calls
        for each in installed(text, document.path)
        if each.specifiers
    ]
    target = target_of((each for _, each in said), document.path) if said else None
    if target is None:
        return None
    target = target.as_examined
    place = min((place for place, _ in said), key=lambda each: (each.cell or 0, each.line))
    requirements = " and ".join(f"`{each.requirement}`" for _, each in said)
    why = f"line {place.line} of cell {place.cell} installs {requirements}"
    return Installed(target, why, place)


def _in_magics(document: Document) -> Iterator[tuple[Place, str]]:
    """Yield the magics of a notebook that may install something, each with its place."""
    for unit in document.units:
        for mask in unit.masks:
            text = "".join(map(str, mask.parts))
            if _INSTALL in text and _begins_a_line(unit, mask):
                yield unit.place(mask.span), text


def _begins_a_line(unit: Unit, mask: Edit) -> bool:
    start = mask.span.start
    cell = unit.cell_at(start)
    return start == cell.span.start or unit.text[start - 1] in "\r\n"


def _in_shell_cells(document: Document) -> Iterator[tuple[Place, str]]:
    """Yield the commands of a notebook's cells of a shell that may install something."""
    for unit in document.requirements:
        for command in _SHELL_COMMAND.finditer(unit.text):
            if _INSTALL in command[0]:
                yield unit.place(Span(*command.span())), command[0]


def own_target(
    path: str, options: ScanOptions, target: Target, because: LegacySwitch | Installed
) -> OwnTarget:
    """Return the note that a file has its own target, and why."""
    return OwnTarget(
        path,
        str(options.target),
        target.tf_keras_version,
        because.why,
        counts=not options.is_target_explicit,
        place=because.place,
        keras=str(target) if isinstance(because, Installed) else "",
    )
