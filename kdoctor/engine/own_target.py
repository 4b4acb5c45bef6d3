"""The target that a file has by its own code, whatever the project says."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from kdoctor.documents import Document, Unit
from kdoctor.engine.result import OwnTarget
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.model import Edit, Place
from kdoctor.modules.legacy_switch import LegacySwitch
from kdoctor.target import Target

_INSTALL: Final = "install"


class Installed(Struct, frozen=True):
    """The target that the magics of a notebook install, and the first that does."""

    target: Target
    why: str
    place: Place


def installed_by(document: Document) -> Installed | None:
    """Return what a notebook installs by ``!pip`` or ``%pip``, None where that is open.

    What is indented may not run, and says nothing.
    """
    if document.kind != "notebook":
        return None
    calls = [
        (unit, mask, text)
        for unit in document.units
        for mask in unit.masks
        if _INSTALL in (text := "".join(map(str, mask.parts))) and _begins_a_line(unit, mask)
    ]
    if not calls:
        return None
    # Imported for few notebooks.
    from kdoctor.project.chain import target_of  # noqa: PLC0415
    from kdoctor.project.installer_calls import installed  # noqa: PLC0415

    said = [
        (unit, mask, each)
        for unit, mask, text in calls
        for each in installed(text, document.path)
        if each.specifiers
    ]
    target = target_of((each for _, _, each in said), document.path) if said else None
    if target is None:
        return None
    target = target.as_examined
    unit, mask, _ = said[0]
    place = unit.place(mask.span)
    requirements = " and ".join(f"`{each.requirement}`" for _, _, each in said)
    why = f"line {place.line} of cell {place.cell} installs {requirements}"
    return Installed(target, why, place)


def _begins_a_line(unit: Unit, mask: Edit) -> bool:
    start = mask.span.start
    cell = unit.cell_at(start)
    return start == cell.span.start or unit.text[start - 1] in "\r\n"


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
