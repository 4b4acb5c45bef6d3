"""Which findings a comment on a line silences."""

import pytest

from kdoctor import engine
from kdoctor.rules import rule_by_code

from .conftest import HEAD, lines, notebook

OLD = "x = K.sum(1)"


def silenced(scan, source, **options):
    """Return the lines of what is silenced, where nothing else is told."""
    result = scan(source, **options)
    assert lines(result) == []
    return [each.finding.place.line for each in result.suppressed]


@pytest.mark.parametrize(
    "comment",
    [
        "# kdoctor: ignore",
        "#kdoctor:ignore",
        "# kdoctor: ignore because it is old",
        "# kdoctor: ignore[KD101]",
        "# kdoctor: ignore [ kd101 ]",
        "# kdoctor: ignore[KD1]",
        f"# kdoctor: ignore[{rule_by_code('KD101').name}]",
        "# kdoctor: ignore[KD101, KD1] see #12",
        "# type: ignore  # kdoctor: ignore[KD101]  # fmt: skip",
        "# noqa",
        "#NOQA : KD101",
        "# noqa: E501,KD101",
        "# noqa:KD1 E501 old code",
        "# noqa - old",
    ],
)
def test_a_comment_silences_what_it_names(scan, comment):
    assert silenced(scan, f"{HEAD}{OLD}  {comment}\n") == [3]


@pytest.mark.parametrize(
    "comment",
    [
        "# kdoctor: ignore[KD2]",
        "# kdoctor: ignore[KD1011]",
        "# kdoctor: ignore KD101",
        "# kdoctor: ignore[KD101",
        "# kdoctor: ingore",
        "# noqa: E501",
        "# noqa: KD2",
        "# ignore: KD101",
        "# kdoctor ignore",
        "; '# kdoctor: ignore'",
        "; '''\n# kdoctor: ignore\n'''",
    ],
)
def test_another_comment_silences_nothing(scan, comment):
    assert ("KD101", 3) in lines(scan(f"{HEAD}{OLD}  {comment}\n"))


def test_the_reason_and_the_place_of_the_comment_are_kept(scan):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]: see #12, then ask  # noqa: E501\n"
    (each,) = scan(source).suppressed
    assert each.finding.code == "KD101"
    assert each.reason == "see #12, then ask"
    assert (each.comment.line, each.comment.column) == (3, 15)


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_comment_counts_on_the_lines_of_the_finding_and_at_both_ends_of_its_statement(scan, row):
    rows = ["y = print(", "    1,", "    K.sum(", "        1),", ")", "z = 1"]
    rows[row] += "  # kdoctor: ignore[KD101]"
    assert silenced(scan, HEAD + "\n".join(rows)) == [5]


@pytest.mark.parametrize("row", [1, 5])
def test_a_comment_on_another_line_of_the_statement_does_not_count(scan, row):
    rows = ["y = print(", "    1,", "    K.sum(", "        1),", ")", "z = 1"]
    rows[row] += "  # kdoctor: ignore[KD101]"
    assert ("KD101", 5) in lines(scan(HEAD + "\n".join(rows)))


def test_a_comment_behind_a_long_string_or_a_joined_line_counts_for_all_of_it(scan):
    source = (
        f'{HEAD}s = print(f"""\n a {{K.sum(1)}}\n""",  # kdoctor: ignore[KD101]\n 3)\n'
        "t = 1 + \\\n    K.sum(1) + \\\n    2  # noqa: KD101\n"
    )
    assert len(silenced(scan, source)) == 2


def test_a_comment_on_the_head_of_a_block_does_not_reach_into_it(scan):
    source = f"{HEAD}if K:  # kdoctor: ignore[KD101]\n    {OLD}\n"
    assert ("KD101", 4) in lines(scan(source))


def test_a_comment_alone_on_its_line_speaks_of_the_line_below(scan):
    source = f"{HEAD}# kdoctor: ignore[KD101] old\n\n# more\n{OLD}\ny = K.sum(2)\n"
    assert lines(scan(source)) == [("KD101", 7)]
    inside = f"{HEAD}y = print(\n    # kdoctor: ignore\n    K.sum(1),\n    K.sum(2),\n    3,\n)\n"
    assert lines(scan(inside)) == [("KD101", 6)]


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_other_systems_change_nothing(scan, newline):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\ny = \\\n  K.sum(\n2)  # noqa\n{OLD}\n"
    assert lines(scan(source.replace("\n", newline).encode())) == [("KD101", 7)]


def test_a_blanket_comment_does_not_silence_what_is_said_of_comments(scan):
    source = "import keras\nx = 1  # kdoctor: ignore[KD101]  # kdoctor: ignore\n"
    assert ("KD901", 2) in lines(scan(source))
    assert lines(scan("import keras\nx = 1  # kdoctor: ignore[KD101, KD901]\n")) == []
    assert lines(scan("import keras\nx = 1  # kdoctor: ignore[KD1O1, invalid-ignore]\n")) == []


def test_magics_do_not_hide_a_comment(scan):
    cell = f"!ls\n%time {OLD}  # kdoctor: ignore[KD101]\nK.sum(2)"
    source = notebook("%matplotlib inline\n" + HEAD, cell)
    assert lines(scan(source, kind="notebook")) == [("KD101", 3)]


def test_a_comment_counts_behind_prompts_and_in_a_quoted_fence(scan):
    doctest = f"```pycon\n>>> from keras import backend as K\n>>> {OLD}  # kdoctor: ignore[KD101]\n>>> K.dot(1, 2)\n```\n"
    assert lines(scan(doctest, kind="markdown")) == [("KD101", 4)]
    quoted = "> ```python\n" + "".join(f"> {row}\n" for row in HEAD.splitlines())
    assert silenced(scan, f"{quoted}> {OLD}  # kdoctor: ignore\n> ```\n", kind="markdown") == [4]
    rst = f".. code-block:: python\n\n   from keras import backend as K\n   {OLD}  # noqa\n"
    assert silenced(scan, rst, kind="rst") == [4]


def test_the_gate_and_the_number_of_processes_change_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sources = {
        "a.py": f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\n{OLD}\n",
        "b.py": "x = 1  # kdoctor: ignore\n",
        "c.py": "# kdoctor: ignore-file[KD1O1]\nprint 'two'\n",
        "d.py": "x = 1  # noqa: E501\ny = 1  #NoQA:E1, kd101\n",
        "e.md": "```python\nx = 1  # kdoctor: ignore[KD1]\n```\n",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    target = "keras==3.15.1"
    one = engine.scan(["."], target=target, jobs=1)
    assert [(each.place.path, each.code) for each in one.findings] == [
        ("a.py", "KD101"),
        ("b.py", "KD901"),
        ("c.py", "KD902"),
        ("d.py", "KD901"),
        ("e.md", "KD901"),
    ]
    assert engine.scan(["."], target=target, gate=False) == one
    assert engine.scan(sorted(sources, reverse=True), target=target, jobs=2) == one


def test_a_file_without_keras_is_not_parsed_for_its_comments(scan, monkeypatch):
    def refuse(*_):
        raise AssertionError("it was parsed")

    monkeypatch.setattr("kdoctor.engine.examine.Module.parse", refuse)
    assert lines(scan("import os\nx = 1  # kdoctor: ignore[KD101] old\n")) == [("KD901", 2)]
