"""What was made of a saved model: a file that a target loads, code, and how they compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.models.convert import Change, Code, Conversion
from kdoctor.models.obstacle import Obstacle
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count
from kdoctor.target import Target
from kdoctor.verify.saved_models import Compared

_MAX_PLACES: Final = 3  # that are named of what is needed at several


class Made(Struct):
    """All that was made of one file; None where it was not asked for."""

    source: Path
    target: Target
    conversion: Conversion | None = None
    compared: Compared | None = None
    code: Code | None = None

    @property
    def exit_code(self) -> int:
        """0 all is written and equal, 1 something is in the way or differs, 2 it did not run."""
        if self.compared is not None and self.compared.error:
            return 2
        is_done = self.conversion is None or self.conversion.is_written
        is_whole = self.code is None or not self.code.by_hand
        is_equal = self.compared is None or self.compared.is_equal
        return int(not (is_done and is_whole and is_equal))


def write_made(made: Made, page: Page) -> None:
    """Write what was changed, and what came of it."""
    if made.conversion is not None:
        _write_conversion(made.conversion, page)
    if made.compared is not None:
        _write_compared(made.compared, page)
    if made.code is not None:
        _write_code(made.code, page)


def _write_conversion(made: Conversion, page: Page) -> None:
    source = page.paint("path", printable(str(made.source)))
    if not made.is_written:
        told = page.paint("error", "not converted")
        page.line(f"{source}: {told}: {count(len(set(made.refusals)), 'obstacle')}")
        _write_refusals(made.refusals, page)
        return
    to = page.paint("path", printable(str(made.to)))
    told = page.paint("good", "converted")
    given = ", ".join(f"{name}={value}" for name, value in made.load_arguments.items())
    with_them = f" with `{given}`" if given else ""
    if made.module:
        with_them += f", once {made.module} is imported"
    page.line(f"{source}: {told} to {to}, which {made.target} loads{printable(with_them)}")
    if page.verbosity >= 0:
        for each in made.changes:
            page.line(f"  {printable(_change(each))}")
        _write_needed(made.needed, page)


def _write_needed(needed: tuple[Obstacle, ...], page: Page) -> None:
    """Write what loading takes, each once, with the places that it is needed at."""
    places: dict[tuple[str, str], list[str]] = {}
    for each in needed:
        places.setdefault((each.cause, each.cure), []).append(each.place)
    for (cause, cure), at in places.items():
        more = f" and {len(at) - _MAX_PLACES} more" if len(at) > _MAX_PLACES else ""
        page.line(f"  {printable(', '.join(at[:_MAX_PLACES]) + more)}: {printable(cause)}")
        page.line(f"    {printable(cure)}")


def _write_refusals(refusals: tuple[Obstacle, ...], page: Page) -> None:
    for each in dict.fromkeys(refusals):
        place = f"layer {each.place}: " if each.place else ""
        page.line(f"  {printable(f'{place}{each.cause}')}")
        if each.cure and page.verbosity >= 0:
            page.line(f"    {printable(each.cure)}")


def _write_compared(compared: Compared, page: Page) -> None:
    ran = ", ".join(version for _, version in compared.versions)
    if compared.error:
        page.line(f"  {page.paint('error', 'not compared')}: {printable(compared.error)}")
    elif compared.unlike:
        page.line(f"  {page.paint('error', 'unlike')} ({ran})")
        for each in compared.unlike:
            page.line(f"    {printable(each)}")
    else:
        inputs = count(compared.cases, "input")
        weights = count(compared.weights, "weight")
        equal = page.paint("good", "equal")
        page.line(f"  {equal}: {weights}, and the outputs for {inputs} to 1e-5 ({ran})")


def _write_code(code: Code, page: Page) -> None:
    to = page.paint("path", printable(str(code.to)))
    page.line(f"{page.paint('path', printable(str(code.source)))}: written as code to {to}")
    if code.by_hand:
        number = count(len(code.by_hand), "layer")
        page.line(f"  {number} must be written by hand, at each `TODO` in it:")
        _write_refusals(code.by_hand, page)


def write_json(made: Made, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "file": str(made.source),
        "target": str(made.target),
        "conversion": None if made.conversion is None else _conversion(made.conversion),
        "verified": None if made.compared is None else _compared(made.compared),
        "code": None
        if made.code is None
        else {"to": str(made.code.to), "by_hand": [_refusal(each) for each in made.code.by_hand]},
    }
    page.line(json.dumps(document, indent=2))


def _conversion(made: Conversion) -> dict[str, Any]:
    return {
        "to": str(made.to),
        "is_written": made.is_written,
        "changes": [{"place": each.place, "text": each.text} for each in made.changes],
        "needed": [_refusal(each) for each in made.needed],
        "load_arguments": made.load_arguments,
        "import": made.module,
        "refusals": [_refusal(each) for each in made.refusals],
    }


def _compared(compared: Compared) -> dict[str, Any]:
    return {
        "is_equal": compared.is_equal,
        "inputs": compared.cases,
        "weights": compared.weights,
        "unlike": list(compared.unlike),
        "error": compared.error,
        "versions": dict(compared.versions),
    }


def _refusal(each: Obstacle) -> dict[str, str]:
    return {
        "place": each.place,
        "cause": each.cause,
        "cure": each.cure,
        "fault": str(each.fault),
        "subject": each.subject,
    }


def _change(change: Change) -> str:
    return f"{change.place}: {change.text}" if change.place else change.text
