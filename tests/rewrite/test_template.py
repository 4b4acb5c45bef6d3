"""A rewrite is stated as two pieces of code; a wrong statement is an error, never a wrong edit."""

import pytest

from kdoctor.rewrite import not_none, rewrite
from kdoctor.rewrite.pattern import Pattern


def test_the_left_side_is_a_name_and_a_signature_with_defaults():
    pattern = Pattern.parse("keras.backend.sum(x, axis=None, keepdims=False)")
    assert pattern.name == "keras.backend.sum"
    assert {
        name: each.default and each.default.source()
        for name, each in pattern.parameters.items()
        if name != "x"
    } == {
        "axis": "None",
        "keepdims": "False",
    }


def test_the_id_is_readable_and_tells_rows_apart():
    plain = rewrite("keras.backend.clip(x, a, b)", "keras.ops.clip(x, a, b)")
    guarded = rewrite("keras.backend.clip(x, a, b)", "keras.ops.clip(x, a, b)", not_none("a", "b"))
    assert plain.id == "keras.backend.clip(x, a, b) -> keras.ops.clip(x, a, b)"
    assert guarded.id == f"{plain.id} when not_none('a') & not_none('b')"


def test_stating_a_rewrite_that_is_no_python_raises_nothing():
    rewrite("no python (", "neither ( this")


@pytest.mark.parametrize(
    ("left", "right", "complaint"),
    [
        ("keras.f(x)", "keras.g(xx)", "'xx' is neither a parameter"),
        ("keras.f(x)", "keras.ops", "f"),
        ("keras.f(v)", "[v for v in keras.g()]", "binds"),
        ("keras f(x)", "x", "dotted name"),
        ("keras.f(x)", "x\n+ 1", "one line"),
        ("keras.f(*xs)", "keras.g(xs)", "star"),
        ("keras.f(x)", "keras.g(*x)", "star"),
    ],
)
def test_a_template_that_makes_no_sense_is_an_error(left, right, complaint):
    row = rewrite(left, right)
    if complaint == "f":
        row.replacement  # noqa: B018 - a constant is fine
        return
    with pytest.raises(ValueError, match=complaint):
        row.replacement  # noqa: B018


def test_a_guard_about_an_unknown_parameter_is_an_error():
    with pytest.raises(ValueError, match="'y'"):
        rewrite("keras.f(x)", "keras.g(x)", not_none("y")).replacement  # noqa: B018
