"""Calls: arguments keep their text, their values and their places; nothing gets lost."""

import pytest

from tests.rewrite.rewrites_of_calls import (
    ARGMAX,
    BIAS,
    CAST,
    EXPAND,
    FLATTEN,
    IDENTITY,
    PERMUTE,
    RELU,
    REPEAT,
    SET,
    SHAPE,
    SUM,
    ZEROS,
)


class TestEditsAreMinimal:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("y = K.sum(x)", "y = ops.sum(x)"),
            ("y = K.sum(x, 1, True)", "y = ops.sum(x, 1, True)"),
            ("y = K.sum(x,axis = -1)", "y = ops.sum(x,axis = -1)"),
            ("y = K.sum(keepdims=True, x=x)", "y = ops.sum(keepdims=True, x=x)"),
            ("y = K.sum( x , )", "y = ops.sum( x , )"),
            ("y = K . sum(x)", "y = ops.sum(x)"),
            ("y = (K.sum)(x)", "y = (ops.sum)(x)"),
            ("y = K.sum(x for x in xs)", "y = ops.sum(x for x in xs)"),
            (
                "y = K.sum(\n    x,  # the input\n    axis=-1,\n)",
                "y = ops.sum(\n    x,  # the input\n    axis=-1,\n)",
            ),
        ],
    )
    def test_an_argument_list_that_fits_stays_as_it_is(self, line, before, after):
        assert line(before, SUM) == after

    def test_a_keyword_with_a_new_name_changes_its_name_only(self, line):
        before = "y = K.permute_dimensions(x, pattern = (\n    0, 2, 1))  # swap"
        assert line(before, PERMUTE) == "y = ops.transpose(x, axes = (\n    0, 2, 1))  # swap"

    def test_a_position_that_is_no_more_becomes_a_keyword(self, line):
        signatures = {
            "keras.activations.relu": "x, *, negative_slope=0.0, max_value=None, threshold=0.0"
        }
        before = "y = K.relu(x, 0.1, max_value=6)"
        after = "y = activations.relu(x, negative_slope=0.1, max_value=6)"
        assert line(before, RELU, signatures=signatures) == after

    def test_a_keyword_of_an_unknown_callable_becomes_the_position_of_the_template(self, line):
        unknown = {"keras.ops.transpose": None}
        assert (
            line("K.permute_dimensions(x, pattern=p)", PERMUTE, signatures=unknown)
            == "ops.transpose(x, p)"
        )


class TestShortDtypes:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("K.cast(x, 'float')", "ops.cast(x, 'float32')"),
            ("K.cast(x, dtype=(\n    r'half'  # short\n))", None),
            ('K.cast(K.cast(x, "double"), "half")', 'ops.cast(ops.cast(x, "float64"), "float16")'),
            ("K.cast('float', x)", "ops.cast('float', x)"),
            ("K.cast(x, 'floats')", "ops.cast(x, 'floats')"),
            ("K.cast(x, float)", "ops.cast(x, float)"),
        ],
    )
    def test_a_dtype_is_written_by_its_full_name(self, line, before, after):
        full = after or "ops.cast(x, dtype=(\n    r'float16'  # short\n))"
        assert line(before, CAST) == full

    def test_a_dtype_that_moves_is_written_by_its_full_name(self, line):
        after = "Variable(ops.zeros((2,), dtype='float32'))"
        assert line("K.zeros((2,), 'float')", ZEROS) == after


