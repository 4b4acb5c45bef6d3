"""The code of a notebook, only to find words in it: fast, and without its outputs."""

from __future__ import annotations

import msgspec


class _Cell(msgspec.Struct, gc=False):
    source: str | list[str] = ""


class _Notebook(msgspec.Struct, gc=False):
    cells: list[_Cell]


def code_of(data: bytes) -> bytes | None:
    """Return the text of all cells, None where that is left to the reader of notebooks.

    Which is so of what is no notebook, or one of the formats 2 and 3, with their worksheets.
    """
    try:
        notebook = msgspec.json.decode(data, type=_Notebook)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    sources = (cell.source for cell in notebook.cells)
    texts = (each if isinstance(each, str) else "".join(each) for each in sources)
    return "\n".join(texts).encode("utf-8", "replace")
