"""The findings on requirements that keep the code on Keras 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from kdoctor.documents import Document, Unit
from kdoctor.documents.requirement_files import is_requirements_file
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.project.pins import Pin, pins_in, pins_of_calls
from kdoctor.rewrite import render
from kdoctor.rules.environment._pin_rule import CODE, NAME
from kdoctor.target import Target

SETUP: Final = "setup.py"
REQUIREMENTS: Final = "requirements.txt"
_INSTALL: Final = "install"
_UNSAFE: Final = (
    "it installs another release for all code that uses these requirements, and what else they "
    "name may need the old one"
)


class _Text(Struct, frozen=True):
    """A text in a unit that calls an installer: a magic, or all of it."""

    unit: Unit
    span: Span
    text: str


def concerns(target: Target) -> bool:
    """Say whether a target can be contradicted: it is asked for, and a Keras 3."""
    return target.asked and not target.is_before_keras_3


def findings_of_document(document: Document, target: Target) -> Iterator[Finding]:
    """Yield the findings on what a document has installed, in source order."""
    path = document.path
    if document.kind == "requirements":
        for unit in document.requirements:
            name = path if is_requirements_file(path) else REQUIREMENTS
            yield from findings_of_unit(unit, pins_in(path, unit.text, target, name))
    elif document.kind == "python":
        if path.replace("\\", "/").rpartition("/")[2] == SETUP:
            yield from findings_of_setup(document.units[0], target)
    else:
        yield from _of_calls(list(_texts(document)), target)


def findings_of_setup(unit: Unit, target: Target) -> Iterator[Finding]:
    """Yield the findings on what the call of ``setup`` in a module requires."""
    return findings_of_unit(unit, pins_in(unit.path, unit.text, target, SETUP))


def findings_of_unit(unit: Unit, pins: Sequence[Pin]) -> Iterator[Finding]:
    """Yield the findings on pins whose places count in the text of a unit."""
    for pin in pins:
        yield _finding(unit, pin, pin.span, () if pin.edit is None else (pin.edit,))


def _texts(document: Document) -> Iterator[_Text]:
    for unit in document.units:
        for mask in unit.masks:
            text = "".join(map(str, mask.parts))
            if _INSTALL in text:
                yield _Text(unit, mask.span, text)
    for unit in document.requirements:
        yield _Text(unit, Span(0, len(unit.text)), unit.text)


def _of_calls(texts: Sequence[_Text], target: Target) -> Iterator[Finding]:
    """Yield the findings on calls of installers; those of a document know of each other."""
    for number, each in enumerate(texts):
        beside = "\n".join(one.text for at, one in enumerate(texts) if at != number)
        pins = pins_of_calls(each.text, each.unit.path, target, beside=beside)
        if not each.unit.is_code:
            yield from findings_of_unit(each.unit, pins)
            continue
        edits = _as_one_edit(each, pins)
        for pin in pins:
            start = each.span.start
            place = Span(start + pin.span.start, start + pin.span.end)
            yield _finding(each.unit, pin, place, edits if pin.edit is not None else ())


def _as_one_edit(each: _Text, pins: Sequence[Pin]) -> tuple[Edit, ...]:
    """Return the edit of a magic: it is put back as a whole."""
    edits = [pin.edit for pin in pins if pin.edit is not None]
    if not edits:
        return ()
    new = render(each.text, edits, Span(0, len(each.text)), "\n")
    return (Edit(each.span, (new,)),)


def _finding(unit: Unit, pin: Pin, place: Span, edits: tuple[Edit, ...]) -> Finding:
    has_new = bool(edits)
    title = f"Write `{pin.instead}`"
    fix = Fix(title, edits, Applicability.UNSAFE, unsafe_because=_UNSAFE) if has_new else None
    return Finding(
        code=CODE,
        name=NAME,
        place=unit.place(place),
        message=f"`{pin.requirement}` allows no Keras 3: what is installed from here is Keras 2",
        severity=Severity.ERROR,
        confidence=Confidence.CERTAIN,
        symbol=pin.package,
        help=f"{title}." if pin.is_written_by_hand else "Let its tool lock the project again.",
        fix=fix,
        no_fix_because=None if has_new else pin.why_not,
    )
