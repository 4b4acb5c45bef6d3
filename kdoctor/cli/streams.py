"""Standard output and standard error as pages to write on."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TextIO

from msgspec.structs import replace

from kdoctor.cli.choices import Color
from kdoctor.report.links import wants_links
from kdoctor.report.output import Page, is_terminal, wants_color


def output(
    color: Color,
    *,
    quiet: bool = False,
    verbose: bool = False,
    arguments: str = "PATH",
    folded: bool = True,
) -> Page:
    """Return the page for results: standard output."""
    page = _page(sys.stdout, color, arguments, quiet=quiet, verbose=verbose)
    return replace(page, folded=folded)


def notes(
    color: Color, *, quiet: bool = False, verbose: bool = False, arguments: str = "PATH"
) -> Page:
    """Return the page for notes about the work: standard error."""
    return _page(sys.stderr, color, arguments, quiet=quiet, verbose=verbose)


def _page(stream: TextIO, color: Color, arguments: str, *, quiet: bool, verbose: bool) -> Page:
    if isinstance(stream, io.TextIOWrapper):
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            # A diff must come out as the bytes of the files, also those that are no UTF-8.
            stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    painted = _in_color(stream, color)
    return Page(
        stream,
        color=painted,
        verbosity=verbose - quiet,
        links=painted and wants_links(stream),
        width=shutil.get_terminal_size().columns if is_terminal(stream) else 0,
        arguments=arguments,
    )


def _in_color(stream: TextIO, color: Color) -> bool:
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    return wants_color(stream)
