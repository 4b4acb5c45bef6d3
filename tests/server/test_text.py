"""Positions as an editor counts them, and changes of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from kdoctor.server.documents import TextDocument, kind_of, path_of
from kdoctor.server.text import Encoding, Text

UTF_16 = {Encoding.Utf8: "utf-8", Encoding.Utf16: "utf-16-le", Encoding.Utf32: "utf-32-le"}
WIDTHS = {Encoding.Utf8: 1, Encoding.Utf16: 2, Encoding.Utf32: 4}
texts = st.text(st.sampled_from("aK.é✓🎉\u2028\x0c\x1e\x85\r\n"), max_size=30)


def place(line, character):
    return types.Position(line, character)


def test_only_line_ends_of_the_protocol_end_a_line():
    text = Text("a\x0cb\u2028c\x85d\r\ne\rf\ng")
    assert text.position(7) == place(0, 7)
    assert [text.offset(place(line, 0)) for line in range(5)] == [0, 9, 11, 13, 14]


def test_a_character_beyond_the_basic_plane_takes_two_units():
    text = Text('x = "🎉" + K.sum(y)')
    assert text.position(text.text.index("K")) == place(0, 11)
    assert text.offset(place(0, 11)) == text.text.index("K")


@pytest.mark.parametrize("beyond", [place(0, 99), place(0, 3)])
def test_what_lies_behind_the_end_of_a_line_is_its_end(beyond):
    assert Text("abc\nd").offset(beyond) == 3


def test_what_lies_behind_the_last_line_is_the_end_of_the_text():
    assert Text("abc\nd").offset(place(9, 9)) == 5


def test_half_a_character_is_none():
    assert Text("🎉a").offset(place(0, 1)) == 0


@given(texts, st.sampled_from(list(Encoding)), st.data())
def test_every_character_is_found_where_it_stands(text, encoding, data):
    at = data.draw(st.integers(0, len(text)))
    if text[at - 1 : at + 1] == "\r\n":
        return  # there is no position between the two
    known = Text(text, encoding)
    position = known.position(at)
    assert known.offset(position) == at
    line = text[known.offset(place(position.line, 0)) : at]
    assert position.character == len(line.encode(UTF_16[encoding])) // WIDTHS[encoding]


@given(texts, texts, st.data())
def test_a_change_takes_the_place_of_its_range(before, new, data):
    ends = [at for at in range(len(before) + 1) if before[at - 1 : at + 1] != "\r\n"]
    start, end = sorted((data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(ends))))
    text = Text(before)
    change = types.TextDocumentContentChangePartial(text.range(start, end), new)
    assert text.changed(change).text == before[:start] + new + before[end:]


def page(text, kind="python"):
    return TextDocument("file:///a.py", "/a.py", kind, Text(text), 1)


def test_a_declared_encoding_is_not_that_of_the_editors_text():
    source = "# -*- coding: latin-1 -*-\nx = 'é'\n"
    draft = page(source).draft
    assert len(draft.data.decode()) == len(source)
    assert "coding:" not in draft.data.decode()


def test_a_mark_of_the_byte_order_is_no_part_of_the_code():
    assert page("\ufeffimport keras\n").draft.data == b"import keras\n"
    (edit,) = page("\ufeffimport keras\n").edits(b"import keros\n")["file:///a.py"]
    assert edit.range == types.Range(place(0, 8), place(0, 13))


def test_half_of_a_surrogate_pair_is_taken_for_some_character():
    assert page("x = '\ud83d'\n").draft.data.decode() == "x = '\ufffd'\n"


@given(texts, texts)
def test_edits_turn_a_page_into_what_was_asked_for(before, after):
    known = page(before)
    edits = known.edits(after.encode()).get("file:///a.py", [])
    text = Text(before)
    for edit in reversed(edits):
        start, end = text.offset(edit.range.start), text.offset(edit.range.end)
        text = Text(text.text[:start] + edit.new_text + text.text[end:])
    assert text.text == after


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c%C3%A9.py", "/a b/cé.py"),
        ("file:///a/../b.py", "/b.py"),
        ("untitled:Untitled-1", "/home/Untitled-1"),
        ("untitled:", "/home/untitled"),
        ("git:/a/b.py?ref=HEAD", None),
        ("output:tasks", None),
        ("", None),
        ("no uri at all", None),
    ],
)
def test_a_document_has_the_path_of_its_file(uri, path):
    assert path_of(uri, "/home") == path


@pytest.mark.parametrize(
    ("path", "language", "kind"),
    [
        ("/a.py", "", "python"),
        ("/a.md", "python", "markdown"),
        ("/Untitled-1", "python", "python"),
        ("/a.txt", "plaintext", None),
        ("/a.ipynb", "json", "notebook"),
    ],
)
def test_the_name_tells_the_kind_and_else_the_language(path, language, kind):
    assert kind_of(path, language) == kind
