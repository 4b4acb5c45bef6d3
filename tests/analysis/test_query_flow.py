"""Queries that follow values: what meets, what is decided, what is handed over, and by whom."""

from __future__ import annotations

import ast

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import any_calls, builtins, called, conditions, constructs
from kdoctor.analysis.queries.captured import captured
from kdoctor.analysis.queries.forms import is_list, is_number
from kdoctor.analysis.queries.operations import SIGNS, operations
from kdoctor.analysis.queries.own_functions import calls_of_decorated
from kdoctor.analysis.queries.sorts import of_form, of_kind
from kdoctor.analysis.queries.tested import decisions, given_first, loops
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FACTS = TargetFacts(newest_target())
HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n\nx = keras.Input((2,))\n"


def found(query, source):
    """Return the code of the matches; the gate must be open where there are any."""
    unit = Document.parse((HEAD + source).encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    matches = [module.source(each.node) for each in query.find(module, FACTS)]
    assert opens(query.trigger, source) or not matches
    return matches


def opens(trigger, source):
    return trigger.holds(QuickFacts(ast.parse(HEAD + source)), FACTS)


def shut(query, source):
    """Say whether there is no match, and the gate knows."""
    return not found(query, source) and not opens(query.trigger, source)


MET = operations("+", "@", "<=", of=of_form(is_list), with_=of_kind(Kind.TENSOR))


@pytest.mark.parametrize("met", ["x + [1]", "[1] + x", "[] @ x", "x <= [1]", "[1] <= x <= y"])
def test_an_operator_meets_two_sorts_on_either_side(met):
    assert found(MET, f"y = {met}") == [met]
    assert found(MET, f"z = x\ny = {met.replace('x', 'z')}") == [met.replace("x", "z")]


@pytest.mark.parametrize("met", ["x - [1]", "x + 1", "[1] + [2]", "x < [1]", "1 <= x <= [1]"])
def test_other_operators_keep_the_gate_shut(met):
    assert shut(MET, f"y = {met}")


NUMBERS = operations("==", of=of_form(is_number, named=True), with_=of_kind(Kind.TENSOR))


@pytest.mark.parametrize(
    "compared", ["x == 0", "1.5 == x", "x == size", "zero == x", "x == 0 == y"]
)
def test_a_name_may_be_of_a_form(compared):
    source = f"zero = 0\nfor size in [zero]:\n    y = {compared}"
    assert found(NUMBERS, source) == [compared]


@pytest.mark.parametrize("compared", ["x == 'a'", "x != 0", "0 == 0", "x > 0"])
def test_other_forms_keep_the_gate_shut(compared):
    assert shut(NUMBERS, f"y = {compared}")
    assert not opens(NUMBERS.trigger, f"text = 'a'\ny = {compared.replace('0', 'text')}")


def test_two_of_one_sort_meet_twice():
    both = operations("*", of=of_kind(Kind.TENSOR), with_=of_kind(Kind.TENSOR))
    assert found(both, "y = x * x") == ["x * x", "x * x"]


def test_what_is_guarded_is_found_only_if_it_is_asked_for():
    source = "if keras.__version__ < '3':\n    y = x + [1]"
    assert not found(MET, source)
    asked = operations("+", of=of_form(is_list), with_=of_kind(Kind.TENSOR), guarded=True)
    assert found(asked, source) == ["x + [1]"]


def test_a_sort_asks_the_type_once_it_is_sure():
    weights = of_kind(Kind.VARIABLE, where=lambda each: not each.is_tf_variable)
    meets = operations(*SIGNS, of=of_form(is_list), with_=weights)
    assert found(meets, "v = keras.Variable(1.0)\ny = [1] / v") == ["[1] / v"]
    assert not found(meets, "v = tf.Variable(1.0)\ny = [1] / v")


DECIDED = decisions(of_kind(Kind.TENSOR))
LOOPED = loops(of_kind(Kind.TENSOR))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if x: pass", "x"),
        ("while not (a and x): pass", "x"),
        ("y = 1 if a or x > 0 else 2", "x > 0"),
        ("assert 0 <= x", "0 <= x"),
        ("z = x\nassert z", "z"),
    ],
)
def test_conditions_decide_on_values(source, expected):
    assert found(DECIDED, source) == [expected]


@pytest.mark.parametrize("source", ["if x is None: pass", "if f(x): pass", "y = not x", "x > 0"])
def test_other_conditions_ask_for_no_value(source):
    assert shut(DECIDED, source)


def test_loops_run_over_values():
    assert found(LOOPED, "for y in x: pass\nz = [a for a in x]") == ["x", "x"]
    assert shut(LOOPED, "for y in [x]: pass\nz = [x for a in b]")


def test_functions_look_at_what_they_are_given_first():
    looks = given_first(builtins("len").even(hidden=True), of_kind(Kind.TENSOR))
    assert found(looks, "len(x)\nz = x\nlen(z, *more)") == ["len(x)", "len(z, *more)"]
    assert found(looks, "len(obj=x)") == ["len(obj=x)"]
    assert shut(looks, "len([x])\nlen(1, x)\nmax(x)\nlen()")
    assert not found(looks, "len(*x)")


