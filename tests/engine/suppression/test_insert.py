"""``add_ignores``: a comment for every finding, and nothing else changed."""

import ast

import pytest

from kdoctor import engine
from kdoctor.documents import Document
from kdoctor.engine.suppression import insert
from kdoctor.model import Applicability, Edit
from kdoctor.suppression import ignore_fix

from .conftest import HEAD, lines, notebook

OLD = "x = K.sum(1)"


def added(fix, scan, source, kind=None, reason=""):
    after = fix(source, add_ignores=reason, kind=kind)
    assert lines(scan(after, kind=kind)) == []
    return after.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = K.sum(1)", "x = K.sum(1)  # kdoctor: ignore[KD101] old"),
        ("x = K.sum(1)  \n", "x = K.sum(1)  # kdoctor: ignore[KD101] old  \n"),
        ("x = K.sum(1)  # why\n", "x = K.sum(1)  # why  # kdoctor: ignore[KD101] old\n"),
        (
            "x = K.sum(1)  # kdoctor: ignore[KD201] mine\n",
            "x = K.sum(1)  # kdoctor: ignore[KD201, KD101] mine\n",
        ),
        ("x = K.sum(1)  # noqa: E1\n", "x = K.sum(1)  # noqa: E1  # kdoctor: ignore[KD101] old\n"),
        ("x = 1 + \\\n  K.sum(1)\n", "x = 1 + \\\n  K.sum(1)  # kdoctor: ignore[KD101] old\n"),
        (
            "x = K.sum(1) + \\\n  2\ny = K\n",
            "x = K.sum(1) + \\\n  2  # kdoctor: ignore[KD101] old\ny = K\n",
        ),
        (
            'x = f"""{K.sum(1)}\n"""\ny = K\n',
            'x = f"""{K.sum(1)}\n"""  # kdoctor: ignore[KD101] old\ny = K\n',
        ),
        (
            "x = print(\n    K.sum(1),\n    2)\n",
            "x = print(\n    K.sum(1),  # kdoctor: ignore[KD101] old\n    2)\n",
        ),
        ("K.sum(1); K.dot(1, 2)\n", "K.sum(1); K.dot(1, 2)  # kdoctor: ignore[KD101] old\n"),
        ("if K.sum(1): pass\n", "if K.sum(1): pass  # kdoctor: ignore[KD101] old\n"),
        ("x = K.sum(1)\r\ny = K\r\n", "x = K.sum(1)  # kdoctor: ignore[KD101] old\r\ny = K\r\n"),
    ],
)
def test_the_comment_comes_where_it_may_stand(fix, scan, before, after):
    unused = "KD201" in before  # what is there and silences nothing is told as before
    result = fix(HEAD + before, add_ignores="old").decode()
    assert result == HEAD + after
    assert [code for code, _ in lines(scan(result))] == ["KD901"] * unused


def test_several_rules_of_a_line_stand_in_one_comment(fix, scan):
    source = f"{HEAD}keras.layers.Dense(3, input_shape=(4,)); {OLD}\n"
    codes = ", ".join(sorted({code for code, _ in lines(scan(source))}))
    assert ", " in codes
    assert added(fix, scan, source) == f"{source[:-1]}  # kdoctor: ignore[{codes}]\n"


def test_what_a_comment_at_an_end_of_the_statement_silences_gets_none_of_its_own(fix, scan):
    source = f"{HEAD}x = K.sum(\n  K.dot(1, 2),\n  axis=-1,\n)\nprint(\n K.dot(1, 2),\n K.sum(1))\n"
    after = added(fix, scan, source).split("\n")
    assert [row for row, text in enumerate(after, 1) if "KD101" in text] == [3, 9]


def test_in_a_notebook_only_the_sources_of_some_cells_change(fix, scan):
    cells = [HEAD, f"%matplotlib inline\n%time {OLD}\n!ls", "print('ü')", f"{OLD}\n"]
    before = notebook(*cells).replace(b'"outputs": []', b'"outputs" : [ ]')
    cells[1] = cells[1].replace(OLD, f"{OLD}  # kdoctor: ignore[KD101]")
    cells[3] = cells[3].replace(OLD, f"{OLD}  # kdoctor: ignore[KD101]")
    after = notebook(*cells).replace(b'"outputs": []', b'"outputs" : [ ]')
    assert added(fix, scan, before, "notebook").encode() == after


def test_in_pages_it_stands_behind_margins_and_before_options_of_doctest(fix, scan):
    page = (
        f"- a\n\n  > ```python\n  > from keras import backend as K\n  > {OLD}\n  > ```\n\n"
        f">>> from keras import backend as K\n>>> {OLD}  # doctest: +SKIP\n1\n"
    )
    source = page.replace(">>> from", "```\n>>> from") + "```\n"
    after = added(fix, scan, source, "markdown", "old")
    comment = "# kdoctor: ignore[KD101] old"
    wanted = source.replace(f"{OLD}\n", f"{OLD}  {comment}\n")
    assert after == wanted.replace("# doctest", f"{comment}  # doctest")
    rst = f"Loss\n\n.. code-block:: python\n\n   from keras import backend as K\n   {OLD}\n"
    assert added(fix, scan, rst, "rst", "old") == rst.replace(OLD, f"{OLD}  {comment}")


def test_adding_again_changes_nothing_and_the_code_is_the_same(fix, scan):
    source = f"{HEAD}def f(x):\n    return K.dot(x,\n      K.sum(x))\n\n\nf(\n  K.mean(1))\n"
    after = added(fix, scan, source, reason="a\nb")
    assert "ignore[KD101] a b\n" in after
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(source))
    assert fix(after, add_ignores="").decode() == after


def test_without_one_of_the_comments_just_its_finding_comes_back(fix, scan):
    rows = added(fix, scan, f"{HEAD}{OLD}\nprint(\n  K.dot(1, 2),\n  K.mean(1),\n)\n").split("\n")
    marked = [row for row, text in enumerate(rows) if "kdoctor" in text]
    assert len(marked) == 3
    for row in marked:
        without = [*rows]
        without[row] = rows[row].partition("  #")[0]
        assert lines(scan("\n".join(without))) == [("KD101", row + 1)]


def test_what_is_said_of_comments_is_not_silenced_by_comments(fix):
    source = "x = 1  # kdoctor: ignore[KD101]\n"
    assert fix(source, add_ignores="").decode() == source


def test_only_the_rules_that_are_asked_get_a_comment(fix):
    source = f"{HEAD}{OLD}\n"
    assert fix(source, add_ignores="", select=["KD3"]).decode() == source


def test_a_comment_that_would_change_the_code_is_given_up(monkeypatch):
    monkeypatch.setattr(
        insert, "ignore_edits", lambda _, found, __: [Edit(found[0].place.span, ("1",))]
    )
    result = engine.fix(["-"], stdin=f"{HEAD}{OLD}\n".encode(), add_ignores="")
    assert not result.files
    assert "the code would change" in result.left_alone[0].why


def test_an_editor_may_offer_it_for_one_finding(scan):
    source = f"{HEAD}{OLD}\n"
    document = Document.parse(source.encode(), "f.py")
    fix = ignore_fix(document.units[0], scan(source).findings[0])
    assert fix.applicability is Applicability.MANUAL
    assert fix.title == "Ignore KD101 on this line"
    (edit,) = fix.edits
    assert edit.parts == ("  # kdoctor: ignore[KD101]",)
    assert edit.span.start == edit.span.end == len(source) - 1