class TestDefaults:
    def test_an_argument_not_passed_is_left_out_where_the_new_default_is_the_same(self, line):
        assert line("K.sum(x)", SUM) == "ops.sum(x)"

    def test_an_argument_not_passed_is_written_out_where_the_new_default_differs(self, line):
        assert line("K.argmax(x)", ARGMAX) == "ops.argmax(x, axis=-1)"

    def test_an_argument_not_passed_is_written_out_where_there_is_no_new_default(self, line):
        assert line("K.expand_dims(x)", EXPAND) == "ops.expand_dims(x, axis=-1)"

    def test_an_argument_not_passed_is_written_out_where_the_new_default_is_unknown(self, line):
        assert (
            line("K.argmax(x)", ARGMAX, signatures={"keras.ops.argmax": None})
            == "ops.argmax(x, -1)"
        )

    def test_what_is_written_out_stands_before_comments_and_commas(self, line):
        assert (
            line("K.argmax(\n    x,  # scores\n)", ARGMAX)
            == "ops.argmax(\n    x, axis=-1,  # scores\n)"
        )

    def test_what_is_written_out_has_a_line_where_each_argument_has_one(self, line):
        assert line("K.argmax(\n    x,\n)", ARGMAX) == "ops.argmax(\n    x,\n    axis=-1,\n)"

    def test_an_argument_passed_is_kept_even_where_it_is_the_default(self, line):
        assert line("K.argmax(x, -1)", ARGMAX) == "ops.argmax(x, -1)"

    def test_an_equal_number_of_another_type_is_another_default(self, line):
        row = ("keras.backend.f(x, a=1)", "keras.ops.f(x, a)")
        assert line("K.f(x)", row, signatures={"keras.ops.f": "x, a=1.0"}) == "ops.f(x, a=1)"
        assert line("K.f(x)", row, signatures={"keras.ops.f": "x, a=True"}) == "ops.f(x, a=1)"

    def test_quotes_make_no_other_default(self, line):
        row = ("keras.backend.f(x, a='same')", "keras.ops.f(x, a)")
        assert line("K.f(x)", row, signatures={"keras.ops.f": 'x, a="same"'}) == "ops.f(x)"

    def test_what_follows_a_gap_is_passed_by_keyword(self, line):
        row = ("keras.backend.f(x, b, a=None)", "keras.ops.f(x, a, b)")
        assert (
            line("K.f(x, y)", row, signatures={"keras.ops.f": "x, a=None, b=None"})
            == "ops.f(x, b=y)"
        )

    def test_a_gap_before_what_has_no_keyword_is_filled(self, line):
        row = ("keras.backend.f(x, b, a=None)", "keras.ops.f(x, a, b)")
        known = {"keras.ops.f": "x, a=None, b=None, /"}
        assert line("K.f(x, y)", row, signatures=known) == "ops.f(x, None, y)"

    def test_a_default_gets_parentheses_where_it_needs_them(self, line):
        assert (
            line("K.f(x)", ("keras.backend.f(x, a=-1)", "x ** 2 + a.real")) == "x ** 2 + (-1).real"
        )


