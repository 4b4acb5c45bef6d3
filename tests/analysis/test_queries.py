"""A query finds what it says in the exact tree, and its trigger holds wherever it finds."""

from __future__ import annotations

import ast
import textwrap

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import (
    Instance,
    applications,
    called,
    calls,
    calls_by_position,
    classes,
    conditions,
    constructs,
    functions,
    imported,
    methods,
    stores,
)
from kdoctor.analysis.queries.forms import is_bool, is_dict_of_one, is_list, is_named
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

TARGET = newest_target()
FACTS = TargetFacts(TARGET)
HEAD = "import keras\nimport numpy as np\nfrom keras import layers\n"
LAYER = "class Own(layers.Layer):\n    def {}:\n        {}\n"
MODEL = "model = keras.Sequential([layers.Dense(1)])\n"


def quick_facts_of(source):
    return QuickFacts(ast.parse(source))


def found_in(query, source):
    """Return the code of what a query finds."""
    unit = Document.parse(source.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(TARGET))
    return [module.source(each.node) for each in query.find(module, FACTS)]


def makes_a_weight(body):
    return any("Dense" in name for each in body.assigned for name in each.called)


QUERIES = {
    "a method of whatever": (
        called("compile").passing("optimizer", place=0, where=is_named),
        "what.compile(best)",
        "what.compile('adam')",
    ),
    "a name of another package": (
        imported("numpy.array").passing("object", place=0, where=is_list),
        "np.array([1])",
        "np.array((1,))",
    ),
    "all functions of a module": (
        functions(within="random").argument("seed"),
        "keras.random.normal((2,), seed=3)",
        "keras.ops.ones((2,), seed=3)",
    ),
    "an argument that is missing": (
        calls("evaluate", on=Kind.MODEL).without("return_dict"),
        MODEL + "model.evaluate(x)",
        MODEL + "model.evaluate(x, return_dict=True)",
    ),
    "an argument that may be missing behind others": (
        calls("evaluate", on=Kind.MODEL).even(hidden=True).without("batch_size", 2),
        MODEL + "model.evaluate(*data, x, y)",
        MODEL + "model.evaluate(x, y, 8)",
    ),
    "an object that is called": (
        applications(on=Kind.LAYER).argument("training", where=is_bool),
        "layer = layers.Dropout(0.5)\ny = layer(x, training=True)",
        "layer = layers.Dropout(0.5)\ny = layer(x, training=phase)",
    ),
    "what stands at a position": (
        calls_by_position(lambda _, place, form: place == ("keras.layers.Dense", 1) and form == 3),
        "from keras.layers import Dense as D\nthree = 3\nD(2, three)",
        "from keras.layers import Dense as D\nD(3, 2)",
    ),
    "any member": (
        stores(on=Kind.LAYER),
        "layer = layers.Dense(1)\nlayer.a = 1",
        "layer = layers.Dense(1)\nprint(layer.a)",
    ),
    "a class by the name of its base": (
        methods("__init__", of=("utils.PyDataset",), body=lambda b: "__init__" not in b.attributes),
        "class Own(keras.utils.PyDataset):\n    def __init__(self):\n        self.a = 1\n",
        "class Own(keras.utils.PyDataset):\n    def __init__(self):\n        super().__init__()\n",
    ),
    "strings in a body": (
        methods("call", of=Kind.LAYER, holding=lambda form: form == "training"),
        LAYER.format("call(self, x, **more)", "return more['training']"),
        LAYER.format("call(self, x, **more)", "return more[training]"),
    ),
    "what a body returns": (
        methods("call", of=Kind.LAYER, returning=is_list),
        LAYER.format("call(self, x)", "return [x]"),
        LAYER.format("call(self, x)", "return x"),
    ),
    "items and several targets": (
        methods("call", of=Kind.LAYER, body=lambda b: "m" in b.indexed and "x" in b.unpacked),
        LAYER.format("call(self, x, m)", "a, b = x\n        return a * m[0]"),
        LAYER.format("call(self, x, m)", "a = x\n        return a * m[0]"),
    ),
    "what is called in a value": (
        methods("build", of=Kind.LAYER, body=makes_a_weight),
        LAYER.format("build(self, s)", "self.all.append(layers.Dense(2))"),
        LAYER.format("build(self, s)", "self.all.append(layers.Dropout(0.2))"),
    ),
    "what is read, not only added to": (
        classes(
            Kind.LAYER, defining=["build"], bodies=lambda methods: "all" in methods["build"].read
        ),
        LAYER.format("build(self, s)", "print(self.all)"),
        LAYER.format("build(self, s)", "self.all.append(s)"),
    ),
    "a decorator": (
        classes(Kind.LAYER, decorated_by=["tensorflow.function"]),
        "from tensorflow import function as graph\n\n\n"
        + LAYER.replace("    def", "    @graph(jit_compile=True)\n    def", 1).format(
            "call(self, x)", "return x"
        ),
        LAYER.format("call(self, x)", "return x"),
    ),
    "one of two": (
        constructs(Instance(Kind.LAYER, "Dense")) | imported("numpy.ones"),
        "np.ones(3)",
        "np.zeros(3)",
    ),
}


@pytest.mark.parametrize(("query", "source"), [
    (query, source) for query, source, _ in QUERIES.values()
], ids=QUERIES)  # fmt: skip
def test_a_query_finds_what_its_trigger_lets_through(query, source):
    assert len(found_in(query, HEAD + source)) == 1
    assert query.trigger.holds(quick_facts_of(HEAD + source), FACTS)


@pytest.mark.parametrize(("query", "source"), [
    (query, other) for query, _, other in QUERIES.values()
], ids=QUERIES)  # fmt: skip
def test_neither_finds_another_thing(query, source):
    assert not found_in(query, HEAD + source)
    assert not query.trigger.holds(quick_facts_of(HEAD + source), FACTS)


def test_guarded_code_is_passed_over_unless_it_is_asked_for():
    query = applications(on=Kind.LAYER)
    source = f"{HEAD}if keras.__version__ < '3':\n    y = layers.Dense(2)(x)\n"
    assert not found_in(query, source)
    assert found_in(query.even(guarded=True), source) == ["layers.Dense(2)(x)"]


def test_a_function_of_a_module_is_no_method():
    trigger = called("compile").trigger
    assert not trigger.holds(quick_facts_of("import re as r\nr.compile(best)"), FACTS)
    assert trigger.holds(quick_facts_of("from mine import model\nmodel.compile(best)"), FACTS)


CONDITIONS = {
    "a display": (conditions.display(is_dict_of_one), "x = {'a': 1}", "x = {'a': 1, 'b': 2}"),
    "a place in a display": (
        conditions.display(is_dict_of_one, at=slice(1, 3)),
        "y = {'a': 1}\nreturned = x, y",
        "y = {'a': 1}\nreturned = y, x",
    ),
    "nothing but": (
        conditions.only(lambda name: name.startswith(("keras", "numpy"))),
        "np.ones(3)",
        "import random",
    ),
    "what is tested": (
        conditions.tested("any", where=lambda _, name: name == "numpy.any"),
        "some = np.any(x) and y\nif some:\n    pass",
        "some = np.any(x)",
    ),
}


@pytest.mark.parametrize(("condition", "source", "other"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_tells_files_apart(condition, source, other):
    assert condition.holds(quick_facts_of(HEAD + textwrap.dedent(source)), FACTS)
    assert not condition.holds(quick_facts_of(HEAD + textwrap.dedent(other)), FACTS)
