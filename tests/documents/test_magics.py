"""IPython's own syntax is masked by as many characters, and nothing else is."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents.magics import foreign_cell_magic, mask, registered_cell_magics


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("%matplotlib inline", "000000000000000000"),
        ("!pip install keras\nx = 1", "000000000000000000\nx = 1"),
        ("if colab:\n    !pip install keras\n", "if colab:\n    000000000000000000\n"),
        ("if colab:\n\t!ls\n\tx = 1", "if colab:\n\t000\n\tx = 1"),
        ("!pip install \\\n  keras\nx", "00000000000000\n0000000\nx"),
        ("if x:\n    !a \\\n  b", "if x:\n    0000\n   "),
        ("if x:\n    !a \\\n      bc", "if x:\n    0000\n    0000"),
        ("!a \\\r\n b\r\nx", "0000\r\n00\r\nx"),
        ("files = !ls *.h5", "files = 00000000"),
        ("a, b = %sql select 1 \\\n from t", "a, b = 000000000000000\n0000000"),
        ("model?", "000000"),
        ("model.fit??  # help", "00000000000  # help"),
        ("?model", "000000"),
        ("    x = model?", "    0000000000"),
        ("%%time\nmodel.fit(x)", "000000\nmodel.fit(x)"),
        ("%%time\n%%capture out\nx?", "000000\n0000000000000\n00"),
        (";f a b\n,g a\n/h 1", "000000\n0000\n0000"),
        ("!", "0"),
    ],
)
def test_a_magic_becomes_zeros(text: str, masked: str) -> None:
    assert mask(text).text == masked
    ast.parse(textwrap.dedent(masked))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("%time history = model.fit(x)", "0000; history = model.fit(x)"),
        ("%timeit -n 10 -r 3 f(x)", "00000000000000000; f(x)"),
        ("if x:\n    %time f()", "if x:\n    0000; f()"),
        ("%timeit f(a,\n          b)\nx = 1", "000000; f(a,\n          b)\nx = 1"),
    ],
)
def test_the_statement_that_a_magic_measures_stays_in_sight(text: str, masked: str) -> None:
    assert mask(text).text == masked
    ast.parse(masked)


@pytest.mark.parametrize("text", ["%time", "%time ls /", "%timeit for a in b: c"])
def test_a_measured_text_that_is_no_simple_statement_is_masked_whole(text: str) -> None:
    assert mask(text).text == "0" * len(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = a \\\n  % b",
        "x = (a\n% b)",
        "x = '''\n%matplotlib\n!ls\nwhat?\n'''",
        'x = """\\"""\n!ls\n"""',
        "x = 'what?'",
        "x = 1  # what?",
        "x = {\n'a': 1,  # ]\n'b': 2 % 3}",
        "if a != b: pass",
        "x = r'\\'\ny = '%'",
        "f'{x!r}' % y",
    ],
)
def test_python_that_only_looks_like_a_magic_is_left_alone(text: str) -> None:
    assert mask(text).text == text
    assert mask(text).masks == ()


LINES = st.sampled_from(
    [
        "%magic a b",
        "!ls \\",
        "  -l",
        "x = 1",
        "y = !pwd",
        "z?",
        "    !cd",
        "'''",
        '"',
        "(",
        ")",
        "",
        "if x:",
        "# %no",
        "s = 'é?'",
        "%time f(1)",
        "%timeit f(",
        "\t?",
        "\\",
    ]
)


@given(st.lists(LINES), st.sampled_from(["\n", "\r\n", "\r"]))
def test_masks_move_no_character_and_put_the_original_back(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    masked = mask(text)
    restored = list(masked.text)
    for edit in masked.masks:
        assert "\n" not in edit.parts[0]
        restored[edit.span.start : edit.span.end] = edit.parts[0]

    assert len(masked.text) == len(text)
    assert "".join(restored) == text


def test_a_magic_of_many_thousand_characters_is_masked_by_a_number_that_python_reads() -> None:
    masked = mask("!" + "a" * 9000).text

    assert len(masked) == 9001
    ast.parse(masked)


@pytest.mark.parametrize(
    ("text", "magic"),
    [
        ("%%bash\nls", "%%bash"),
        ("\n\n  %%javascript\nx", "%%javascript"),
        ("%%writefile train.py\nx = 1", "%%writefile"),
        ("%%time\n%%html\n<b>", "%%html"),
        ("%%time\nx = 1", None),
        ("%%timeit -n 3\nx = 1", None),
        ("%%bash?", None),
        ("x = 1\n%%bash", None),
    ],
)
def test_only_some_cell_magics_hold_the_notebooks_python(text: str, magic: str | None) -> None:
    assert foreign_cell_magic(text) == magic


def test_a_cell_magic_that_the_notebook_makes_itself_holds_its_python() -> None:
    made = registered_cell_magics(
        [
            "from IPython.core.magic import register_cell_magic",
            "@register_cell_magic\ndef on(a, b): pass",
        ]
    )

    assert foreign_cell_magic("%%on jax\nx = 1", made) is None
    assert foreign_cell_magic("%%off jax\nx = 1", made) == "%%off"