class TestTheCallIsBuiltAnew:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("K.flatten(x)", "ops.reshape(x, (-1,))"),
            ("K.flatten(x=x)", "ops.reshape(x=x, newshape=(-1,))"),
            ("K.flatten(\n    x,  # images\n)", "ops.reshape(\n    x, (-1,),  # images\n)"),
            ("K.flatten(x for x in xs)", "ops.reshape((x for x in xs), (-1,))"),
            ("K.flatten(y := f(x))", "ops.reshape((y := f(x)), (-1,))"),
        ],
    )
    def test_a_new_argument_is_added_after_the_others(self, line, before, after):
        assert line(before, FLATTEN) == after

    def test_an_argument_is_wrapped_where_it_stands(self, line):
        after = "ops.repeat(ops.expand_dims(x, 1), 3,  # times\n    axis=1)"
        assert line("K.repeat(x, 3  # times\n)", REPEAT).replace("\n", "") == (
            "ops.repeat(ops.expand_dims(x, 1), 3, axis=1  # times)"
        )
        del after

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("y = -K.bias_add(a, b)", "y = -(a + b)"),
            ("y = K.bias_add(a, b).shape", "y = (a + b).shape"),
            ("y = K.bias_add(a, b)[0]", "y = (a + b)[0]"),
            ("y = K.bias_add(a, b) * 2", "y = (a + b) * 2"),
            ("y = K.bias_add(a, b) + 2", "y = a + b + 2"),
            ("y = 2 - K.bias_add(a, b)", "y = 2 - (a + b)"),
            ("y = K.bias_add(a, b) ** 2", "y = (a + b) ** 2"),
            ("y = 2 ** K.bias_add(a, b)", "y = 2 ** (a + b)"),
            ("y = f(*K.bias_add(a, b))", "y = f(*a + b)"),
            ("y = [*K.bias_add(a, b)]", "y = [*a + b]"),
            ("y = f(k=K.bias_add(a, b))", "y = f(k=a + b)"),
            ("y = not K.bias_add(a, b)", "y = not a + b"),
            ("y = K.bias_add(a, b) if c else d", "y = a + b if c else d"),
            ("y = lambda: K.bias_add(a, b)", "y = lambda: a + b"),
            ("y = x[K.bias_add(a, b)]", "y = x[a + b]"),
            ("y = x[K.bias_add(a, b):]", "y = x[a + b:]"),
            ("y = {K.bias_add(a, b): 1}", "y = {a + b: 1}"),
            ("y = f'{K.bias_add(a, b)}'", "y = f'{a + b}'"),
            ("y = 1 < K.bias_add(a, b) < 2", "y = 1 < a + b < 2"),
            ("y = (K.bias_add(a, b)).shape", "y = (a + b).shape"),
            ("y = K.bias_add(a, b)(c)", "y = (a + b)(c)"),
            (
                "y = [z for z in K.bias_add(a, b) if K.bias_add(a, b)]",
                "y = [z for z in a + b if a + b]",
            ),
            ("K.bias_add(a, b)", "a + b"),
            ("y = a if K.bias_add(a, b) else c", "y = a if a + b else c"),
            ("@K.bias_add(a, b)\ndef f(): ...", "@a + b\ndef f(): ..."),
        ],
    )
    def test_parentheses_stand_around_the_result_where_its_surroundings_bind_tighter(
        self, line, before, after
    ):
        assert line(before, BIAS) == after

    def test_awaiting_binds_tighter_than_most(self, line):
        before = "async def f():\n    return await K.bias_add(a, b)"
        assert line(before, BIAS) == "async def f():\n    return await (a + b)"

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("K.bias_add(a or b, c)", "(a or b) + c"),
            ("K.bias_add(a - b, c - d)", "a - b + (c - d)"),
            ("K.bias_add(a * b, c * d)", "a * b + c * d"),
            ("K.bias_add(lambda: a, b)", "(lambda: a) + b"),
            ("K.bias_add(a if b else c, d)", "(a if b else c) + d"),
            ("K.bias_add(not a, b)", "(not a) + b"),
            ("K.bias_add(-a, -b)", "-a + -b"),
            ("K.bias_add((a), b)", "(a) + b"),
            ("K.bias_add((a, b), c)", "(a, b) + c"),
            ("K.bias_add('a' 'b', c)", "'a' 'b' + c"),
            ("K.bias_add(a < b, c)", "(a < b) + c"),
            ("K.bias_add(bias=b, x=a)", "a + b"),
            ("K.set_value(a + b, c if d else e)", "(a + b).assign(c if d else e)"),
            ("K.set_value(1, b)", "(1).assign(b)"),
            ("K.set_value(-a, b)", "(-a).assign(b)"),
            ("K.set_value(a.b[0], b)", "a.b[0].assign(b)"),
            ("K.set_value(x, y for y in z)", None),
            ("K.set_value(a, (y for y in z))", "a.assign((y for y in z))"),
            ("K.int_shape(a or b)", "tuple((a or b).shape)"),
        ],
    )
    def test_parentheses_stand_around_an_argument_where_the_template_binds_tighter(
        self, line, before, after
    ):
        if after is not None:
            assert line(before, BIAS, SET, SHAPE) == after

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("K.identity(a + b) * 2", "(a + b) * 2"),
            ("K.identity(-a) ** 2", "(-a) ** 2"),
            ("2 + K.identity(a * b)", "2 + a * b"),
            ("y = K.identity(a + b)", "y = a + b"),
            ("K.identity(2).real", "(2).real"),
            ("K.identity(K.identity(a + b)) * 2", "(a + b) * 2"),
            ("K.identity(K.bias_add(a, b)) * 2", "(a + b) * 2"),
            ("K.set_value(K.identity(a + b), c)", "(a + b).assign(c)"),
            ("y = K.identity(a +\n  b) * 2", "y = (a +\n  b) * 2"),
        ],
    )
    def test_an_argument_that_stands_alone_binds_as_it_did(self, line, before, after):
        assert line(before, IDENTITY, BIAS, SET) == after

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("y = K.bias_add(a +\n  c, b)", "y = (a +\n  c) + b"),
            ("y = K.bias_add(f(\n  c), b)", "y = f(\n  c) + b"),
            ("y = K.bias_add('''\n''', b)", "y = '''\n''' + b"),
            ("y = [K.bias_add(a +\n  c, b)]", "y = [a +\n  c + b]"),
            ("y = K.bias_add(a, 'x'\n  'y')", "y = a + ('x'\n  'y')"),
            ("y = K.bias_add(a.\n  b, c)", "y = (a.\n  b) + c"),
        ],
    )
    def test_lines_that_broke_inside_the_old_parentheses_get_new_ones(self, line, before, after):
        assert line(before, BIAS) == after

    def test_comments_between_arguments_that_have_no_place_are_a_reason(self, refusal):
        assert "comments" in refusal("y = K.bias_add(\n    a,  # the input\n    b,\n)", BIAS)

    def test_comments_inside_an_argument_come_along(self, line):
        before = "y = K.bias_add([\n    a,  # first\n], b)"
        assert line(before, BIAS) == "y = [\n    a,  # first\n] + b"


