"""A guard lets a rewrite through on a yes only, and says what stood in the way."""

import pytest

from kdoctor.rewrite import (
    context,
    display,
    equals,
    given,
    indexed,
    is_kind,
    is_lambda,
    literal,
    not_given,
    not_none,
    one_of,
    rewrite,
    statement_position,
)
from kdoctor.syntax import NO_ORACLE
from kdoctor.value_types import Context, Kind, Type

LEFT = "keras.backend.f(x, a=None, b='valid')"
RIGHT = "keras.ops.g(x, a, b)"


def guarded(guard, right=RIGHT):
    return rewrite(LEFT, right, guard)


def passes(line, source, guard, right=RIGHT):
    return (
        line(source, guarded(guard, right), signatures={"keras.ops.g": "x, a=None, b='valid'"})
        != source
    )


@pytest.mark.parametrize(
    "value",
    [
        "1", "-1", "'t'", "[]", "True", "1 - eps", "a < b", "K.epsilon()", "np.inf", "float(v)",
        "1 if c else 2", "v or 1", "lambda: 0", "K.epsilon() if c else 1",
    ],
)  # fmt: skip
def test_not_none_knows_what_cannot_be_none(line, value):
    assert passes(line, f"import numpy as np\nK.f(x, {value})", not_none("a"))


@pytest.mark.parametrize(
    "value", ["None", "v", "self.v", "f()", "v[0]", "None if c else 1", "v and 1", "v or None"]
)
def test_not_none_takes_nothing_for_granted(refusal, value):
    assert refusal(f"K.f(x, {value})", guarded(not_none("a"))) == "`a` may be None"


@pytest.mark.parametrize("limit", ["v", "self.v"])
def test_not_none_knows_that_none_has_no_negative(line, limit):
    assert passes(line, f"K.f(-{limit}, {limit})", not_none("a"))
    assert passes(line, f"K.f(a={limit}, x=-{limit})", not_none("a"))


@pytest.mark.parametrize("x", ["-w", "+v", "not v", "v", "-v.u"])
def test_not_none_takes_no_other_operation_for_a_negative(refusal, x):
    assert refusal(f"K.f({x}, v)", guarded(not_none("a"))) == "`a` may be None"


@pytest.mark.parametrize(
    "assigned", ["LIMIT = 0.05", "SIZE, LIMIT = 4, -1", "(a, [LIMIT]) = 1, [2]"]
)
def test_not_none_knows_a_constant(line, assigned):
    assert passes(line, f"{assigned}\ndef clip(x):\n    return K.f(x, LIMIT)", not_none("a"))


@pytest.mark.parametrize(
    "assigned",
    [
        "LIMIT = None", "LIMIT = 1\nLIMIT = None", "LIMIT = f()", "LIMIT, b = f()",
        "*LIMIT, b = 1, 2", "for LIMIT in (1, None): pass", "LIMIT = 1\nfor LIMIT in z: pass",
        "LIMIT = 1\ndef g():\n    global LIMIT\n    LIMIT = None", "LIMIT = 1\ndel LIMIT",
    ],
)  # fmt: skip
def test_not_none_trusts_no_name_that_may_be_bound_to_something_else(refusal, assigned):
    source = f"{assigned}\ndef clip(x):\n    return K.f(x, LIMIT)"
    assert refusal(source, guarded(not_none("a"))) == "`a` may be None"


def test_not_none_asks_the_default_of_what_is_not_passed(line, refusal):
    assert passes(line, "K.f(x)", not_none("b"))
    assert "`a` may be None" in refusal("K.f(x)", guarded(not_none("a")))


def test_a_hidden_builtin_is_no_number_maker(refusal):
    assert refusal("float = g\nK.f(x, float(v))", guarded(not_none("a")))


def test_given_and_not_given(line, refusal):
    assert passes(line, "K.f(x, a=v)", given("a"))
    assert refusal("K.f(x)", guarded(given("a"))) == "`a` is not passed"
    assert passes(line, "K.f(x)", not_given("a"))
    assert refusal("K.f(x, v)", guarded(not_given("a"))) == "`a` is passed"


def test_literal(line, refusal):
    assert passes(line, "K.f(x, (0, -1))", literal("a"))
    assert passes(line, "K.f(x)", literal("a"))
    assert refusal("K.f(x, (0, n))", guarded(literal("a"))) == "`a` is not a literal"


