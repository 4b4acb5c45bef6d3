"""Locations of findings, as people and programs read them."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from urllib.parse import quote_from_bytes

from msgspec import Struct

from kdoctor.engine.result import SkippedPart
from kdoctor.model import Finding, Place
from kdoctor.report.links import file_url, linked, rule_url
from kdoctor.report.output import Page, printable

_STDIN = "-"


def where(finding: Finding) -> str:
    """Return ``path:line:column``, with the cell in a notebook."""
    return where_placed(finding.place)


def where_placed(place: Place) -> str:
    """Return the same of any place."""
    return f"{printable(place.path)}{_cell(place.cell)}:{place.line}:{place.column}"


def where_shown(finding: Finding, page: Page) -> str:
    """Return the location in colour, as a link to the file if the terminal supports links."""
    shown = page.paint("path", where(finding))
    return linked(shown, file_url(finding.place.path)) if page.links else shown


def code_shown(finding: Finding, page: Page) -> str:
    """Return the rule's code in colour, as a link to the rule if the terminal supports links."""
    return rule_shown(finding.code, finding.name, page)


def rule_shown(code: str, name: str, page: Page, width: int = 0) -> str:
    """Return the same of any rule, padded with blanks to a width."""
    shown, blanks = page.paint("code", code), " " * (width - len(code))
    return (linked(shown, rule_url(code, name)) if page.links else shown) + blanks


def where_skipped(part: SkippedPart) -> str:
    """Return ``path:line`` of a code block, with the cell in a notebook."""
    return f"{printable(part.path)}{_cell(part.cell)}:{part.line}"


def _cell(number: int | None) -> str:
    return "" if number is None else f":cell {number}"


class SourceRoot(Struct, frozen=True):
    """The folder that paths are relative to, for programs that know the repository."""

    folder: str

    @classmethod
    def here(cls) -> SourceRoot:
        """Return the top of the git repository around the working directory, else the latter."""
        here = Path.cwd()
        tops = (folder for folder in (here, *here.parents) if (folder / ".git").exists())
        return cls(str(next(tops, here)))

    def path(self, path: str) -> str:
        """Return a path relative to the top, with ``/`` on every system; absolute if outside."""
        if path == _STDIN:
            return path
        absolute = PurePath(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        inside = absolute.is_relative_to(self.folder)
        return (absolute.relative_to(self.folder) if inside else absolute).as_posix()

    def text(self, path: str) -> str:
        """Return the path as text that any JSON reader takes: what is no UTF-8 is marked."""
        return self.path(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def uri(self, path: str) -> str:
        """Return the path as a URI reference: each byte that a URI cannot hold as ``%XX``.

        It is relative to the top; where the file lies outside, it is absolute.
        """
        found = self.path(path)
        if PurePath(found).is_absolute():
            return PurePath(found).as_uri()
        return quote_from_bytes(os.fsencode(found))
