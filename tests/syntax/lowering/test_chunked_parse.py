"""A module that is parsed in pieces is the module that one parse makes."""

import libcst as cst
import pytest

from kdoctor.syntax.lowering import chunked_parse
from kdoctor.syntax.lowering.chunked_parse import parse_in_chunks
from kdoctor.syntax.lowering.lean_nodes import parse_module

FIRST = """\
# of the module

import os  # for no more

# of f
def f():
    return 1


    # in the block
"""
MORE = """
@decorated

# of g
def g():
    if os:
        pass
  # neither in nor out

# alone

class A:
    x = 1  # last


async def h():
    pass


# the end
"""


@pytest.fixture(autouse=True)
def wherever_it_may(monkeypatch):
    """Let a piece end wherever one may."""
    monkeypatch.setattr(chunked_parse, "_MIN_CHUNK_LENGTH", 1)


@pytest.fixture
def parsed(monkeypatch):
    """The texts that are handed to libcst."""
    texts = []

    def parse(text):
        texts.append(text)
        return parse_module(text)

    monkeypatch.setattr(chunked_parse, "parse_module", parse)
    return texts


def same(text):
    module, whole = parse_in_chunks(text), parse_module(text)
    return module.deep_equals(whole) and module.code == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (FIRST + MORE, 3),
        ((FIRST + MORE).replace("    ", "\t"), 3),
        ((FIRST + MORE).replace("\n", "\r\n"), 3),
        ((FIRST + MORE).rstrip(), 3),
        ("import os\n\ndef f():\n  pass\n\ndef g():\n  pass\n", 3),
        ("x = [\n1,\n\n# two\n\n]\n\ndef f(): pass\n\n@f\n\ndef g(): pass\n", 3),
        ("x = 1 \\\n\ndef f(): pass", 1),
        ("\n\n# only that", 1),
    ],
)
def test_the_tree_is_that_of_one_parse(parsed, text, number):
    assert same(text)
    assert len(parsed) == number
    assert "".join(parsed) == text


@pytest.mark.parametrize(
    "text",
    [
        'x = """\n\ndef f(): pass\n"""\n\ndef g(): pass\n',
        "def f():\n    pass\n\ndef g():\n\tpass\n",
        "def f(): pass\n\ndef g(): pass\r\n\r\ndef h(): pass\r\n",
    ],
)
def test_what_cannot_be_cut_is_parsed_whole(parsed, text):
    assert same(text)
    assert parsed[-1] == text


def test_an_error_is_told_of_where_it_stands_in_the_whole():
    text = FIRST + "\ndef g(:\n    pass\n" + MORE
    with pytest.raises(cst.ParserSyntaxError) as whole:
        parse_module(text)
    with pytest.raises(cst.ParserSyntaxError) as found:
        parse_in_chunks(text)
    assert str(found.value) == str(whole.value)


def test_a_short_text_is_parsed_at_once(parsed, monkeypatch):
    monkeypatch.setattr(chunked_parse, "_MIN_CHUNK_LENGTH", 10_000)
    assert same(FIRST + MORE)
    assert parsed == [FIRST + MORE]
