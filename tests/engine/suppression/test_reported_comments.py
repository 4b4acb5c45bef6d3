"""What is said of the comments themselves, and the fix that takes them out."""

import pytest

from kdoctor import engine
from kdoctor.engine.fixes import fixpoint
from kdoctor.engine.fixes.fix_line import fix_chosen
from kdoctor.errors import SyntaxProblem
from kdoctor.keras_api import newest_target
from kdoctor.model import Applicability

from .conftest import HEAD, lines, notebook

OLD = "x = K.sum(1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # kdoctor: ignore[KD101] old\n", "x = 1\n"),
        ("x = 1# kdoctor: ignore\n", "x = 1\n"),
        ("x = 1  # why  # kdoctor: ignore  # noqa\n", "x = 1  # why  # noqa\n"),
        ("x = 1  # kdoctor: ignore[KD101]  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: E501, KD101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: KD101, E501 long\n", "x = 1  # noqa: E501 long\n"),
        ("x = 1  # noqa:KD101\n", "x = 1\n"),
        ("# kdoctor: ignore[KD1]\nx = 1\n", "x = 1\n"),
        ("if 1:\n    # kdoctor: off\n    x = 1\n", "if 1:\n    x = 1\n"),
        ("x = 1\n# kdoctor: ignore-file", "x = 1"),
        ("# kdoctor: ignore-file", ""),
        ("x = 1  # kdoctor: ignore\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        (
            f"{HEAD}{OLD}  # kdoctor: ignore[KD201, KD101,KD301] for now\n",
            f"{HEAD}{OLD}  # kdoctor: ignore[KD101] for now\n",
        ),
    ],
)
def test_what_is_unused_is_told_and_taken_out_and_nothing_else(scan, fix, before, after):
    told = [each for each in scan(before).findings if each.code == "KD901"]
    assert told
    assert {each.fix.applicability for each in told} == {Applicability.SAFE}
    assert all(each.fix.diff for each in told)
    assert fix(before).decode() == after
    assert lines(scan(after)) == []


def test_in_notebooks_and_pages_too(fix):
    before, after = (notebook(HEAD, f"!ls\nx = 1{end}\ny = 1") for end in ("  # noqa: KD1", ""))
    assert fix(before, kind="notebook") == after
    page = "> ```python\n> # kdoctor: off\n> x = 1\n> ```\n"
    assert fix(page, kind="markdown").decode() == "> ```python\n> x = 1\n> ```\n"
    session = "```pycon\n>>> x = 1  # kdoctor: ignore  # doctest: +SKIP\n1\n```\n"
    assert fix(session, kind="markdown").decode() == session.replace("# kdoctor: ignore  ", "")


def test_comments_of_other_tools_are_never_told(scan):
    assert lines(scan("import keras\nx = 1  # noqa\ny = 1  # noqa: F401\n# flake8: noqa\n")) == []


def test_a_comment_for_a_rule_that_was_not_asked_is_not_called_unused(scan):
    source = "import keras\nx = 1  # kdoctor: ignore[KD101]\ny = 1  # kdoctor: ignore\n"
    assert lines(scan(source)) == [("KD901", 2), ("KD901", 3)]
    assert lines(scan(source, ignore=["KD101"])) == []
    assert lines(scan(source, select=["KD2", "KD9"])) == []
    assert lines(scan(source, select=["KD101", "KD9"])) == [("KD901", 2)]
    assert lines(scan(source, ignore=["KD901"])) == []


def test_asked_about_comments_alone_all_rules_are_heard_and_none_is_told(scan):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\n{OLD}  # kdoctor: ignore[KD201]\n"
    result = scan(source, select=["KD9"])
    assert lines(result) == [("KD901", 4)]
    assert result.suppressed == ()


def test_on_keras_2_what_was_silenced_for_keras_3_is_not_called_unused(scan):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\ny = 1  # kdoctor: ignore[KD1O1]\n"
    assert lines(scan(source, target="keras==2.15")) == [("KD902", 4)]


def test_a_rule_that_is_asked_for_by_namespace_only_is_not_called_unused(scan):
    assert lines(scan("import tensorflow\nx = 1  # kdoctor: ignore[KD710]\n")) == []