class TestNothingIsDropped:
    def test_an_argument_without_counterpart_is_a_reason(self, refusal):
        assert "`data_format` has no counterpart" in refusal(
            "K.bias_add(a, b, data_format=fmt)", BIAS
        )

    def test_an_argument_without_counterpart_may_have_its_old_default(self, line):
        assert line("K.bias_add(a, b, data_format=None)", BIAS) == "a + b"

    def test_star_arguments_are_a_reason(self, refusal):
        assert "hides what goes to which parameter" in refusal("K.sum(*args)", SUM)

    def test_an_unknown_keyword_is_a_reason(self, refusal):
        assert "no parameter `dtype`" in refusal("K.sum(x, dtype='int32')", SUM)

    def test_a_wrong_number_of_arguments_is_a_reason(self, refusal):
        assert "does not pass `x`" in refusal("K.sum()", SUM)
        assert "more positional" in refusal("K.sum(x, 1, 2, 3)", SUM)

    def test_a_comment_inside_the_name_is_a_reason(self, refusal):
        assert "comment" in refusal("y = (K  # backend\n    .sum(x))", SUM)


class TestAnArgumentUsedTwice:
    TWICE = ("keras.backend.f(x)", "x * x")

    @pytest.mark.parametrize("argument", ["a", "1", "-1", "'a'", "True", "(1, 2)", "(a)", "[a, 1]"])
    def test_is_copied_if_it_is_a_name_or_a_literal(self, line, argument):
        assert line(f"K.f({argument})", self.TWICE) == f"{argument} * {argument}"

    @pytest.mark.parametrize("argument", ["a.b", "f()", "a[0]", "[f()]", "a + 1", "lambda: 0"])
    def test_gets_a_name_if_it_is_anything_else(self, line, argument):
        assert line(f"K.f({argument})", self.TWICE) == f"(x := {argument}) * x"

    @pytest.mark.parametrize("argument", ["a.b", "f()", "a[0]", "[f()]", "a + 1", "lambda: 0"])
    def test_is_a_reason_where_no_name_can_be_given(self, refusal, argument):
        assert "evaluated 2 times" in refusal(f"[K.f({argument}) for a in b]", self.TWICE)


