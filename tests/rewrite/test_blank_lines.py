"""No blank lines are left over where lines go."""

import pytest

from kdoctor.documents import Document
from kdoctor.engine import fix
from kdoctor.model import Edit, Span
from kdoctor.rewrite.blank_lines import without_blank_lines
from kdoctor.rewrite.render import render
from kdoctor.syntax import Module

GONE = "gone()"
CASES = [
    ("a\n\ngone()\n\n\ndef f(): ...\n", "a\n\n\ndef f(): ...\n"),
    ("# why\ngone()\n\n\ndef f(): ...\n", "# why\n\n\ndef f(): ...\n"),
    ("gone()\n\n\na\n", "a\n"),
    ("a\n\ngone()\n", "a\n"),
    ("a\n\n\ngone()\n\n\n", "a\n"),
    ("def f():\n    gone()\n\n    a\n", "def f():\n    a\n"),
    ("def f():\n    # why\n    gone()\n\n    a\n", "def f():\n    # why\n\n    a\n"),
    ("def f():\n    a\n\n    gone()\n\n\nb\n", "def f():\n    a\n\n\nb\n"),
    ("class A:\n    'doc'\n\n    gone()\n\n    def f(self): ...\n",
     "class A:\n    'doc'\n\n    def f(self): ...\n"),
    ("a\n\ngone()\ngone()\n\nb\n", "a\n\nb\n"),
    ("a\n\ngone()\n\ngone()\n\nb\n", "a\n\nb\n"),
    ("a\r\n\r\ngone()\r\n\r\nb\r\n", "a\r\n\r\nb\r\n"),
    ("a\ngone()\n\nb\n", "a\n\nb\n"),
    ("a\n\ngone()\nb\n", "a\n\nb\n"),
]  # fmt: skip


def parsed_from(source):
    return Module.parse(Document.parse(source.encode(), "code.py").units[0])


def lines_of(text):
    start = text.find(GONE)
    while start >= 0:
        end = text.index("\n", start) + 1
        yield Edit(Span(text.rindex("\n", 0, start) + 1 if "\n" in text[:start] else 0, end), ("",))
        start = text.find(GONE, end)


@pytest.mark.parametrize(("before", "after"), CASES)
def test_blank_lines_do_not_add_up_where_a_line_goes(before, after):
    module = parsed_from(before)
    edits = without_blank_lines(module, list(lines_of(before)))
    assert render(before, edits, Span(0, len(before)), module.unit.newline) == after


def test_they_stay_where_something_else_is_written_between_them():
    before = "a\n\ngone()\n\nb\n"
    added = Edit(Span(3, 3), ("c\n",))
    edits = without_blank_lines(parsed_from(before), [added, *lines_of(before)])
    assert render(before, edits, Span(0, len(before)), "\n") == "a\n\nc\n\nb\n"


def test_a_statement_that_a_rule_takes_out_leaves_no_blank_lines(tmp_path):
    path = tmp_path / "code.py"
    source = "import keras\nimport tensorflow as tf\n\ntf.compat.v1.disable_eager_execution()\n\n\n"
    path.write_text(source + "def model():\n    return keras.Model()\n")
    fix([path], apply=True, unsafe=True, target="keras==3.15.1")
    assert path.read_text() == "import keras\n\n\ndef model():\n    return keras.Model()\n"