GRAPHS = calls_of_decorated("tensorflow.function").passing_symbolic()
DECORATED = "@{}\ndef f(a): return a\ny = {}"


@pytest.mark.parametrize("how", ["tf.function", "tf.function(jit_compile=True)"])
def test_calls_of_functions_are_found_by_their_decorator(how):
    assert found(GRAPHS, DECORATED.format(how, "f([x])")) == ["f([x])"]
    assert shut(GRAPHS, DECORATED.format(how, "f(1)"))
    assert not found(GRAPHS, DECORATED.format(how, "f(x)") + "\ndef f(b): return b")


@pytest.mark.parametrize("how", ["tf.autodiff", "own"])
def test_other_decorators_and_methods_keep_the_gate_shut(how):
    assert shut(GRAPHS, DECORATED.format(how, "f(x)"))
    assert shut(GRAPHS, DECORATED.format("tf.function", "o.f(x)"))


CAPTURED = captured(lambda name: name.startswith("keras.ops."), operation="operator")


@pytest.mark.parametrize(
    "source",
    [
        "def loss(y_true, y_pred): return keras.ops.mean(x)",
        "def loss(y_true, y_pred): return y_true * x",
        "model.compile('sgd', loss=lambda a, b: a + x)",
        "class Own(keras.losses.Loss):\n    def call(self, y_true, y_pred): return x - y_pred",
    ],
)
def test_losses_read_tensors_from_outside(source):
    model = "model = keras.Model(x, keras.layers.Dense(1)(x))\n"
    assert set(found(CAPTURED, model + source)) == {"x"}


@pytest.mark.parametrize(
    "source",
    [
        "def loss(y_true, y_pred): return keras.ops.mean(y_true)",
        "def loss(y_true, y_pred):\n    x = 1\n    return y_true * x",
        "def made(): return x * 2",
    ],
)
def test_what_is_bound_inside_or_no_loss_keeps_the_gate_shut(source):
    assert shut(CAPTURED, source)


OWN = conditions.given_own(called("compile"), ("loss", 1))
ANY_OWN = conditions.given_own(called("compile"), ("loss", 1), by_parameter=True)
COMPILING = "def f(a): return a\nclass C: pass\nmodel.compile({})"


@pytest.mark.parametrize("given", ["'sgd', f", "loss=[C()]", "loss={'a': f}", "0, loss=g(f)"])
def test_functions_and_classes_of_the_file_are_given(given):
    assert opens(OWN, COMPILING.format(given))


def test_they_may_be_given_by_a_name():
    assert opens(OWN, "losses = [C()]\n" + COMPILING.format("0, losses"))


@pytest.mark.parametrize("given", ["f, 'mse'", "loss='f'", "loss=keras.losses.C()", "loss=g"])
def test_what_is_not_of_the_file_keeps_the_gate_shut(given):
    assert not opens(OWN, COMPILING.format(given))
    assert not opens(ANY_OWN, COMPILING.format(given))


@pytest.mark.parametrize("given", ["loss=a", "loss=self.loss", "loss=lambda t, p: t"])
def test_they_may_come_by_parameters_and_attributes(given):
    assert opens(ANY_OWN, COMPILING.format(given))
    assert not opens(OWN, COMPILING.format(given))


def sums(_, name):
    return name == "tensorflow.reduce_any"


GIVEN = conditions.given_result(any_calls(), "training", where=sums)


@pytest.mark.parametrize(
    "source",
    [
        "f(x, training=tf.reduce_any(x))",
        "a = tf.reduce_any(x)\nb = a\nf(x, training=b if c else True)",
    ],
)
def test_what_a_call_gives_is_passed(source):
    assert opens(GIVEN, source)


def test_what_a_call_gives_is_passed_by_position():
    passed = conditions.given_result(called("f"), where=sums)
    assert opens(passed, "a = tf.reduce_any(x)\no.f(1, a)")
    assert not opens(passed, "a = tf.reduce_any(x)\nf(a)\no.f(1)")


@pytest.mark.parametrize(
    "source", ["f(tf.reduce_any(x))", "f(training=tf.reduce_all(x))", "f(training=True)"]
)
def test_what_is_passed_elsewhere_or_given_by_others_is_not(source):
    assert not opens(GIVEN, f"y = tf.reduce_any(x)\n{source}")


def is_other(one, other):
    return one.argument("name") != other.argument("optimizer", 0)


TOGETHER = conditions.together(constructs(Kind.OPTIMIZER), called("compile"), is_other)


def test_two_calls_are_there_together():
    assert opens(TOGETHER, "keras.optimizers.Adam(name='a')\nmodel.compile('b')")
    assert not opens(TOGETHER, "keras.optimizers.Adam(name='a')\nmodel.compile('a')")
    assert not opens(TOGETHER, "keras.optimizers.Adam(name='a')")
    assert not opens(TOGETHER, "model.compile('b')")
