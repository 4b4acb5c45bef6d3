"""Notebooks: one module of cells, and only a changed cell's source is written anew."""

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.documents import Document, Skipped, Unit
from kdoctor.errors import FileProblem
from kdoctor.model import Span


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
        **more,
    }


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}


def parse(content: dict[str, Any] | bytes) -> Document:
    data = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
    return Document.parse(data, "a.ipynb")


def only(document: Document) -> Unit:
    (unit,) = document.units
    return unit


def test_all_python_cells_are_one_module_with_places_within_the_cell() -> None:
    unit = only(
        parse(notebook(text("# Title"), code("import keras"), code(["x = 1\n", "keras.y"])))
    )

    assert unit.text == "import keras\nx = 1\nkeras.y"
    assert [cell.number for cell in unit.cells] == [2, 3]
    start = unit.text.index("keras.y")
    place = unit.place(Span(start, start + 7))
    assert (place.cell, place.line, place.column) == (3, 2, 1)
    assert (place.end_line, place.end_column) == (2, 8)
    assert unit.line_of(start) == "keras.y"


def test_the_newline_between_cells_belongs_to_none() -> None:
    unit = only(parse(notebook(code("a = 1"), code("b = 2"))))

    assert [cell.span for cell in unit.cells] == [Span(0, 5), Span(6, 11)]


def test_magics_are_masked_and_shown_as_they_were() -> None:
    unit = only(parse(notebook(code("import keras"), code("%matplotlib inline\nx = !ls"))))

    assert unit.text == "import keras\n000000000000000000\nx = 000"
    assert [unit.text[mask.span.start : mask.span.end] for mask in unit.masks] == ["0" * 18, "000"]
    assert [mask.parts for mask in unit.masks] == [("%matplotlib inline",), ("!ls",)]
    assert unit.line_of(14) == "%matplotlib inline"
    assert unit.sources == ("import keras", "%matplotlib inline\nx = !ls")


def test_cells_that_are_no_python_are_skipped_and_spoil_no_other() -> None:
    document = parse(
        notebook(
            code("x = 1"),
            code("%%bash\nls"),
            code("y =\n"),
            code("print 'old'"),
            code("z = '\ud800'"),
            code("await task"),
            code("%%html\n<b>"),
            text("prose"),
        )
    )

    assert only(document).text == "x = 1\nawait task"
    assert [(part.cell, part.line) for part in document.skipped] == [
        (2, 1),
        (3, 1),
        (4, 1),
        (5, 1),
        (7, 1),
    ]
    assert "%%bash" in document.skipped[0].why
    assert "not Python: invalid syntax" in document.skipped[1].why


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"language": "julia", "name": "julia-1.9", "display_name": "Julia"}},
    ],
)
def test_a_notebook_in_another_language_is_skipped(metadata: dict[str, Any]) -> None:
    document = parse(notebook(code("x = 1"), **metadata))

    assert document.units == ()
    assert "not in Python" in document.skipped[0].why


def test_a_cell_that_says_another_language_is_skipped() -> None:
    document = parse(notebook(code("x = 1", metadata={"vscode": {"languageId": "sql"}}), code("y")))

    assert only(document).text == "y"
    assert document.skipped == (Skipped(1, "the cell is written in sql, not in Python", 1),)


def test_a_notebook_without_code_is_no_unit_and_nothing_skipped() -> None:
    document = parse(notebook(text("prose"), language_info={"name": "R"}))

    assert (document.units, document.skipped) == ((), ())


def test_an_indented_cell_is_read_as_ipython_reads_it() -> None:
    content = notebook(code("    x = 1\n    if x:\n        y = 2"))
    document = parse(content)
    unit = only(document)

    assert unit.text == "x = 1\nif x:\n    y = 2"
    assert unit.place(Span(0, 1)).column == 5
    after = json.loads(document.replace({0: ["x = 1\nz = 3\nif x:\n    y = 3"]}))
    assert after["cells"][0]["source"] == "    x = 1\n    z = 3\n    if x:\n        y = 3"


