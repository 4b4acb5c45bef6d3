"""Markdown: which fences are Python, where their code stands, and how a change is put back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents import Document, Skipped
from kdoctor.documents.fences import says_python
from kdoctor.errors import FileProblem
from kdoctor.model import Place, Span
from tests.documents.conftest import assert_it_comes_back


def parse(text: str) -> Document:
    return Document.parse(text.encode(), "a.md")


def texts(document: Document) -> list[str]:
    return [unit.text for unit in document.units]


@pytest.mark.parametrize(
    "info",
    [
        "python",
        "Python",
        "py",
        "python3",
        "ipython",
        "jupyter",
        "pycon",
        "py title='a.py'",
        "python,linenos",
        "python {1,3}",
        "python{1}",
        "py:train.py",
        "{python}",
        "{.python .x}",
        "{python, echo=FALSE}",
        "{code-cell}",
        "{code-cell} ipython3",
        "{code-block} python",
        "{doctest}",
        " python ",
    ],
)
def test_an_info_string_that_says_python(info: str) -> None:
    assert says_python(info)


@pytest.mark.parametrize(
    "info",
    [
        "",
        "bash",
        "python2",
        "pytb",
        "text",
        "diff",
        "{r}",
        "{code-block}",
        "{code-block} bash",
        "{code-cell} julia",
        "{note} python",
        "console",
        "toml python",
    ],
)
def test_an_info_string_that_does_not(info: str) -> None:
    assert not says_python(info)


def test_each_fence_is_a_unit_of_its_own() -> None:
    document = parse("# T\n```python\nx = 1\n```\ntext `x`\n~~~~py\ny = 2\n~~~~\n```sh\nls\n```\n")

    assert texts(document) == ["x = 1\n", "y = 2\n"]
    assert [unit.index for unit in document.units] == [0, 1]


def test_a_fence_that_needs_a_name_goes_on_with_the_last_one_that_binds_it() -> None:
    document = parse(
        "```py\nimport keras\n```\n"
        "```py\nimport tf_keras as keras\nmodel = keras.Model()\n```\n"
        "```py\ndef build():\n    return [keras.Input(each) for each in shapes]\n```\n"
        "```py\nimport keras\nprint(keras)\n```\n"
        "```py\nmodel.fit()\n```\n"
        "```py\nelsewhere.fit()\n```\n"
    )

    assert texts(document) == [
        "import keras\n",
        (
            "import tf_keras as keras\nmodel = keras.Model()\n\n"
            "def build():\n    return [keras.Input(each) for each in shapes]\n\nmodel.fit()\n"
        ),
        "import keras\nprint(keras)\n",
        "elsewhere.fit()\n",
    ]
    _, second, _, _ = document.units
    at = second.text.index("model.fit")
    assert second.place(Span(at, at + 5)).line == 17


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "import keras\nkeras.Input()",
        "def f(keras):\n    return keras",
        "a.keras",
        "x = 1",
    ],
)
def test_a_fence_that_needs_nothing_of_the_page_stands_alone(code: str) -> None:
    document = parse(f"```py\nimport keras\nprint = keras.print\n```\n```py\n{code}\n```\n")

    assert len(document.units) == 2


def test_code_that_python_does_not_compile_stands_alone() -> None:
    code = "def f(x):\n    global x\n    return keras\n"
    document = parse(f"```py\nimport keras\n```\n```py\n{code}```\n```py\nreturn keras\n```\n")

    assert texts(document) == ["import keras\n\nreturn keras\n", code]


def test_the_cells_of_a_myst_notebook_are_one_unit() -> None:
    document = parse(
        "```{code-cell} ipython3\nx = 1\n```\n```python\nz = 3\n```\n"
        "```{code-cell}\n:tags: [hide]\ny = 2\n```\n"
    )

    assert texts(document) == ["x = 1\n\ny = 2\n", "z = 3\n"]


def test_magics_keep_their_places_where_fences_go_together_as_before() -> None:
    page = (
        "```py\nfrom keras import Model\n%time b = 1\n```\n```py\nModel()\n%time a = 1\n```\n"
        "```py\nx = 1\n```\n"
    )
    before = parse(page)
    assert len(before.units) == 2
    assert Document.parse(page.encode(), "a.md", like=before).units == before.units


def test_many_fences_go_on_in_time() -> None:
    fences = "".join(f"```py\nx{number} = 1\nprint(y{number})\n```\n" for number in range(2000))
    assert len(parse(fences).units) == 2000


def test_a_change_of_a_page_reaches_each_fence_of_a_unit() -> None:
    document = parse("- ```py\n  import keras\n  ```\n\ntext\n\n```py\nkeras.a()\n```\n")

    after = document.replace({0: ["import keras\nfrom keras import ops\n", "ops.a()\n"]})

    assert after.decode() == (
        "- ```py\n  import keras\n  from keras import ops\n  ```\n\ntext\n\n```py\nops.a()\n```\n"
    )


def test_after_a_fix_the_fences_go_together_as_before() -> None:
    page = "```py\nfrom keras import {}\n```\n```py\n{}%time a = 1\n```\n```py\nModel()\n```\n"
    before = parse(page.format("Model", "import b\n"))
    after = page.format("Model", "from keras import Model\n").encode()

    assert texts(before) == ["from keras import Model\n\nModel()\n", "import b\n0000; a = 1\n"]
    again = Document.parse(after, "a.md", like=before)
    assert texts(again) == [
        "from keras import Model\n\nModel()\n",
        "from keras import Model\n0000; a = 1\n",
    ]
    assert again.replace({1: ["%time a = 2\n"]}).decode().splitlines()[4] == "%time a = 2"
    assert len(Document.parse(after, "a.md").units) == 2
    assert len(Document.parse(b"```py\na\n```\n", "a.md", like=before).units) == 1


def test_places_count_in_the_document() -> None:
    document = parse("1. é\n\n   ```python\n   x = 1\n   é = K.sum(1)\n   ```\n")
    (unit,) = document.units
    start = unit.text.index("K.sum")
    span = Span(start, start + 5)

    assert unit.place(span) == Place("a.md", 0, span, None, 5, 8, 5, 13)
    assert unit.line_of(start) == "   é = K.sum(1)"


def test_a_fence_that_is_no_python_is_skipped_at_the_line_that_shows_it() -> None:
    document = parse("```python\nx = 1\nmodel = <your model>\n```\n\n```py\ny\n```\n")

    assert texts(document) == ["y\n"]
    assert document.skipped == (Skipped(3, "not Python: invalid syntax"),)


@pytest.mark.parametrize(
    ("before", "code", "new", "after"),
    [
        (
            "- a\n\n  ```python\n  x = 1\n\n  y = 2\n  ```\n",
            "x = 1\n\ny = 2\n",
            "x = 1\n\nz = 3\ny = 2\n",
            "- a\n\n  ```python\n  x = 1\n\n  z = 3\n  y = 2\n  ```\n",
        ),
        (
            "> ```python\n> x = 1\n>\n> y = 2\n> ```\n",
            "x = 1\n\ny = 2\n",
            "import a\n\nx = 1\n\ny = 3\n",
            "> ```python\n> import a\n>\n> x = 1\n>\n> y = 3\n> ```\n",
        ),
        (
            "> - > ```py\n>   > if x:\n>   >     y\n",
            "if x:\n    y\n",
            "if x:\n    y\n    z\n",
            "> - > ```py\n>   > if x:\n>   >     y\n>   >     z\n",
        ),
        ("```py\n    x\n    y\n```", "x\ny\n", "y\n", "```py\n    y\n```"),
        ("```py\r\nx\r\ny\r\n```\r\n", "x\r\ny\r\n", "x\r\nz\r\n", "```py\r\nx\r\nz\r\n```\r\n"),
        ("```py\nx\n```\n", "x\n", "y", "```py\ny\n```\n"),
        ("```py\nx\n```\n", "x\n", "", "```py\n```\n"),
        ("```py\nx", "x", "y", "```py\ny"),
        (
            "- a\n\n\t```py\n\tif x:\n\t\ty\n\t```\n",
            "if x:\n\ty\n",
            "z\n",
            "- a\n\n\t```py\n\tz\n\t```\n",
        ),
        (
            "- a\n\n  ```py\n\tif x:\n\t    y\n  ```\n",
            "if x:\n    y\n",
            "if x:\n    z\n",
            "- a\n\n  ```py\n\tif x:\n\t    z\n  ```\n",
        ),
        (
            "```{code-cell} python\n:tags: [hide]\nx = 1\n```\n",
            "x = 1\n",
            "y = 1\n",
            "```{code-cell} python\n:tags: [hide]\ny = 1\n```\n",
        ),
        (
            "```{code-cell}\n---\ntags: [hide]\n---\nx = 1\n```\n",
            "x = 1\n",
            "y = 1\n",
            "```{code-cell}\n---\ntags: [hide]\n---\ny = 1\n```\n",
        ),
    ],
)
def test_a_change_gets_the_margin_of_its_neighbours(
    before: str, code: str, new: str, after: str
) -> None:
    document = parse(before)

    assert texts(document) == [code]
    assert document.replace({0: [new]}).decode() == after


def test_magics_in_a_fence_are_masked() -> None:
    (unit,) = parse("```ipython\n%matplotlib inline\nx = 1\n```\n").units

    assert unit.text == "0" * 18 + "\nx = 1\n"
    assert unit.sources == ("%matplotlib inline\nx = 1\n",)


SESSION = """\
```pycon
>>> from keras import backend as K
>>> def f(x):
...     return K.sum(x)
...
>>> f(1)
1
... not code
>>> K.mean(
...     2)

2
```
"""


def test_a_session_is_one_unit_whose_output_is_no_part_of_it() -> None:
    (unit,) = parse(SESSION).units

    assert unit.text == (
        "from keras import backend as K\ndef f(x):\n    return K.sum(x)\n\nf(1)\nK.mean(\n    2)"
    )
    assert len(unit.cells) == 2
    start = unit.text.index("K.mean")
    place = unit.place(Span(start, start + 6))
    assert (place.line, place.column) == (9, 5)
    assert unit.line_of(start) == ">>> K.mean("


def test_a_changed_session_gets_prompts_and_keeps_its_output() -> None:
    after = parse(SESSION).replace(
        {
            0: [
                "from keras import ops\ndef f(x):\n    x = 1\n    return ops.sum(x)\n\nf(1)",
                "ops.mean(\n    2,\n    3)\nx = 1",
            ]
        }
    )

    assert after.decode() == (
        "```pycon\n>>> from keras import ops\n>>> def f(x):\n...     x = 1\n"
        "...     return ops.sum(x)\n...\n>>> f(1)\n1\n... not code\n>>> ops.mean(\n"
        "...     2,\n...     3)\n>>> x = 1\n\n2\n```\n"
    )


def test_an_example_that_is_emptied_goes_with_its_prompt() -> None:
    document = parse("```py\n>>> import a\nout\n>>> b\n```\n")

    assert document.replace({0: ["", "b"]}) == b"```py\nout\n>>> b\n```\n"


def test_prompts_say_python_where_a_block_says_nothing() -> None:
    document = parse(
        "```\n>>> x\n1\n```\n\n    >>> y\n    2\n\n```\nz\n```\n\n```text\n>>> w\n```\n"
    )

    assert texts(document) == ["x", "y"]


def test_an_example_that_must_fail_is_skipped_and_spoils_no_other() -> None:
    document = parse("```pycon\n>>> x = 1\n1\n>>> x = = 1\nSyntaxError\n>>> y\n```\n")

    assert texts(document) == ["x = 1\ny"]
    assert [part.line for part in document.skipped] == [4]


def test_null_bytes_and_other_encodings_are_refused() -> None:
    with pytest.raises(FileProblem, match="null byte"):
        parse("```py\nx\0\n```")
    with pytest.raises(FileProblem, match="not utf-8"):
        Document.parse(b"\xff", "a.md")


CODE = st.sampled_from(
    [
        "x = 1",
        "if x:",
        "    y = 'é'",
        "\tz",
        "",
        "   ",
        "%magic",
        ">>> a",
        "... b",
        ">>> def f():",
        "...     pass",
        "out",
        "# c",
        "'''",
        "```",
        "> q",
        "\u2028",
        "\x0c",
    ]
)
MARGIN = st.sampled_from(["", "> ", "  ", "\t", "- ", "1. ", ">", "    ", "> - ", " > > "])
FENCE = st.sampled_from(["```python", "```", "~~~py", "~~~", "```pycon", "````{code-cell}", "````"])
LINE = st.tuples(MARGIN, st.one_of(CODE, CODE, FENCE)).map("".join)


@given(st.lists(LINE, max_size=30), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_any_markdown_comes_back_byte_for_byte(
    lines: list[str],
    newline: str,
    ends: bool,  # noqa: FBT001
) -> None:
    text = newline.join(lines) + newline * ends
    document = parse(text)

    assert_it_comes_back(document, text)
    for unit in document.units:
        for cell in unit.cells:
            _check_places(unit, cell, text)


def _check_places(unit, cell, text) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    masked = {at for mask in unit.masks for at in range(mask.span.start, mask.span.end)}
    for offset in range(cell.span.start, cell.span.end):
        character = unit.text[offset]
        if character in "\r\n" or offset in masked:
            continue
        place = unit.place(Span(offset, offset + 1))
        assert lines[place.line - 1] == unit.line_of(offset)
        assert lines[place.line - 1][place.column - 1] == character


@given(st.lists(LINE, max_size=20), st.lists(CODE, max_size=5))
def test_a_changed_fence_changes_no_line_outside_of_it(lines: list[str], new: list[str]) -> None:
    text = "\n".join(lines)
    document = parse(text)
    for unit in document.units:
        span = unit.cells[0].excerpt.span
        after = document.replace({unit.index: ["\n".join(new), *unit.sources[1:]]}).decode()

        assert after.startswith(text[: span.start])
        assert after.endswith(text[span.end :])
