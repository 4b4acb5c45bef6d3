"""No line gets too long by a fix, and what stood below a bracket stands below it afterwards."""

import ast

import pytest

from kdoctor.engine import fix
from kdoctor.rewrite.layout import has_same_tokens, realigned, rejoined, wrapped

LONG = [
    "model_path = os.path.join(tempfile.gettempdir(), 'some_rather_long_name_%f.keras' % random())",
    "e = layers.dot([query, key], axes=2) / ops.sqrt(ops.maximum(ops.cast(size, dtype=K.floatx()), 0))",
    "x = table[first_index_of_many(a, b, c, d, e), second_index_of_many(f, g, h, i), third_index(j)]",
    "y = (first_of_the_numbers + second_of_the_numbers) * (third_of_the_numbers + the_fourth_of_them)",
    "z = total(each_of_the_numbers * weight_of_the_number for each_of_the_numbers in all_of_the_numbers)",
    "f(*some_rather_long_list_of_arguments, **some_rather_long_mapping_of_keywords, and_one_more=1234)",
    "g(lambda first_argument, second_argument: first_argument * second_argument, the_list_of_pairs_)",
    "def method(self, first_argument, second_argument, third_argument, *rest, **and_all_the_others): pass",
    "if some_condition(of_this, and_of_that) and another_condition(of_these, and_of_those, and_more): pass",
    "h(first_argument,\n  second_argument='a text', third_argument='another text', fourth_argument='a last text')",
    "k(\n    first='one' if the_condition_that_decides_about_it() == 'the value of it' else 'another one',\n)",
]  # fmt: skip


def test_the_parameters_of_a_lambda_stay_on_one_line():
    before = (
        "made = self.add_variable(\n"
        "    some_reference, initializer=lambda shape, dtype, var=var: var, name='a_name', other=1\n)"
    )
    assert wrapped(before, 80) == (
        "made = self.add_variable(\n    some_reference,\n"
        "    initializer=lambda shape, dtype, var=var: var,\n    name='a_name',\n    other=1,\n)"
    )


def test_a_lambda_within_an_item_parts_no_items():
    before = (
        "f(\n    g(lambda first: first), the_second_of_the_items, the_third_of_the_items_here\n)"
    )
    assert wrapped(before, 60) == (
        "f(\n    g(lambda first: first),\n    the_second_of_the_items,\n"
        "    the_third_of_the_items_here,\n)"
    )


@pytest.mark.parametrize("statement", LONG)
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_long_line_is_broken_and_says_the_same(statement, indent):
    before = "\n".join(indent + line for line in statement.split("\n"))
    after = wrapped(before, 88)
    assert max(map(len, after.split("\n"))) <= 88
    assert has_same_tokens(before, after)
    head = "if 1:\n" if indent else ""
    assert ast.dump(ast.parse(head + before)) == ast.dump(ast.parse(head + after))


@pytest.mark.parametrize(
    "statement",
    ["x = 'a text that has no brackets'", "x = f('a text', 1)  # a comment", "f(a,  # why\n  b)"],
)
def test_what_cannot_be_broken_stays(statement):
    assert has_same_tokens(statement, wrapped(statement, 12))
    assert "#" not in statement or wrapped(statement, 12).count("#") == 1


def test_what_is_short_between_brackets_is_no_line_of_its_own():
    line = "result = ops.convert_to_numpy(ops.clip(values, lowest, highest))[()]"
    broken = "result = ops.convert_to_numpy(\n    ops.clip(values, lowest, highest)\n)[()]"
    assert wrapped(line, 60) == broken


def test_lines_go_on_standing_below_their_bracket():
    old = "K.sum(K.abs(x,\n            y),\n      axis=0)"
    new = "ops.sum(ops.absolute(x,\n            y),\n      axis=0)"
    assert (
        realigned(old, new) == "ops.sum(ops.absolute(x,\n                     y),\n        axis=0)"
    )


def test_lines_below_a_bracket_move_with_it_where_others_go():
    old = (
        "model.fit_generator(data.flow(x,\n"
        "                              size=8),\n"
        "                    callbacks=[\n"
        "                        clr,\n"
        "                    ],\n"
        "                    workers=4)"
    )
    new = old.replace("fit_generator", "fit").replace(",\n                    workers=4", "")
    assert realigned(old, new) == (
        "model.fit(data.flow(x,\n"
        "                    size=8),\n"
        "          callbacks=[\n"
        "              clr,\n"
        "          ])"
    )


