"""Standard output and standard error as pages to write on."""

from __future__ import annotations

import io
import sys
from typing import TextIO

from kdoctor.cli.choices import Color
from kdoctor.report.links import wants_links
from kdoctor.report.output import Page, wants_color


def output(color: Color, *, quiet: bool = False, verbose: bool = False) -> Page:
    """Return the page for results: standard output."""
    return _page(sys.stdout, color, quiet=quiet, verbose=verbose)


def notes(color: Color, *, quiet: bool = False, verbose: bool = False) -> Page:
    """Return the page for notes about the work: standard error."""
    return _page(sys.stderr, color, quiet=quiet, verbose=verbose)


def _page(stream: TextIO, color: Color, *, quiet: bool, verbose: bool) -> Page:
    if isinstance(stream, io.TextIOWrapper):
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            # A diff must come out as the bytes of the files, also those that are no UTF-8.
            stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    painted = _in_color(stream, color)
    return Page(
        stream, color=painted, verbosity=verbose - quiet, links=painted and wants_links(stream)
    )


def _in_color(stream: TextIO, color: Color) -> bool:
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    return wants_color(stream)
