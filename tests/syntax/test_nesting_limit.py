"""How far a statement may go, told by the lines of a text."""

import pytest

from kdoctor.syntax.nesting_limit import MAX_LEVELS, Extent, deep_line


@pytest.mark.parametrize(
    "text",
    [
        "x = f(a, b)\n" * 3000,
        "x = f(\n    a,\n    b,\n)\n" * 1000,
        "if a:\n    pass\nelif b:\n    pass\n" * 100,
        "x = " + "-" * 3000 + "1\n",
    ],
    ids=["lines", "brackets", "elifs", "short"],
)
def test_short_statements_need_no_deep_stack(text):
    assert not Extent.of(text).needs_a_deep_stack


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 5000 + "1\n",
        "x = (\n" + ("-" * 80 + "\n") * 60 + "1)\n",
        "x = \\\n" + ("-" * 80 + "\\\n") * 60 + "1\n",
        "if a: pass\n" + "elif b: pass\n" * 400,
    ],
    ids=["line", "bracket", "backslashes", "elifs"],
)
def test_long_statements_may_need_one(text):
    assert Extent.of(text).needs_a_deep_stack


def test_almost_no_text_may_be_nested_too_deeply():
    assert not Extent.of("x = f(a)\n" * 3000).may_be_deep
    assert Extent.of("x = " + "-" * (MAX_LEVELS + 1)).may_be_deep


def no_room(_text):
    raise RecursionError


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import keras\nx = (\n" + "    a +\n" * 5000 + "    b\n)\ny = 1\n", 2),
        ("import keras\nif a:\n    pass\n" + "elif b:\n    pass\n" * 3000 + "else:\n    c\n", 2),
        ("def f():\n" + "    x = 1\n" * 9000 + "\n# now\ndef g():\n    y = " + "-" * 3000 + "1\n", 9004),
        ("x = 'a'\ny = " + "-" * 3000 + "1\nz = '''no end", 2),
    ],
    ids=["lines", "elifs", "inside", "no end"],
)  # fmt: skip
def test_what_python_has_no_room_for_is_the_statement_that_goes_on_for_longest(text, line):
    assert deep_line(text, Extent.of(text), no_room) == line
