"""What stands around and inside of a call: other calls, inner scopes, f-strings, stars."""

import pytest

from tests.rewrite.rewrites_of_calls import (
    ABS,
    BIAS,
    FLATTEN,
    MEAN,
    REPEAT,
    SET,
    SHAPE,
    SQUARE,
    SUM,
    UID,
)


class TestNesting:
    def test_nested_calls_come_out_whole_in_one_pass(self, line):
        before = "loss = K.mean(K.square(K.abs(a - b)), axis=-1)"
        assert (
            line(before, MEAN, SQUARE, ABS)
            == "loss = ops.mean(ops.square(ops.abs(a - b)), axis=-1)"
        )

    def test_calls_that_are_built_anew_nest_too(self, line):
        before = "y = K.bias_add(K.bias_add(a, b), K.flatten(K.set_value(c, K.bias_add(d, e))))"
        after = "y = a + b + ops.reshape(c.assign(d + e), (-1,))"
        assert line(before, BIAS, FLATTEN, SET) == after

    def test_parentheses_are_those_of_the_new_neighbours(self, line):
        assert line("K.set_value(K.bias_add(a, b), c)", BIAS, SET) == "(a + b).assign(c)"
        assert (
            line("K.int_shape(K.flatten(a))", SHAPE, FLATTEN)
            == "tuple(ops.reshape(a, (-1,)).shape)"
        )
        assert (
            line("K.flatten(K.flatten(a))", FLATTEN) == "ops.reshape(ops.reshape(a, (-1,)), (-1,))"
        )
        assert line("K.repeat(K.repeat(a, 2), 3)", REPEAT) == (
            "ops.repeat(ops.expand_dims(ops.repeat(ops.expand_dims(a, 1), 2, axis=1), 1), 3, axis=1)"
        )

    def test_what_cannot_be_rewritten_keeps_what_can_inside(self, line):
        assert line("K.sum(K.square(a), **k)", SUM, SQUARE) == "K.sum(ops.square(a), **k)"


class TestInnerScopes:
    COND = ("keras.backend.switch(c, a, b)", "keras.ops.cond(c, lambda: a, lambda: b)")
    EACH = (
        "keras.backend.batch_get_value(tensors)",
        "[keras.ops.convert_to_numpy(v) for v in tensors]",
    )
    MAP = ("keras.backend.f(xs, y)", "[keras.ops.add(v, y) for v in xs]")

    def test_arguments_may_move_into_a_lambda(self, line):
        assert line("y = K.switch(c, f(1), g(2))", self.COND) == (
            "y = ops.cond(c, lambda: f(1), lambda: g(2))"
        )

    def test_an_argument_that_a_comprehension_loops_over_may_have_any_names(self, line):
        assert (
            line("y = K.batch_get_value(v)", self.EACH)
            == "y = [ops.convert_to_numpy(v) for v in v]"
        )

    def test_a_name_that_the_template_binds_is_a_reason(self, refusal):
        assert "`v`" in refusal("y = K.f(a, v)", self.MAP)

    def test_waiting_inside_a_lambda_is_a_reason(self, refusal):
        reason = refusal("async def g():\n    return K.switch(c, await f(1), 2)", self.COND)
        assert "inner scope" in reason

    def test_names_of_a_class_body_are_a_reason(self, refusal):
        assert "class body" in refusal(
            "class A:\n    c = a = 1\n    y = K.switch(c, a, 2)", self.COND
        )

    def test_an_argument_that_binds_a_name_keeps_its_turn(self, refusal):
        assert "in its original order" in refusal("y = K.bias_add((n := 1), n)", BIAS)


class TestFStrings:
    def test_a_name_stands_in_the_new_f_string(self, line):
        assert line("n = K.unique_object_name(name)", UID) == 'n = f"{name}_{K.get_uid(name)}"'

    def test_a_text_becomes_part_of_it(self, line):
        assert line("n = K.unique_object_name('conv')", UID) == "n = f\"conv_{K.get_uid('conv')}\""
        assert line('n = K.unique_object_name("conv")', UID) == "n = f'conv_{K.get_uid(\"conv\")}'"

    @pytest.mark.parametrize("argument", ["'it\\'s'", '"it\'s"'])
    def test_quotes_and_backslashes_are_a_reason(self, refusal, argument):
        assert "f-string" in refusal(f"n = K.unique_object_name({argument})", UID)

    def test_an_f_string_around_the_call_must_survive(self, refusal, line):
        assert "f-string" in refusal("n = f'{K.unique_object_name(name)}'", UID)
        row = ("keras.backend.f(x, a='same')", "keras.ops.f(x, a)")
        assert "f-string" in refusal("n = f'{K.f(x)}'", row)
        assert line("n = f'{K.sum(x)}'", SUM) == "n = f'{ops.sum(x)}'"


class TestVariadicParameters:
    LAYER = ("keras.backend.f(alpha=0.3, **kwargs)", "keras.ops.f(negative_slope=alpha, **kwargs)")
    ALL = ("keras.backend.g(*xs)", "keras.ops.g(*xs)")

    def test_further_keywords_are_passed_on(self, line):
        known = {"keras.ops.f": "negative_slope=0.3, **kwargs"}
        before = "K.f(name='a', alpha=0.2, dtype=d)"
        assert line(before, self.LAYER, signatures=known) == (
            "ops.f(name='a', negative_slope=0.2, dtype=d)"
        )
        assert line("K.f(0.2, name='a')", self.LAYER, signatures=known) == "ops.f(0.2, name='a')"

    def test_further_positions_are_passed_on(self, line):
        assert (
            line("K.g(a, b + c)", self.ALL, signatures={"keras.ops.g": "*xs"}) == "ops.g(a, b + c)"
        )
