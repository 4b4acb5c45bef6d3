"""Tabs and spaces, mixed as Python allows it and libcst does not."""

import ast

import libcst as cst
import pytest

from kdoctor.engine.fixing import fix
from kdoctor.syntax.unusual_indents import with_spaces

# A space and a tab are eight columns wide, fewer than the nine spaces below.
_MIXED = (
    "import keras.backend as K\n\n\ndef total(rows):\n \tfor row in rows:\n"
    '         text = """\n\ta tab\n"""\n         yield K.sum(row), text\n \treturn\n'
)


def test_what_libcst_refuses_for_its_tabs_is_read(parse):
    with pytest.raises(cst.ParserSyntaxError):
        cst.parse_module(_MIXED)

    module = parse(_MIXED)

    (use,) = (each for each in module.references if each.name == "keras.backend.sum")
    assert module.source(use.node) == "K.sum"
    assert "\ta tab" in module.source(module.nodes(cst.SimpleString)[0])


def test_a_fix_leaves_the_tabs_as_they_are(tmp_path):
    file = tmp_path / "rows.py"
    file.write_text(_MIXED, newline="")

    fix([file], target="keras==3.15.1", apply=True, cache=False)

    fixed = file.read_text()
    assert "         yield ops.sum(row), text\n \treturn\n" in fixed
    ast.parse(fixed)


@pytest.mark.parametrize(
    "source",
    [
        "if x:\n    y = 1\n",  # no tab
        "if x:\n\ty = 1\n        z = 2\n",  # as many columns, not as many characters
        "if x:\n\ty = (\n",
    ],
)
def test_what_would_mean_something_else_is_left(source):
    assert with_spaces(source) is None


def test_what_is_inside_of_a_string_is_left():
    source = 'if x:\n\ty = """\n\ta\n"""\n\tz = f"""\n\t{y}\n"""\n'

    assert with_spaces(source) == 'if x:\n y = """\n\ta\n"""\n z = f"""\n\t{y}\n"""\n'
