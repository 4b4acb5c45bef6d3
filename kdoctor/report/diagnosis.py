"""Reports of a diagnosis, for people and programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kdoctor import __version__
from kdoctor.diagnose import Diagnosis, Fault, Raised, Step, StepKind, TracebackFrame
from kdoctor.report.output import Page, printable

if TYPE_CHECKING:
    from kdoctor.models import Explained

_WIDTH = 96
_ROLES = {"+": "added", "-": "removed", "@": "hunk"}


def write_text(diagnosis: Diagnosis, page: Page) -> None:
    """Write a diagnosis: the meaning, whose fault it is and why, the remedy, what to read."""
    error = diagnosis.error
    if error is not None and error.line:
        page.line(page.paint("error", printable(error.line)))
        page.line()
    for line in textwrap.wrap(printable(diagnosis.meaning), _WIDTH):
        page.line(line)
    if diagnosis.only_if:
        _write_block("only if", diagnosis.only_if, page)
    page.line()
    _write_block("fault", fault_in_words(diagnosis), page)
    if diagnosis.place is not None and diagnosis.place.source:
        page.line(f"    {printable(diagnosis.place.source.strip())}")
    if page.verbosity >= 0:
        for each in diagnosis.evidence:
            _write_block("because", each, page)
        for each in diagnosis.ruled_out:
            _write_block("ruled out", each, page)
    if diagnosis.steps:
        page.line()
    for step in diagnosis.steps:
        _write_step(step, page)
    if diagnosis.rule:
        page.line()
        page.line(f"{page.paint('help', 'read:')} kdoctor explain {diagnosis.rule}")
    if diagnosis.source and page.verbosity >= 0:
        page.line(f"{page.paint('help', 'source:')} {printable(diagnosis.source)}")


def fault_in_words(diagnosis: Diagnosis) -> str:
    """Return whose fault an error is in one phrase, with the place."""
    where = f" ({diagnosis.place})" if diagnosis.place is not None and diagnosis.place.path else ""
    match diagnosis.fault:
        case Fault.YOUR_CODE if where:
            return f"your line{where}"
        case Fault.YOUR_CODE:
            return "the code that was run (the text shows no file)"
        case Fault.PACKAGE:
            return f"the package {diagnosis.package}{where}"
        case Fault.INSTALLATION:
            return "what is installed, not your code"
        case Fault.NOT_KERAS:
            return "not a Keras problem"
        case _:
            return "not known"


def _write_block(label: str, text: str, page: Page) -> None:
    lines = textwrap.wrap(printable(text), _WIDTH - 4, break_long_words=False) or [""]
    page.line(f"{page.paint('help', f'{label}:')} {lines[0]}")
    for line in lines[1:]:
        page.line(f"    {line}")


def _write_step(step: Step, page: Page) -> None:
    label = page.paint("help", "fix:")
    note = printable(step.note)
    match step.kind:
        case StepKind.DIFF:
            page.line(f"{label} {note}")
            for line in step.text.rstrip("\n").split("\n"):
                role = "path" if line.startswith(("--- ", "+++ ", "# ")) else _ROLES.get(line[:1])
                shown = printable(line)
                page.line(f"    {page.paint(role, shown) if role else shown}".rstrip())
        case StepKind.COMMAND | StepKind.ENVIRONMENT | StepKind.CODE:
            first, *rest = step.text.split("\n")
            page.line(f"{label} {page.paint('good', printable(first))}")
            for line in rest:
                page.line(f"     {page.paint('good', printable(line))}".rstrip())
            for line in textwrap.wrap(note, _WIDTH - 4):
                page.line(f"    {line}")
        case _:
            _write_block("fix", f"{printable(step.text)}{f' ({note})' if note else ''}", page)


def write_json(diagnosis: Diagnosis, page: Page, models: Sequence[Explained] = ()) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed.

    ``models`` are the saved models that the error names, are at hand, and do not load.
    """
    told = document(diagnosis)
    if models:
        from kdoctor.report.saved_model import document_of  # noqa: PLC0415 - few errors name one

        told["saved_models"] = [document_of(each) for each in models]
    page.line(json.dumps(told, indent=2))


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as plain data."""
    target = diagnosis.target
    return {
        "kdoctor": __version__,
        "fault": diagnosis.fault.value,
        "known": diagnosis.is_known,
        "meaning": diagnosis.meaning,
        "only_if": diagnosis.only_if or None,
        "package": diagnosis.package or None,
        "error": diagnosis.error and _error(diagnosis.error),
        "place": diagnosis.place and _frame(diagnosis.place),
        "evidence": list(diagnosis.evidence),
        "ruled_out": list(diagnosis.ruled_out),
        "fix": [
            {"kind": step.kind.value, "text": step.text, "note": step.note or None}
            for step in diagnosis.steps
        ],
        "rule": diagnosis.rule or None,
        "source": diagnosis.source or None,
        "target": target
        and {"name": target.name, "version": target.version, "source": target.source},
    }


def _error(error: Raised) -> dict[str, Any]:
    return {
        "type": error.type or None,
        "message": error.message,
        "frames": [_frame(frame) for frame in error.frames],
        "led_to_by": [each.line for each in _before(error)],
    }


def _before(error: Raised) -> Iterator[Raised]:
    earlier = error.before
    while earlier is not None:
        yield earlier
        earlier = earlier.before


def _frame(frame: TracebackFrame) -> dict[str, Any]:
    return {
        "path": frame.path,
        "line": frame.line,
        "function": frame.function or None,
        "source": frame.source or None,
        "whose": frame.origin.value,
    }
