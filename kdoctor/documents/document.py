"""Document: a file as units of Python, written back with untouched bytes unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import PurePosixPath
from typing import Literal, get_args

from msgspec import Struct

from kdoctor.documents.discovery import MODEL_ENDINGS
from kdoctor.documents.encoding import (
    Decoded,
    decode_any,
    decode_python,
    decode_utf8,
    why_not_text,
)
from kdoctor.documents.layout import Plain
from kdoctor.documents.python_source import read_python
from kdoctor.documents.requirement_files import is_requirements_file
from kdoctor.documents.unit import Skipped, TextExcerpt, Unit, regrouped, text_unit
from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.model import Place, Region, Span

Kind = Literal["python", "notebook", "markdown", "rst", "requirements"]

_KIND_OF_ENDING: Mapping[str, Kind] = {
    ".py": "python",
    ".pyw": "python",
    ".pyi": "python",
    ".ipynb": "notebook",
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
}
_SHEBANG = pattern(rb"(?:\xef\xbb\xbf)?#!.*\bpython[\d.]*\b")
_Reader = Callable[[str, str], tuple[tuple[Unit, ...], tuple[Skipped, ...]]]


class Document(Struct, frozen=True, dict=True):
    """A parsed file.

    ``units`` are its Python; what it says in other words of what is to be installed is in
    ``requirements``, whose indices go on behind theirs. Its problems name no path: whoever handles
    the file adds it.
    """

    path: str
    kind: Kind
    units: tuple[Unit, ...]
    skipped: tuple[Skipped, ...]
    _data: bytes
    _decoded: Decoded

    @classmethod
    def parse(
        cls, data: bytes, path: str, kind: Kind | None = None, like: Document | None = None
    ) -> Document:
        """Take a file apart. Without ``kind``, the path's ending or a Python shebang tells it.

        ``like`` is what the file was before a fix: its fences go together as they did, though
        one may need another name now.

        Raises:
            FileProblem: the bytes are not text in the encoding they should be, the notebook is
                no JSON or no notebook, or nothing tells what kind of file it is.
        """
        kind = kind or kind_of(path, data)
        if kind == "python":
            decoded = decode_python(data)
            return cls(path, kind, (read_python(decoded.text, path),), (), data, decoded)
        if kind == "requirements":
            return cls(path, kind, (), (), data, decode_any(data))
        decoded = decode_utf8(data)
        units, skipped = _reader(kind)(decoded.text, path)
        if like is not None:
            units = regrouped(units, like.units)
        return cls(path, kind, units, skipped, data, decoded)

    @property
    def text(self) -> str:
        """The whole file, decoded, without a byte order mark."""
        return self._decoded.text

    @cached_property
    def requirements(self) -> tuple[Unit, ...]:
        """What says in other words than Python's what is to be installed.

        That is all of a requirements file, of Markdown the commands in its fences, and of a
        notebook its cells of shell commands.
        """
        first = len(self.units)
        if self.kind == "requirements":
            whole = TextExcerpt(Span(0, len(self.text)), 1, Plain(self.text))
            return (text_unit(self.path, first, whole),)
        if self.kind == "notebook" and "%%" in self.text and "install" in self.text:
            from kdoctor.documents.notebook import shell_cells  # noqa: PLC0415 - as its reader

            cells = enumerate(shell_cells(self.text), first)
            return tuple(text_unit(self.path, at, each, number) for at, (number, each) in cells)
        if self.kind != "markdown" or "install" not in self.text:
            return ()
        from kdoctor.documents.markdown import commands_in  # noqa: PLC0415 - as its reader

        commands = commands_in(self.text)
        return tuple(text_unit(self.path, first + at, each) for at, each in enumerate(commands))

    @property
    def parts(self) -> tuple[Unit, ...]:
        """The units, and behind them the requirements."""
        return (*self.units, *self.requirements)

    def part(self, index: int) -> Unit:
        """Return a unit, or what is behind them."""
        count = len(self.units)
        return self.units[index] if index < count else self.requirements[index - count]

    def replace(self, texts: Mapping[int, Sequence[str]]) -> bytes:
        """Return the file with new texts in some units: ``{unit index: the text of each cell}``.

        The texts are the user's: magics are put back in them. Where a text is the old one, its
        bytes stay as they are.

        Raises:
            FileProblem: the file's encoding cannot hold a new text.
            ValueError: a unit does not exist or has another number of cells.
        """
        changes = self.changes(texts)
        if not changes:
            return self._data
        pieces: list[str] = []
        at = 0
        for span, new in changes:
            pieces += [self.text[at : span.start], new]
            at = span.end
        return self._decoded.encode("".join([*pieces, self.text[at:]]))

    def changes(self, texts: Mapping[int, Sequence[str]]) -> list[tuple[Span, str]]:
        """Return what new texts change in the text of the file, a cell each, in order.

        Raises:
            ValueError: a unit does not exist or has another number of cells.
        """
        return sorted(
            (cell.excerpt.span, cell.excerpt.render(text, self.text))
            for index, new_texts in texts.items()
            for cell, text in zip(self.part(index).cells, new_texts, strict=True)
            if text != cell.excerpt.layout.text
        )

    def regions(self, places: Iterable[Place]) -> dict[Place, Region]:
        """Say where places in a notebook's cells stand in its JSON; nothing of other documents.

        There a place is where it stands in the file.
        """
        if self.kind != "notebook":
            return {}
        from kdoctor.documents.notebook import regions_in_json  # noqa: PLC0415 - as its reader

        return regions_in_json(self.text, self.parts, places)


def kind_of(path: str, data: bytes) -> Kind:
    """Tell what kind of file it is by its name, else by a shebang; standard input is Python.

    Raises:
        FileProblem: both are missing or unknown.
    """
    kind = kind_by_ending(path)
    if kind is not None:
        return kind
    if is_requirements_file(path):
        return "requirements"
    if path == "-" or _SHEBANG.match(data):
        return "python"
    found = why_not_text(data)
    if found is not None:
        hint = f"; `kdoctor model {path}` looks at it" if path.endswith(MODEL_ENDINGS) else ""
        raise FileProblem(f"not text, but {found}{hint}")
    ending = PurePosixPath(path).suffix
    what = f"the extension {ending} is unknown" if ending else "the file has no extension"
    kinds = ", ".join(get_args(Kind))
    raise FileProblem(f"{what}; say what kind of file it is with --as ({kinds})")


def kind_by_ending(path: str) -> Kind | None:
    """Tell what kind of file it is by its name alone, be that nothing but an ending: ``.py``."""
    dot, ending = path.rpartition(".")[1:]
    return _KIND_OF_ENDING.get(f"{dot}{ending.lower()}")


def _reader(kind: Kind) -> _Reader:
    """Return what reads a kind of text, imported no sooner: most runs meet Python files alone."""
    module = import_module(f"kdoctor.documents.{kind}")
    reader: _Reader = getattr(module, f"read_{kind}")
    return reader
