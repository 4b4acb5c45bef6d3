"""Comments for a file, and for the lines between two of them."""

import pytest

from .conftest import HEAD, lines, notebook

OLD = "x = K.sum(1)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"# kdoctor: ignore-file\n{HEAD}{OLD}",
        f"{HEAD}{OLD}# kdoctor: ignore-file[KD1] to be ported\n",
        f"{HEAD}def f():\n    # kdoctor: ignore-file[KD101]\n    {OLD}",
    ],
)
def test_one_comment_alone_on_its_line_silences_a_whole_file(scan, source):
    result = scan(source)
    assert lines(result) == []
    assert len(result.suppressed) == 1


def test_a_comment_for_a_file_that_names_other_rules_is_unused(scan):
    assert lines(scan(f"# kdoctor: ignore-file[KD3]\n{HEAD}{OLD}")) == [("KD901", 1), ("KD101", 4)]


def test_any_cell_speaks_for_the_notebook_and_any_fence_for_the_page(scan):
    source = notebook(HEAD, OLD, "# kdoctor: ignore-file[KD101]\ny = K.sum(2)")
    result = scan(source, kind="notebook")
    assert (lines(result), len(result.suppressed)) == ([], 2)
    page = f"```python\n# kdoctor: ignore-file\n{HEAD}```\n\n```python\n{HEAD}{OLD}```\n"
    assert lines(scan(page, kind="markdown")) == []


def test_off_and_on_silence_what_stands_between(scan):
    source = f"{HEAD}{OLD}# kdoctor: off[KD101] old\n{OLD}{OLD}# kdoctor: on[KD101]\n{OLD}"
    result = scan(source)
    assert lines(result) == [("KD101", 3), ("KD101", 8)]
    assert {each.reason for each in result.suppressed} == {"old"}


def test_off_ends_with_its_block_or_its_cell(scan):
    source = f"{HEAD}def f():\n    # kdoctor: off\n    if K:\n        {OLD}    {OLD}\n{OLD}"
    assert lines(scan(source)) == [("KD101", 9)]
    cells = notebook(HEAD, f"# kdoctor: off\n{OLD}", OLD)
    assert lines(scan(cells, kind="notebook")) == [("KD101", 1)]
    assert lines(scan(f"{HEAD}# kdoctor: off\n{OLD}\n{OLD}")) == []


def test_offs_nest_and_on_without_a_list_ends_them_all(scan):
    dense = "keras.layers.Dense(3, input_shape=(4,))\n"
    both = f"{OLD}{dense}"
    source = (
        f"{HEAD}# kdoctor: off[KD101]\n{both}# kdoctor: off[KD301]\n{both}# kdoctor: on[KD101]\n"
        f"{both}# kdoctor: on\n{both}"
    )
    found = lines(scan(source))
    assert ("KD101", 4) not in found
    assert [each for each in found if each[0] == "KD101"] == [("KD101", 10), ("KD101", 13)]
    assert {line for code, line in found if code != "KD101"} == {5, 14}


def test_an_on_that_ends_nothing_is_told_and_goes(scan, fix):
    source = f"{HEAD}# kdoctor: off[KD1]\n{OLD}# kdoctor: on[KD2]\n# kdoctor: on[KD1]\n"
    assert lines(scan(source)) == [("KD901", 5)]
    assert fix(source).decode() == source.replace("# kdoctor: on[KD2]\n", "")


@pytest.mark.parametrize("word", ["off", "on", "ignore-file"])
def test_a_wide_form_behind_code_silences_nothing_and_is_told(scan, word):
    result = scan(f"{HEAD}x = K.sum(1)  # kdoctor: {word}[KD101]\n")
    assert lines(result) == [("KD101", 3), ("KD902", 3)]
    assert "alone on its line" in result.findings[1].message