def test_equals_and_one_of_look_at_values_not_at_text(line, refusal):
    assert passes(line, 'K.f(x, b="same")', equals("b", "same"))
    assert passes(line, "K.f(x)", equals("b", "valid"))
    assert (
        refusal("K.f(x, b=mode)", guarded(equals("b", "same"))) == "`b` is not known to be 'same'"
    )
    assert passes(line, "K.f(x, b='same')", one_of("b", "same", "valid"))
    assert refusal("K.f(x, b='causal')", guarded(one_of("b", "same", "valid")))
    assert refusal("K.f(x, True)", guarded(equals("a", 1)))


def test_a_parameter_whose_value_the_guard_knows_need_not_be_read(line, refusal):
    row = guarded(equals("b", "same"), "keras.ops.h(x, a)")
    assert line("K.f(x, v, 'same')", row, signatures={"keras.ops.h": None}) == "ops.h(x, v)"
    assert "no counterpart" in refusal("K.f(x, v, 'same')", rewrite(LEFT, "keras.ops.h(x, a)"))


def test_display_and_is_lambda_look_at_the_form(line, refusal):
    assert passes(line, "K.f([a, b])", display("x"))
    assert refusal("K.f(xs)", guarded(display("x"))) == "`x` is not written as a list"
    assert passes(line, "K.f(xs)", ~display("x"))
    assert passes(line, "K.f(lambda: 0)", is_lambda("x"))
    assert refusal("K.f(g)", guarded(is_lambda("x"))) == "`x` is not written as a lambda"


class FewThings:
    """Knows what a layer and a variable are, and nothing else."""

    def __getattr__(self, question):
        return getattr(NO_ORACLE, question)

    def class_type(self, qualified):
        kinds = {"keras.layers.Layer": Kind.LAYER, "keras.Variable": Kind.VARIABLE}
        return Type(kinds[qualified]) if qualified in kinds else None

    def method_context(self, owner, method):
        return Context.CALL if (owner.kind, method) == (Kind.LAYER, "call") else None


def test_is_kind_asks_the_inferred_type(line, refusal):
    assert refusal("K.f(x)", guarded(is_kind("x", Kind.VARIABLE))) == (
        "`x` is not known to be a variable"
    )
    source = "import keras\nv = keras.Variable(0)\nK.f(v)"
    row, oracle = guarded(is_kind("x", Kind.VARIABLE)), FewThings()
    assert "ops.g(v)" in line(
        source, row, oracle=oracle, signatures={"keras.ops.g": "x, a=None, b='valid'"}
    )


def test_context_asks_where_the_line_runs(line, refusal):
    inside = "class A(Layer):\n    def call(self, x):\n        return K.f(x)"
    source = f"from keras.layers import Layer\n{inside}"
    row, oracle = guarded(context(Context.CALL)), FewThings()
    assert "ops.g(x" in line(source, row, oracle=oracle)
    assert "call code" in refusal("def g(x):\n    return K.f(x)", row, oracle=oracle)


def test_statement_position(line, refusal):
    assert passes(line, "K.f(x)", statement_position())
    assert refusal("y = K.f(x)", guarded(statement_position())) == "the result of the call is used"


def test_indexed(line, refusal):
    assert passes(line, "y = K.f(x)[0]", indexed())
    assert refusal("y = K.f(x)[0:1]", guarded(indexed()))
    assert refusal("y = z[K.f(x)]", guarded(indexed()))


def test_guards_combine(line, refusal):
    both = given("a") & equals("b", "same")
    assert passes(line, "K.f(x, v, 'same')", both)
    assert refusal("K.f(x)", guarded(both)) == "`a` is not passed and `b` is not known to be 'same'"
    either = given("a") | equals("b", "same")
    assert passes(line, "K.f(x, b='same')", either)
    assert refusal("K.f(x)", guarded(either))
    assert passes(line, "K.f(x)", ~given("a"))
    assert refusal("K.f(x, b=m)", guarded(~equals("b", "same")))
    assert str(~(given("a") & (given("b") | given("x")))) == (
        "~(given('a') & (given('b') | given('x')))"
    )


def test_the_nearest_of_several_rows_gives_the_reason(refusal):
    rows = [
        guarded(given("a") & equals("b", "same")),
        guarded(equals("b", "causal")),
        rewrite("keras.backend.f(x, y, z)", RIGHT.replace("a, b", "y, z")),
    ]
    assert refusal("K.f(x)", *rows) == "`b` is not known to be 'causal'"