def test_a_pasted_session_loses_its_prompts_and_gets_them_back() -> None:
    document = parse(notebook(code(">>> def f():\n...     return 1\n>>> f()")))

    assert only(document).text == "def f():\n    return 1\nf()"
    after = json.loads(document.replace({0: ["def f():\n    return 2\nf()"]}))
    assert after["cells"][0]["source"] == ">>> def f():\n...     return 2\n>>> f()"


def test_a_notebook_of_format_three_is_read_through_its_worksheets() -> None:
    cells = [
        {"cell_type": "code", "input": "x = 1", "language": "python", "outputs": []},
        {"cell_type": "code", "input": ["y = 2"], "language": "python", "outputs": []},
    ]
    content = {"worksheets": [{"cells": cells}], "nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    document = parse(content)

    assert only(document).text == "x = 1\ny = 2"
    after = json.loads(document.replace({0: ["x = 1", "y = 3\nz"]}))
    assert after["worksheets"][0]["cells"][1]["input"] == ["y = 3\n", "z"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value (line 1, column 1)"),
        (b'{"cells": [\n<<<<<<< HEAD\n]}', "(line 2, column 1)"),
        (b'{"cells": []} x', "Extra data"),
        (b"[]", "its JSON is not an object"),
        (b"{}", "it has no list of cells"),
        (b'{"cells": [1]}', "no cell_type"),
        (b'{"worksheets": [{}]}', "it has no list of cells"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "not a valid notebook"),
        (b'{"cells": "\xff"}', "not utf-8"),
    ],
)
def test_a_broken_notebook_says_why(data: bytes, why: str) -> None:
    with pytest.raises(FileProblem) as problem:
        parse(data)

    assert why in str(problem.value)


STYLES = {
    "nbformat's own": lambda content: nbformat.writes(nbformat.from_dict(content)),
    "Colab's": lambda content: json.dumps(content, indent=2, ensure_ascii=False),
    "four spaces, escaped": lambda content: json.dumps(content, indent=4) + "\n",
    "one line": lambda content: json.dumps(content, separators=(",", ":")),
    "tabs": lambda content: json.dumps(content, indent="\t", ensure_ascii=False),
    "windows": lambda content: json.dumps(content, indent=1).replace("\n", "\r\n"),
    "byte order mark": lambda content: "\ufeff" + json.dumps(content),
    "sorted": lambda content: json.dumps(content, indent=1, sort_keys=True),
    "slashes escaped": lambda content: json.dumps(content, indent=1).replace("/", "\\/"),
    "capital escapes": lambda content: json.dumps(content, indent=1).replace("\\u00e9", "\\u00E9"),
}
PYTHON = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "s = 'é/\\t\"'",
            "%magic é",
            "!ls",
            "if x:\n    y = '😀'",
            "",
            "# \u2028",
            "z = [\n1,\n\n]",
            "def f():\n\treturn '\\\\'",
        ]
    )
).map("\n".join)
OUTPUT = {
    "output_type": "stream",
    "name": "stdout",
    "text": ["é / \u2028\n", '"source": "x = 1"'],
}


