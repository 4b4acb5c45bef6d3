"""A finding is known again by its own code, wherever its lines go."""

from pathlib import Path

import pytest

from kdoctor.engine import scan
from kdoctor.engine.identity.fingerprints import fingerprints, normalized_source

SOURCE = """\
from keras import backend as K


class Dice:
    def __call__(self, y_true, y_pred):
        both = K.sum(y_true * y_pred)
        return both / (K.sum(y_true) + K.sum(y_pred))


def focal(p):
    return K.mean(K.pow(1 - p, 2))
"""


def of(path: Path, source: str) -> list[str]:
    path.write_text(source)
    result = scan([path], diffs=False, jobs=1)
    assert result.findings
    return [fingerprints(result)[finding] for finding in result.findings]


def test_no_two_findings_of_a_file_have_the_same(tmp_path: Path) -> None:
    found = of(tmp_path / "a.py", SOURCE)

    assert len(found) == 5
    assert len(set(found)) == 5
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from keras", "import os\n\n\nfrom keras"),
        ("class Dice", "THRESHOLD = 0.5\n\n\nclass Dice"),
        ("y_true * y_pred)", "y_true * y_pred, axis=-1)  # of each row"),
        ("(K.sum(y_true) + K.sum(y_pred))", "(\n            K.sum(y_true)\n + K.sum(y_pred))"),
        ("\n", "\r\n"),
    ],
)
def test_edits_around_a_finding_change_none(tmp_path: Path, old: str, new: str) -> None:
    before = of(tmp_path / "a.py", SOURCE)

    assert of(tmp_path / "b.py", SOURCE.replace(old, new)) == before


def test_another_definition_and_another_symbol_do(tmp_path: Path) -> None:
    before = of(tmp_path / "a.py", SOURCE)

    renamed = of(tmp_path / "a.py", SOURCE.replace("def focal", "def focal_loss"))
    assert [old == new for old, new in zip(before, renamed, strict=True)] == [True] * 3 + [
        False
    ] * 2
    other = of(tmp_path / "a.py", SOURCE.replace("K.mean", "K.max"))
    assert [old == new for old, new in zip(before, other, strict=True)] == [True] * 3 + [
        False,
        True,
    ]


def test_a_definition_is_named_with_all_that_is_around_it(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "from keras import backend as K\n\n\nclass A:\n    def call(self, x):\n"
        "        def inner():\n            return K.exp(x)\n\n        return K.log(inner())\n\n\n"
        "y = K.ones((1,))\n"
    )
    result = scan([path], diffs=False, jobs=1)

    scopes = [result.anchors[finding.place].scope for finding in result.findings]
    assert scopes == ["A.call.inner", "A.call", ""]
    assert [result.anchors[finding.place].source for finding in result.findings] == [
        "K.exp",
        "K.log",
        "K.ones",
    ]


def test_the_context_is_about_a_line_and_outlives_its_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SOURCE + "".join(f"\n\nx{n} = 1" for n in range(30)))
    wide = scan([path], diffs=False, jobs=1)
    path.write_text(
        SOURCE.replace(
            "(K.sum(y_true) + K.sum(y_pred))", "(\n  K.sum(y_true)\n + \n  K.sum(y_pred)\n)"
        )
    )
    narrow = scan([path], diffs=False, jobs=1)

    contexts = [
        "both=K.sum(y_true*y_pred)",
        "return both/(K.sum(y_true)+K.sum(y_pred))",
        "return both/(K.sum(y_true)+K.sum(y_pred))",
        "return K.mean(K.pow(1-p,2))",
        "return K.mean(K.pow(1-p,2))",
    ]
    for result in (wide, narrow):
        assert [result.anchors[each.place].context for each in result.findings] == contexts


def test_in_a_long_expression_the_context_is_the_part_that_is_about_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    layers = "".join(
        f"    layers.Dense({n}, input_dim=4, activation='relu', name='layer'),\n" for n in range(9)
    )
    path.write_text(f"from keras import Sequential, layers\nmodel = Sequential([\n{layers}])\n")
    result = scan([path], diffs=False, jobs=1)

    contexts = {result.anchors[each.place].context for each in result.findings}
    assert "layers.Dense(3,input_dim=4,activation='relu',name='layer')" in contexts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b)", "f(\n    a,\n    b,  # last\n)"),
        ("f(a, b)", "f(a, b,  # last\n)"),
        ("x = 'it\\'s'", 'x = "it\'s"'),
        ('"""a\n  b"""', "'''a\n  b'''"),
        ("a = b \\\n + c", "a = b + c"),
        ("'#1'  # one", '"#1"'),
    ],
)
def test_what_a_formatter_changes_does_not_count(one: str, other: str) -> None:
    assert normalized_source(one) == normalized_source(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("not a", "nota"), ("'a b'", "'ab'"), ("f(a)", "f(b)"), ("x" * 200 + "1", "x" * 200 + "2")],
)
def test_all_else_does(one: str, other: str) -> None:
    assert normalized_source(one) != normalized_source(other)


@pytest.mark.timeout(10)
def test_what_is_no_python_costs_no_time() -> None:
    assert normalized_source("'" + "\\" * 5000)
    assert normalized_source(",#" * 5000)
