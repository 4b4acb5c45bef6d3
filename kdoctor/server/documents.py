"""Open documents as drafts for the engine, and its results as ranges and text edits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from kdoctor.documents import Document, Kind
from kdoctor.documents.document import kind_by_ending
from kdoctor.documents.positions import Positions, common_start
from kdoctor.documents.requirement_files import is_requirements_file
from kdoctor.engine.open_documents import Draft
from kdoctor.model import Place, Region, Span
from kdoctor.server.text import Text

Edits = dict[str, list[types.TextEdit]]  # by the URI of the document

_KIND_OF_LANGUAGE: dict[str, Kind] = {
    "python": "python",
    "markdown": "markdown",
    "restructuredtext": "rst",
    "rst": "rst",
}
_BOM = "\ufeff"
# An editor's text has no encoding: a declared one must not be applied to our bytes.
_CODING = re.compile(r"\A((?:[^\n\r]*(?:\r\n|\r|\n))?[ \t\f]*#[^\n\r]*?)coding(?=[:=])")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")  # cannot be encoded


class OpenDocument(Protocol):
    """One version of an open document or notebook."""

    @property
    def uri(self) -> str:
        """URI of the document or notebook."""

    @property
    def version(self) -> int | None:
        """Version number of the editor."""

    @property
    def draft(self) -> Draft:
        """The draft that the engine examines."""

    @property
    def uris(self) -> Sequence[str]:
        """URIs of its documents: one, or the cells of a notebook."""

    def uri_of(self, place: Place) -> str:
        """Return the URI of the document that contains a place."""

    def ranges(self, document: Document, places: Iterable[Place]) -> dict[Place, types.Range]:
        """Return the range of each place in its document; ``document`` is the parsed draft."""

    def edits(self, after: bytes) -> Edits:
        """Return the edits that turn the draft into ``after``."""


@dataclass(frozen=True)
class TextDocument:
    """One text document."""

    uri: str
    path: str
    kind: Kind
    text: Text
    version: int | None

    @property
    def uris(self) -> Sequence[str]:
        """The document itself."""
        return (self.uri,)

    @cached_property
    def _bom(self) -> str:
        return _BOM if self.text.text.startswith(_BOM) else ""

    @cached_property
    def _source(self) -> str:
        """The text for the engine, as long as the text of the editor."""
        source = _encodable(self.text.text.removeprefix(_BOM))
        return _CODING.sub(r"\1c-ding", source) if self.kind == "python" else source

    @cached_property
    def draft(self) -> Draft:
        """The text in UTF-8."""
        return Draft(self.path, self._source.encode(), self.kind)

    def uri_of(self, place: Place) -> str:  # noqa: ARG002 - notebooks need it
        """Return the document itself."""
        return self.uri

    def ranges(self, document: Document, places: Iterable[Place]) -> dict[Place, types.Range]:
        """Return the range of each place; for a notebook opened as text, in its JSON."""
        places = list(places)
        regions = document.regions(places)
        return {place: self._range(regions.get(place, place)) for place in places}

    def _range(self, where: Place | Region) -> types.Range:
        # The byte order mark is part of the editor's first line, but not of the engine's.
        start = where.column + (len(self._bom) if where.line == 1 else 0)
        end = where.end_column + (len(self._bom) if where.end_line == 1 else 0)
        return types.Range(self.text.at(where.line, start), self.text.at(where.end_line, end))

    def edits(self, after: bytes) -> Edits:
        """Return the edits that turn the text into ``after``."""
        found = list(_edits(self._bom + self._source, self._bom + after.decode(), self.text))
        return {self.uri: found} if found else {}


@dataclass(frozen=True, slots=True)
class Part:
    """A cell of a notebook."""

    uri: str
    is_code: bool
    language: str
    text: Text


@dataclass(frozen=True)
class Notebook:
    """A notebook whose cells are documents of their own. ``language`` is that of its kernel."""

    uri: str
    path: str
    parts: tuple[Part, ...]
    version: int | None
    language: str = ""

    @property
    def uris(self) -> Sequence[str]:
        """The cells."""
        return [part.uri for part in self.parts]

    @cached_property
    def draft(self) -> Draft:
        """The notebook as it would be saved, without outputs and metadata."""
        cells = [
            {
                "cell_type": "code" if part.is_code else "markdown",
                "metadata": {"vscode": {"languageId": part.language}} if part.language else {},
                "source": _encodable(part.text.text),
            }
            for part in self.parts
        ]
        metadata = {"language_info": {"name": self.language}} if self.language else {}
        content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        return Draft(self.path, json.dumps(content).encode(), "notebook")

    def uri_of(self, place: Place) -> str:
        """Return the URI of the cell that contains a place."""
        return self._part(place).uri

    def ranges(
        self,
        document: Document,  # noqa: ARG002 - text documents need it
        places: Iterable[Place],
    ) -> dict[Place, types.Range]:
        """Return the range of each place in its cell."""
        found = {}
        for place in places:
            text = self._part(place).text
            start = text.at(place.line, place.column)
            found[place] = types.Range(start, text.at(place.end_line, place.end_column))
        return found

    def edits(self, after: bytes) -> Edits:
        """Return the edits that turn the cells into those of ``after``."""
        sources = [cell["source"] for cell in json.loads(after)["cells"]]
        found: Edits = {}
        for part, source in zip(self.parts, sources, strict=True):
            edits = list(_edits(_encodable(part.text.text), source, part.text))
            if edits:
                found[part.uri] = edits
        return found

    def _part(self, place: Place) -> Part:
        return self.parts[(place.cell or 1) - 1]


def kind_of(path: str, language: str) -> Kind | None:
    """Return the kind of a document by its name, else by the editor's language id."""
    named: Kind | None = "requirements" if is_requirements_file(path) else None
    return kind_by_ending(path) or named or _KIND_OF_LANGUAGE.get(language.lower())


def path_of(uri: str, folder: str) -> str | None:
    """Return the path of a document; an unsaved one is assumed to be in ``folder``.

    None for anything else, such as a revision of git or the output of a program.

    >>> path_of("file:///home/a%20b/c.py", "/tmp"), path_of("untitled:Untitled-1", "/tmp")
    ('/home/a b/c.py', '/tmp/Untitled-1')
    """
    from pygls.uris import to_fs_path  # noqa: PLC0415

    scheme = urlsplit(uri).scheme
    if scheme == "file":
        path = to_fs_path(uri)
        return os.path.abspath(path) if path else None  # noqa: PTH100 - links stay
    if scheme == "untitled":
        name = PurePosixPath(unquote(uri.partition(":")[2])).name
        return f"{folder}/{name or 'untitled'}"
    return None


def _edits(old: str, new: str, text: Text) -> Iterator[types.TextEdit]:
    """Yield edits in ``text`` that turn ``old`` into ``new``: disjoint, and in order."""
    head = old.rfind("\n", 0, common_start(old, new)) + 1
    tail = common_start(old[head:][::-1], new[head:][::-1])
    line = old.find("\n", len(old) - tail)  # whole lines: the comparison goes by them
    tail = 0 if line < 0 else len(old) - line - 1
    span = Span(head, len(old) - tail)
    for replacement in Positions(old).replacements(span, new[head : len(new) - tail]):
        region = replacement.region
        start = text.at(region.line, region.column)
        end = text.at(region.end_line, region.end_column)
        yield types.TextEdit(types.Range(start, end), replacement.text)


def _encodable(text: str) -> str:
    return _LONE_SURROGATES.sub("\ufffd", text)