@st.composite
def notebooks(draw: st.DrawFn) -> dict[str, Any]:
    cells = []
    for source in draw(st.lists(PYTHON, min_size=1, max_size=4)):
        written = source.splitlines(keepends=True) if draw(st.booleans()) else source
        cells.append(code(written, outputs=draw(st.sampled_from([[], [OUTPUT]]))))
        cells += draw(st.sampled_from([[], [text("```python\nx\n```")], [code("%%bash\nls")]]))
    return notebook(
        *cells, kernelspec={"name": "python3", "display_name": "é", "language": "python"}
    )


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@given(content=notebooks())
@settings(max_examples=40)
def test_unchanged_cells_give_the_same_bytes(style: Any, content: dict[str, Any]) -> None:
    data = style(content).encode()
    document = parse(data)
    changed = {unit.index: unit.sources for unit in document.units}

    assert document.replace(changed) == data


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@given(content=notebooks(), which=st.integers(0, 3), new=PYTHON)
@settings(max_examples=40)
def test_a_changed_cell_changes_its_source_alone(
    style: Any, content: dict[str, Any], which: int, new: str
) -> None:
    data = style(content).encode()
    document = parse(data)
    unit = only(document)
    which %= len(unit.cells)
    texts = list(unit.sources)
    texts[which] = new
    after = document.replace({0: texts})

    expected = json.loads(data.decode("utf-8-sig"))
    number = unit.cells[which].number
    assert number is not None
    kind = type(expected["cells"][number - 1]["source"])
    written = new.splitlines(keepends=True) if kind is list else new
    expected["cells"][number - 1]["source"] = written
    result = json.loads(after.decode("utf-8-sig"))
    assert result == expected
    nbformat.validate(nbformat.from_dict(result))
    span = unit.cells[which].excerpt.span
    before, new_text = data.decode().lstrip("\ufeff"), after.decode().lstrip("\ufeff")
    assert new_text.startswith(before[: span.start])
    assert new_text.endswith(before[span.end :])


def test_a_changed_list_keeps_the_indentation_of_its_items() -> None:
    data = json.dumps(notebook(code(["x = 1\n", "y = 2"])), indent=1)
    after = parse(data.encode()).replace({0: ["x = 1\nw = 3\ny = 2"]})

    assert after.decode() == data.replace('"x = 1\\n",', '"x = 1\\n",\n    "w = 3\\n",')


def test_a_changed_list_keeps_the_gaps_between_its_items() -> None:
    data = json.dumps(notebook(code(["x = 1\n", "y = 2"])), separators=(",", ":"))
    after = parse(data.encode()).replace({0: ["x = 1\nw = 3\ny = 2"]})

    assert after.decode() == data.replace('"x = 1\\n",', '"x = 1\\n","w = 3\\n",')


def test_lines_that_do_not_change_keep_their_spelling_where_others_are_spelled_otherwise() -> None:
    data = json.dumps(notebook(code(["a = '/'\n", "b = '/'\n", "c"])))
    odd = data.replace("a = '/'", "a = '\\/'").encode()

    assert parse(odd).replace({0: ["a = '/'\nb = '/'\nd"]}) == odd.replace(b'"c"', b'"d"')


def test_half_a_surrogate_pair_in_a_magic_comes_back() -> None:
    data = json.dumps(notebook(code("!echo \ud800\nx = 1"), text("é")), ensure_ascii=False)
    data = data.replace("\ud800", "\\ud800")

    after = parse(data.encode()).replace({0: ["!echo \ud800\nx = 2"]})
    assert after.decode() == data.replace("x = 1", "x = 2")


def test_a_list_of_one_line_grows_as_its_brackets_are_set() -> None:
    data = json.dumps(notebook(code(["x = 1"])), indent=2)
    after = parse(data.encode()).replace({0: ["x = 1\ny = 2"]})

    assert after.decode() == json.dumps(notebook(code(["x = 1\n", "y = 2"])), indent=2)


@pytest.mark.parametrize(("ascii_only", "spelled"), [(True, "\\u00fc"), (False, "ü")])
def test_new_characters_are_escaped_where_the_notebook_escapes(
    ascii_only: bool,  # noqa: FBT001
    spelled: str,
) -> None:
    data = json.dumps(notebook(code("x = 1"), text("é")), ensure_ascii=ascii_only)
    after = parse(data.encode()).replace({0: ["x = 'ü'"]})

    assert spelled in after.decode()


def test_a_line_keeps_the_odd_spelling_that_it_has() -> None:
    data = json.dumps(notebook(code("x = 1")))
    odd = data.replace("x = 1", "\\u0078 = 'a\\/b' # \\u00E9").encode()
    document = parse(odd)

    assert only(document).text == "x = 'a/b' # é"
    assert document.replace({0: ["x = 'a/c' # é"]}) == odd.replace(b"a\\/b", b"a\\/c")
