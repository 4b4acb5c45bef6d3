"""Documents that others wrote, beside the standard library and the installed packages.

That they and thousands of Python files come back byte for byte is held in
``tests/acceptance/test_corpus.py``.
"""

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from kdoctor.documents import Document
from kdoctor.model import Span
from tests.documents.conftest import assert_it_is_written_anew_as_it_was

ENDINGS = (".md", ".rst", ".ipynb")
FIXTURES = Path(__file__).parents[2] / "fixtures"


def files() -> Iterator[Path]:
    paths = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    for folder in paths:
        for path in sorted(folder.rglob("*")):
            if path.suffix in ENDINGS and path.is_file() and "tensorflow" not in path.parts:
                yield path
    yield from (path for path in FIXTURES.rglob("*.*") if path.suffix in ENDINGS)


def test_the_cells_of_real_documents_are_written_anew_as_they_were() -> None:
    for path in files():
        document = Document.parse(path.read_bytes(), str(path))
        for unit in document.units:
            assert_it_is_written_anew_as_it_was(unit, path.read_bytes().decode("utf-8-sig"))


def test_the_units_of_real_documents_are_python_and_stand_where_they_say() -> None:
    for path in files():
        document = Document.parse(path.read_bytes(), str(path))
        lines = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
        for unit in document.units:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(unit.text)
            if document.kind == "notebook":
                continue
            for offset in (at for at, it in enumerate(unit.text) if it.isalpha()):
                place = unit.place(Span(offset, offset + 1))
                assert lines[place.line - 1][place.column - 1] == unit.text[offset]


@pytest.mark.skipif(sys.platform == "win32", reason="reads this interpreter's own files")
def test_places_agree_with_pythons_own() -> None:
    path = Path(sysconfig.get_path("stdlib")) / "json" / "decoder.py"
    unit = Document.parse(path.read_bytes(), str(path)).units[0]
    starts = [0]
    for line in unit.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(unit.text)):
        if isinstance(node, ast.expr) and node.end_lineno and node.end_col_offset:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            place = unit.place(Span(start, end))
            assert (place.line, place.column) == (node.lineno, node.col_offset + 1)
            assert (place.end_line, place.end_column) == (node.end_lineno, node.end_col_offset + 1)