def test_a_builtin_of_the_template_that_the_file_hides_is_a_reason(refusal):
    assert "`tuple`" in refusal("tuple = 1\ny = K.int_shape(x)", SHAPE)


def test_the_first_row_that_holds_wins(line):
    rows = [
        ("keras.backend.f(x)", "keras.ops.one(x)"),
        ("keras.backend.f(x, a)", "keras.ops.two(x, a)"),
        ("keras.backend.f(x, a)", "keras.ops.three(x, a)"),
    ]
    assert line("K.f(x, 1)", *rows) == "ops.two(x, 1)"


def test_the_nearest_row_gives_the_reason(refusal):
    rows = [
        ("keras.backend.f(x)", "keras.ops.one(x)"),
        ("keras.backend.f(x, a)", "a * a + x"),
    ]
    assert "evaluated 2 times" in refusal("[K.f(x, g()) for x in y]", *rows)


def test_a_name_without_rows_is_left_alone(fix):
    source = "from keras import backend as K\nK.other(x)\n"
    assert fix(source, SUM).text == source


def test_calls_in_every_corner_of_the_grammar_parse_after_the_fix(fix):
    source = (
        "from keras import backend as K\n"
        "@K.bias_add(a, b)\n"
        "class A(K.bias_add(a, b), k=K.bias_add(a, b)):\n"
        "    x: K.bias_add(a, b) = K.bias_add(a, b)\n"
        "    x += K.bias_add(a, b)\n"
        "def f(a=K.bias_add(a, b)) -> K.bias_add(a, b):\n"
        "    with K.bias_add(a, b) as c, K.bias_add(a, b): pass\n"
        "    for i in K.bias_add(a, b): pass\n"
        "    while K.bias_add(a, b): assert K.bias_add(a, b), K.bias_add(a, b)\n"
        "    if K.bias_add(a, b): return K.bias_add(a, b)\n"
        "    elif K.bias_add(a, b): yield K.bias_add(a, b)\n"
        "    raise K.bias_add(a, b) from K.bias_add(a, b)\n"
        "    del x[K.bias_add(a, b)]\n"
        "    return K.bias_add(a, b), *K.bias_add(a, b)\n"
        "    yield from K.bias_add(a, b)\n"
        "    x[K.bias_add(a, b), 1:K.bias_add(a, b)] = {**K.bias_add(a, b)}\n"
        "    (y := K.bias_add(a, b))\n"
        "    match K.bias_add(a, b):\n"
        "        case 1 if K.bias_add(a, b): pass\n"
        "    try: pass\n"
        "    except K.bias_add(a, b): pass\n"
    )  # fmt: skip
    result = fix(source, BIAS)
    assert "K" not in result.text.replace("k=", "")
    assert not result.reasons


@pytest.mark.parametrize(
    ("left", "right", "call", "told"),
    [
        ("square(x)", "keras.ops.square(x)", "square(a)", "ops.square"),
        ("flatten(x)", "keras.ops.reshape(x, (-1,))", "flatten(a)", "ops.reshape(x, (-1,))"),
        ("int_shape(x)", "tuple(x.shape)", "int_shape(a)", "tuple(x.shape)"),
        (
            "argmax(x, axis=-1)",
            "keras.ops.cast(keras.ops.argmax(x, axis=axis), 'int64')",
            "argmax(a)",
            "ops.cast(ops.argmax(x, axis=axis), 'int64')",
        ),
    ],
)
def test_the_title_tells_all_of_the_new_side_that_a_change_of_name_does_not(
    fix, left, right, call, told
):
    source = f"from keras import backend as K, ops\nK.{call}"
    (made,) = fix(source, (f"keras.backend.{left}", right)).fixes

    assert made.title == f"Write `{told}` instead of `K.{call.partition('(')[0]}`"
