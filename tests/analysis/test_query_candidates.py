"""Queries yield what they say they look for, and their gate is open there and shut elsewhere."""

from __future__ import annotations

import ast

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Instance, applications, builtins, classes, constructs, methods
from kdoctor.analysis.queries.forms import is_call_of, is_lambda, is_none, is_number, is_text
from kdoctor.analysis.queries.generators import data, fed_by, generators
from kdoctor.analysis.queries.parts import ANYTHING, OneOf
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FACTS = TargetFacts(newest_target())
HEAD = "import itertools\nimport keras\nimport numpy as np\n\nmodel = keras.Sequential([])\n"


def found(query, source):
    """Return the sources of the matches; the gate must be open where there are any."""
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


NONES = constructs(Kind.OPTIMIZER).arguments(where=is_none)
HOOKS = constructs(Instance(Kind.CALLBACK, "LambdaCallback")).arguments("on_a", where=is_lambda)


def test_arguments_are_found_by_their_form_by_keyword_and_by_position():
    source = "e = None\nkeras.optimizers.Adam(0.1, 0.9, None, epsilon=e)\nkeras.layers.Dense(None)"
    assert found(NONES, source) == ["None", "e"]
    assert shut(NONES, "keras.optimizers.Adam(0.1, epsilon=1)\nkeras.layers.Dense(None)")
    assert not found(NONES, "keras.optimizers.Adam(None, **options)")


def test_arguments_are_found_by_keywords_alone():
    source = "keras.callbacks.LambdaCallback(lambda: 1, on_a=lambda a: 2, on_b=lambda b: 3)"
    assert found(HOOKS, source) == ["lambda a: 2"]
    assert shut(HOOKS, "keras.callbacks.LambdaCallback(lambda: 1, on_b=lambda b: 3, on_a=f)")


def test_builtins_are_called_by_a_name_alone():
    asked = builtins("hasattr").passing("name", place=1, where=is_text)
    assert found(asked, "hasattr(model, 'a')\nmodel.hasattr(model, 'b')") == ["hasattr(model, 'a')"]
    assert shut(asked, "hasattr(model, name)\ngetattr(model, 'a')")


LOSSES = applications(Kind.LOSS).passing("y_true", place=0, where=is_number)


def test_objects_are_called():
    source = "loss = keras.losses.MeanSquaredError()\nloss(1.0, 2.0)\nmodel(1.0)"
    assert found(LOSSES, source) == ["loss(1.0, 2.0)"]
    assert shut(LOSSES, "loss = keras.losses.MeanSquaredError()\nloss(x, 2.0)\nmodel(1.0)")


def may_be_a_list(form):
    return any(map(may_be_a_list, form.forms)) if isinstance(form, OneOf) else (
        isinstance(form, list) or form == ANYTHING
    )  # fmt: skip


def yields_a_list(batch):
    return isinstance(batch, tuple) and any(map(may_be_a_list, batch))


BATCHES = generators("fit", "predict", yielding=yields_a_list)
FEEDING = "def batches():\n    {}\n    yield {}, 1\nmodel.fit(batches())"


@pytest.mark.parametrize(
    ("before", "part"),
    [
        ("pass", "[x]"),
        ("x = [1]", "x"),
        ("a, x = f()", "x"),
        ("o.x = [1]", "o.x"),
        ("x = y", "x"),
        ("x = batches()", "x"),
        ("pass", "batches()"),
        ("o.x, o.y = [1], 2", "o.x"),
        ("o.x: list = [1]", "o.x"),
    ],
)
def test_what_a_part_of_a_batch_may_be_opens_the_gate(before, part):
    assert len(found(BATCHES, FEEDING.format(before, part))) == 1


@pytest.mark.parametrize(
    ("before", "part"),
    [
        ("pass", "2"),
        ("x = np.ones(2)", "x"),
        ("pass", "o.x"),
        ("pass", "np.ones(2)"),
        ("o.x = 1", "o.x"),
        ("o.x, o.y = 1, [2]", "o.z"),
        ("x = 1", "x[0]"),
    ],
)
def test_what_a_part_of_a_batch_cannot_be_keeps_the_gate_shut(before, part):
    assert not opens(BATCHES.trigger, FEEDING.format(before, part))


def test_a_generator_knows_what_it_feeds():
    source = (
        "def batches():\n    yield [x], y\n    yield 1\nmodel.predict(batches())\n"
        "given = batches()\nmodel.fit(given)\n"
    )
    unit = Document.parse((HEAD + source).encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    (one,) = BATCHES.find(module, FACTS)
    assert one.feeds == ["predict", "fit"]
    assert [module.source(each) for each in one.yields] == ["yield [x], y", "yield 1"]
    assert len(one.calls) == 2


def test_a_generator_that_feeds_another_method_is_none():
    assert shut(BATCHES, "def batches():\n    yield [x], y\nmodel.evaluate(batches())")


def test_data_are_what_the_methods_of_a_model_are_given():
    fed = data("fit", "predict")
    source = "model.fit(a, validation_data=b)\nmodel.predict(x=c)\nmodel.evaluate(d)\nother.fit(e)"
    assert sorted(found(fed, source)) == ["a", "b", "c"]
    assert shut(fed, "model.evaluate(d)\nother.fit(e)")


ITERATORS = fed_by("map", "itertools", objects_with="__next__")


@pytest.mark.parametrize(
    "source",
    [
        "model.fit(map(f, x))",
        "x = itertools.cycle(y)\nmodel.fit(x)",
        "def made():\n    return map(f, x)\nmodel.fit(made())",
        "class Own:\n    def __next__(self): ...\nmodel.fit(Own())",
        "class Own:\n    def __next__(self): ...\n@own\ndef made(): ...\nmodel.fit(made())",
    ],
)
def test_what_makes_the_data_of_a_model_opens_the_gate(source):
    assert opens(ITERATORS, source)


@pytest.mark.parametrize(
    "source",
    [
        "list(map(f, x))\nmodel.fit(x)",
        "class Own: ...\nmodel.fit(Own())",
        "class Own:\n    def __next__(self): ...\nOwn()\nmodel.fit(x)",
        "@own\ndef made(): ...\nmodel.fit(made())",
    ],
)
def test_what_goes_elsewhere_does_not(source):
    assert not opens(ITERATORS, source)


ITEMS = methods("__getitem__", of=("utils.Sequence",), returning=yields_a_list)
BUILDS = methods("build", of=Kind.LAYER, holding=is_call_of("isinstance"))
ITEM = "class Own({}):\n    def __getitem__(self, i):\n        return {}, 1\n"


def test_classes_are_found_by_the_name_of_their_base():
    assert len(found(classes(("utils.Sequence",)), ITEM.format("keras.utils.Sequence", "x"))) == 1
    assert shut(classes(("utils.Sequence",)), ITEM.format("keras.utils.PyDataset", "x"))


def test_methods_are_found_by_what_they_return():
    assert len(found(ITEMS, ITEM.format("keras.utils.Sequence", "[i]"))) == 1
    assert not opens(ITEMS.trigger, ITEM.format("keras.utils.Sequence", "i[0]"))
    assert not opens(ITEMS.trigger, ITEM.format("list", "[i]"))


def test_methods_are_found_by_what_their_bodies_hold():
    layer = "class Own(keras.layers.Layer):\n    def {}(self, s):\n        x = {}"
    assert len(found(BUILDS, layer.format("build", "not isinstance(s, list) or 1"))) == 1
    assert shut(BUILDS, layer.format("build", "len(s)"))
    assert shut(BUILDS, layer.format("call", "isinstance(s, list)"))