def test_a_rule_that_is_asked_for_by_backend_only_is_not_called_unused(scan):
    source = "import keras\nx = 1  # kdoctor: ignore[KD801]\n"
    assert lines(scan(source)) == []
    assert lines(scan(source, backend="jax")) == [("KD901", 2)]


def test_a_comment_that_something_narrower_makes_needless_is_told(scan):
    source = f"# kdoctor: ignore-file[KD101]\n{HEAD}{OLD}  # kdoctor: ignore[KD101]\n"
    assert lines(scan(source)) == [("KD901", 1)]
    other_tools = f"# kdoctor: ignore-file[KD101]\n{HEAD}{OLD}  # noqa\n"
    assert lines(scan(other_tools)) == []


def test_nothing_is_called_unused_beside_what_could_not_be_asked(scan, monkeypatch):
    # Nothing is wrong with the second block, but a rule could have found something there.
    asked = f"{HEAD}if hasattr(K, 'sum'):\n    K.sum(1)\n"
    page = f"```python\n# kdoctor: ignore-file\nx = 1\n```\n\n```python\n{asked}```\n"
    assert lines(scan(page, kind="markdown")) == [("KD901", 2)]

    def refuse(*_):
        raise SyntaxProblem("libcst cannot parse this", 1, 1)

    monkeypatch.setattr("kdoctor.engine.examine.Module.parse", refuse)
    assert lines(scan(page, kind="markdown")) == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("ignore[KD1O1]", "Did you mean KD101?"),
        ("ignore[KD999]", "Did you mean"),
        ("ignore KD101", "`# kdoctor: ignore[KD101]`"),
        ("ingore[KD1]", "`# kdoctor: ignore[KD1]`"),
        ("disable[KD1]", "`# kdoctor: off[KD1]`"),
        ("noqa", "`# kdoctor: ignore`"),
        ("[KD1]", "`# kdoctor: ignore[KD1]`"),
        ("ignore[KD101", "`# kdoctor: ignore[KD101] reason`"),
        ("ignore[ , ]", "`# kdoctor: ignore` for all of them"),
    ],
)
def test_a_comment_that_is_not_understood_is_told_with_what_to_write(scan, comment, said):
    (finding,) = scan(f"x = 1  # kdoctor: {comment}\n").findings
    assert finding.code == "KD902"
    assert said in finding.help
    assert finding.place.line == 1


def test_a_comment_that_only_speaks_of_kdoctor_is_none(scan):
    assert lines(scan("import keras  # kdoctor: a doctor for Keras\n# kdoctor:\n")) == []


def test_a_fix_leaves_alone_what_is_silenced_and_its_comment(fix):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101] later\ny = K.mean(\n    K.sum(2),  # noqa\n)\n"
    after = fix(source, unsafe=True).decode()
    assert f"{OLD}  # kdoctor: ignore[KD101] later\n" in after
    assert "y = ops.mean(\n    K.sum(2),  # noqa\n)" in after
    assert "from keras import backend as K" in after


def test_an_error_on_a_silenced_line_is_explained_by_its_finding_all_the_same():
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\ny = 1  # kdoctor: ignore[KD2]\n".encode()
    chosen = fix_chosen("f.py", source, newest_target(), lambda findings: findings)
    assert [finding.code for finding in chosen.findings] == ["KD101"]


def test_an_import_that_is_silenced_stays_with_its_comment(scan, fix):
    source = (
        "from keras.utils.np_utils import to_categorical  # kdoctor: ignore[KD102] py2\n"
        "from keras import backend as K\n\nto_categorical(K.sum(1))\n"
    )
    assert [each.finding.code for each in scan(source).suppressed] == ["KD102"]
    assert "to_categorical  # kdoctor: ignore[KD102] py2\n" in fix(source).decode()


def test_a_fix_that_would_lose_a_comment_of_use_is_given_up(monkeypatch):
    source = f"{HEAD}{OLD}  # kdoctor: ignore[KD101]\ny = K.sum(2)\n".encode()
    honest = fixpoint.texts_of

    def careless(unit, fixes, *how):
        new = honest(unit, fixes, *how)
        return [text.replace("# kdoctor: ignore[KD101]", "") for text in new]

    monkeypatch.setattr(fixpoint, "texts_of", careless)
    result = engine.fix(["-"], stdin=source, target="keras==3.15.1")
    assert not result.files
    assert "`# kdoctor: ignore KD101`" in result.left_alone[0].why
