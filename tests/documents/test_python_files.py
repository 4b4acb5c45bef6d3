"""Python files: encodings, newlines and marks come back as they were."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents import Document
from kdoctor.errors import FileProblem
from kdoctor.model import Place, Span

UNUSUAL = {
    "nothing": b"",
    "no final newline": b"x = 1",
    "windows newlines": b"x = 1\r\ny = 2\r\n",
    "mixed newlines": b"x = 1\r\ny = 2\nz = 3\rw = 4",
    "tabs and form feeds": b"if x:\n\ty = 1\n\x0c\nz = 2\n",
    "a byte order mark": codecs.BOM_UTF8 + "é = 1\n".encode(),
    "a declared Latin-1": "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"),
    "a declaration on line two": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'".encode(
        "cp1252"
    ),
    "a declaration before a lone CR": "# coding: latin-1\rname = 'é'\r".encode("latin-1"),
    "a shift-jis file": "# coding: shift_jis\nname = '日本'\n".encode("shift_jis"),
    "line separators that are none to Python": "x = 'a\u2028b\x0bc'\n".encode(),
}


@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_an_unusual_file_comes_back_byte_for_byte(data: bytes) -> None:
    document = Document.parse(data, "x.py")

    assert document.replace({0: document.units[0].sources}) == data
    assert document.replace({}) == data


@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_a_changed_file_keeps_its_encoding_mark_and_newlines(data: bytes) -> None:
    document = Document.parse(data, "x.py")

    after = document.replace({0: [document.units[0].text + "#"]})

    assert after == data + b"#"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_text_comes_back_byte_for_byte(text: str) -> None:
    data = b"# coding: utf-8\n" + text.encode()
    document = Document.parse(data, "x.py")

    assert document.units[0].text.encode() == data
    assert document.replace({0: document.units[0].sources}) == data


def test_a_unit_knows_the_newline_that_most_of_its_lines_have() -> None:
    assert Document.parse(b"a\r\nb\r\nc\n", "x.py").units[0].newline == "\r\n"
    assert Document.parse(b"a\nb\r\nc\n", "x.py").units[0].newline == "\n"
    assert Document.parse(b"", "x.py").units[0].newline == "\n"


def test_places_count_lines_and_characters_from_one() -> None:
    unit = Document.parse("é = 1\r\n\tnäme = K.sum(\r\n1)".encode(), "x.py").units[0]
    start = unit.text.index("K.sum")
    span = Span(start, len(unit.text))

    assert unit.place(span) == Place("x.py", 0, span, None, 2, 9, 3, 3)
    assert unit.line_of(start) == "\tnäme = K.sum("


def test_a_lone_carriage_return_ends_a_line_as_it_does_for_python() -> None:
    unit = Document.parse(b"a = 1\rb = 2\r", "x.py").units[0]

    assert unit.place(Span(6, 7)).line == 2
    assert unit.line_of(6) == "b = 2"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = '\xff'", "not utf-8: byte 0xff on line 1"),
        (b"# a\n# b\n\nx = '\xe9'", "byte 0xe9 on line 4"),
        (b"x = 1\0", "null byte (at byte 5)"),
        (b"# coding: klingon\n", "unknown encoding: klingon"),
        (b"# coding: rot13\n", "rot13, which is not a text encoding"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\nx = '\xe9'", "not utf-8"),
        ("x = 1".encode("utf-16"), "UTF-16; save it as UTF-8"),
        (
            b"# coding: iso2022_jp\nx = '\x1b$B\x1b(B'",
            "does not reproduce the bytes of the file; save it as UTF-8",
        ),
    ],
)
def test_a_file_that_is_not_text_says_why(data: bytes, why: str) -> None:
    with pytest.raises(FileProblem) as problem:
        Document.parse(data, "x.py")

    assert why in str(problem.value)
    assert "x.py" not in str(problem.value)  # whoever handles the file names it


def test_a_new_text_that_the_encoding_lacks_is_refused() -> None:
    document = Document.parse(b"# coding: latin-1\n", "x.py")

    with pytest.raises(FileProblem, match="iso-8859-1 cannot represent the new text"):
        document.replace({0: ["# coding: latin-1\nx = '€'"]})


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("a.pyw", b"", "python"),
        ("a.pyi", b"", "python"),
        ("A.MD", b"", "markdown"),
        ("a.markdown", b"", "markdown"),
        ("a.rst", b"", "rst"),
        ("a.ipynb", b'{"cells": []}', "notebook"),
        ("src/.py", b"", "python"),  # which is found below a folder, too
        ("-", b"", "python"),
        ("bin/train", b"#!/usr/bin/env python3\n", "python"),
        ("bin/train", b"#!/usr/bin/python3.11 -u\n", "python"),
    ],
)
def test_the_ending_or_a_shebang_tells_the_kind(path: str, data: bytes, kind: str) -> None:
    assert Document.parse(data, path).kind == kind


@pytest.mark.parametrize("path", ["notes.txt", "LICENSE", "py", "a.py/notes"])
def test_a_file_of_no_known_kind_asks_for_one(path: str) -> None:
    with pytest.raises(FileProblem, match="say what kind of file it is with --as"):
        Document.parse(b"#!/bin/sh\n", path)

    assert Document.parse(b"```py\nx\n```", path, "markdown").kind == "markdown"
