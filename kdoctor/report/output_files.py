"""Reports written to files in addition to the screen: ``--output FORMAT=FILE``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.report.formats import Format, format_by_name, name_by_ending
from kdoctor.report.output import Page

if TYPE_CHECKING:
    from kdoctor.engine.result import ScanResult

_NAMED = r"(?s)([a-zA-Z_]+)=(.+)"
_NAMELESS = r"[a-zA-Z_]+="


class Output(Struct, frozen=True):
    """A file and the format of the report in it."""

    form: Format
    path: str


def outputs_of(asked: Iterable[str]) -> list[Output]:
    """Parse the values of ``--output``: each is ``FORMAT=FILE``, or a file with a known extension.

    Called before a scan, so that a mistake is reported at once.

    Raises:
        UsageProblem: there is no such format, no ending tells it, no file is named, or the folder
            does not exist.
    """
    return [_output(entry) for entry in asked]


def _output(asked: str) -> Output:
    if not asked or re.fullmatch(_NAMELESS, asked):
        shown = asked or "''"
        raise UsageProblem(f"--output {shown}: the file is missing; write --output FORMAT=FILE")
    named = re.fullmatch(_NAMED, asked)
    name, path = named.groups() if named else (name_by_ending(asked), asked)
    if name is None:
        raise UsageProblem(
            f"--output {asked}: no format has this extension; write --output FORMAT={asked}"
        )
    form = format_by_name(name)
    check_place(path, f"--output {asked}")
    return Output(form, path)


def check_place(path: str, asked: str) -> None:
    """Check that a file can be written to ``path``; ``asked`` is the option, for errors.

    Raises:
        UsageProblem: its folder does not exist, or it is a folder itself, or standard output.
    """
    if path == "-":
        raise UsageProblem(f"{asked}: standard output is not a file; write ./- for a file named -")
    place = Path(path)
    if not place.parent.is_dir():
        raise UsageProblem(f"{asked}: there is no folder {place.parent}; create it first")
    if place.is_dir():
        raise UsageProblem(f"{asked}: {place} is a folder; name a file in it")


def write_outputs(result: ScanResult, outputs: Iterable[Output]) -> None:
    """Write each report in full and without colours, whatever the screen shows.

    Raises:
        UsageProblem: a file cannot be written.
    """
    for output in outputs:
        text = io.StringIO()
        output.form.write(result, Page(text, folded=False))
        write_whole(output.path, text.getvalue(), f"--output {output.path}")


def write_whole(path: str, text: str, asked: str) -> None:
    """Write a report to a file, completely or not at all.

    Raises:
        UsageProblem: it cannot be written.
    """
    from kdoctor.documents.writing import write_anew  # noqa: PLC0415 - hardly ever asked for

    try:
        write_anew(path, text.encode("utf-8", "surrogateescape"))
    except FileProblem as problem:
        raise UsageProblem(f"{asked}: {problem}") from problem