def test_what_a_fix_writes_on_a_line_of_its_own_stays_where_it_wrote_it():
    old = "K.sum(first(x,\n            y),\n      axis=0)"
    new = "ops.sum(\n    first(x,\n            y), keepdims=False,\n      axis=0)"
    lines = realigned(old, new).split("\n")
    assert lines[1] == "    first(x,"
    assert lines[2:] == ["          y), keepdims=False,", "        axis=0)"]


def test_items_that_had_one_line_get_one_each_as_black_has_it():
    line = "f(\n    first, second=second_of_all, third=third_of_all\n)"
    assert wrapped(line, 40) == (
        "f(\n    first,\n    second=second_of_all,\n    third=third_of_all,\n)"
    )


@pytest.mark.parametrize(
    ("old", "new", "joined"),
    [
        ("f(\n    first, second=2\n)", "f(\n    first\n)", "f(first)"),
        ("x = [\n    f(\n        first, second=2\n    ),\n    1,\n]", None, None),
        # It had room before, too: somebody broke it so.
        ("f(\n    a, b=2\n)", "f(\n    a\n)", "f(\n    a\n)"),
        # It has a comma, or a comment.
        ("f(\n    first, second=2,\n)", "f(\n    first,\n)", "f(\n    first,\n)"),
        ("f(\n    first, second=2  # a\n)", "f(\n    first  # a\n)", "f(\n    first  # a\n)"),
    ],
)
def test_brackets_that_were_broken_for_the_length_of_a_line_close_on_it(old, new, joined):
    if new is None:
        new, joined = old.replace(", second=2", ""), "x = [\n    f(first),\n    1,\n]"
    assert rejoined(old, new, 16) == joined


def test_a_choice_has_a_line_for_each_of_its_parts():
    line = "f(\n    order='one' if this_holds(of='it') else 'other',\n    more=1,\n)"
    assert wrapped(line, 44) == (
        "f(\n    order='one'\n    if this_holds(of='it')\n    else 'other',\n    more=1,\n)"
    )


def test_lines_that_hang_stay_where_they_are():
    old, new = "K.sum(\n    x,\n    axis=0)", "ops.sum(\n    x,\n    axis=0)"
    assert realigned(old, new) == new


SOURCE = "from keras import backend as K\n\n\ndef f(x, y):\n    return {}\n"
CALL = "K.sum(K.square(x), axis=-1) + K.sum(K.square(y), axis=-1)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.black]\nline-length = 70\n"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 70\n"),
        ("setup.cfg", "[flake8]\nmax-line-length = 70\n"),
        ("tox.ini", "[pycodestyle]\nmax_line_length = 70\n"),
        (".flake8", "[flake8]\nmax-line-length = 70\n"),
        ("ruff.toml", "line-length = 70\n"),
    ],
)
def test_the_limit_is_the_projects_own(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    path = tmp_path / "code.py"
    path.write_text(SOURCE.format(CALL))
    assert max(map(len, path.read_text().splitlines())) <= 70
    fix([path], apply=True, target="keras==3.15.1")
    after = path.read_text()
    assert "ops.square(x)" in after
    assert max(map(len, after.splitlines())) <= 70


@pytest.mark.parametrize("text", ['f"{x} of the message"', "'of the message'"])
def test_a_long_text_on_its_own_line_says_nothing_of_the_limit(tmp_path, text):
    long = text.replace("of the", "of the " * 12)
    path = tmp_path / "code.py"
    path.write_text(SOURCE.format(CALL + " + K.sum(x + y)") + f"raise TypeError(\n    {long},\n)\n")
    assert sum(len(line) > 88 for line in path.read_text().splitlines()) == 1
    fix([path], apply=True, target="keras==3.15.1")
    assert sum(len(line) > 88 for line in path.read_text().splitlines()) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file_keeps_its_line_breaks(tmp_path, newline):
    (tmp_path / "ruff.toml").write_text("line-length = 70\n")
    path = tmp_path / "code.py"
    path.write_bytes(SOURCE.format(CALL).replace("\n", newline).encode())
    fix([path], apply=True, target="keras==3.15.1")
    data = path.read_bytes().decode()
    assert data.replace(newline, "").count("\n") == data.replace(newline, "").count("\r") == 0


def test_what_was_too_long_before_is_left_as_it_is(tmp_path):
    (tmp_path / "ruff.toml").write_text("line-length = 40\n")
    path = tmp_path / "code.py"
    path.write_text(SOURCE.format(CALL))
    fix([path], apply=True, target="keras==3.15.1")
    assert path.read_text().count("\n") == SOURCE.count("\n")
