"""Formats of a scan's report, one file each; the file name is what ``--format`` takes.

A format's module has a constant ``FORMAT``. Nothing else lists it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.errors import UsageProblem
from kdoctor.report.output import Page

if TYPE_CHECKING:  # the names of the formats stand in --help, which needs no engine
    from kdoctor.engine.result import ScanResult


class Format(Struct, frozen=True):
    """How a scan is written.

    ``diffs`` and ``replacements`` say whether it shows what each finding's fix changes, as a diff
    or for programs, ``fingerprints`` whether it tells by what each is known again; ``statistics``
    whether it can write the counts by rule instead. ``ending`` is that of a file which must be of
    this format.
    """

    write: Callable[[ScanResult, Page], None]
    diffs: bool = False
    replacements: bool = False
    fingerprints: bool = False
    statistics: Callable[[ScanResult, Page], None] | None = None
    ending: str = ""


def format_names() -> list[str]:
    """Return the names that ``--format`` takes, without importing any of them."""
    files = (file for folder in __path__ for file in os.listdir(folder))  # noqa: PTH208 - hot
    return sorted(f[:-3] for f in files if f.endswith(".py") and not f.startswith("_"))


def format_by_name(name: str, where: str = "") -> Format:
    """Return a format by its name; ``where`` is the start of an error message.

    Raises:
        UsageProblem: there is none of this name.
    """
    if name not in format_names():
        known = ", ".join(format_names())
        raise UsageProblem(f"{where}unknown format {name!r}; choose one of: {known}")
    found: Format = importlib.import_module(f"{__name__}.{name}").FORMAT
    return found


def statistics_of(name: str) -> Callable[[ScanResult, Page], None]:
    """Return the function that writes the counts by rule in one format.

    Raises:
        UsageProblem: there is no such format, or it has no place for counts.
    """
    write = format_by_name(name).statistics
    if write is None:
        able = [each for each in format_names() if format_by_name(each).statistics]
        raise UsageProblem(f"--statistics requires --format {', '.join(able)}; not {name}")
    return write


def name_by_ending(path: str) -> str | None:
    """Return the name of the format with a file's extension, if any."""
    endings = {name: format_by_name(name).ending for name in format_names()}
    return next(
        (name for name, ending in endings.items() if ending and path.lower().endswith(ending)), None
    )
