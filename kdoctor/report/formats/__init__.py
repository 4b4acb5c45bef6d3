"""Formats of a scan's report. One file is one format; its name is what ``--format`` takes.

A format's module has a constant ``FORMAT``. Nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kdoctor.errors import UsageProblem
from kdoctor.report.page import Page

if TYPE_CHECKING:  # the names of the formats stand in --help, which needs no engine
    from kdoctor.engine.result import ScanResult


@dataclass(frozen=True, slots=True)
class Format:
    """How a scan is written. ``diffs`` says whether it shows each finding's fix as a diff."""

    write: Callable[[ScanResult, Page], None]
    diffs: bool = False


def format_names() -> list[str]:
    """Return the names that ``--format`` takes, without importing any of them."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def format_by_name(name: str) -> Format:
    """Return one format.

    Raises:
        UsageProblem: there is none of this name.
    """
    if name not in format_names():
        raise UsageProblem(f"unknown format {name!r}; choose one of: {', '.join(format_names())}")
    found: Format = importlib.import_module(f"{__name__}.{name}").FORMAT
    return found
