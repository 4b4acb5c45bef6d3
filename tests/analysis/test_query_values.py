"""Queries that follow what is passed: through names, lists, loops and calls of the file."""

from __future__ import annotations

import ast

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Instance, applications, called, calls, constructs
from kdoctor.analysis.queries.classes import lineage
from kdoctor.analysis.queries.followed import keyword_made_of, made_of
from kdoctor.analysis.queries.forms import Expression, form_of, is_bool, is_number
from kdoctor.analysis.queries.members import reads_where
from kdoctor.analysis.queries.path_endings import but_for, path_ends
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FACTS = TargetFacts(newest_target())
HEAD = "import keras\n\nmodel = keras.Sequential([])\nlayer = keras.layers.Dropout(0.5)\n"


def parsed(source):
    unit = Document.parse((HEAD + source).encode(), "code.py").units[0]
    return Module.parse(unit, oracle(newest_target()))


def found(query, source):
    module = parsed(source)
    return [module.source(each.node) for each in query.find(module, FACTS)]


def opens(trigger, source):
    return trigger.holds(QuickFacts(ast.parse(HEAD + source)), FACTS)


DENSE = constructs(Instance(Kind.LAYER, "Dense"))
DIVIDED = made_of(
    DENSE, ("units", 0), where=lambda form: isinstance(form, Expression) and form.name == "/"
)


@pytest.mark.parametrize(
    "source",
    [
        "keras.layers.Dense(n / 2)",
        "keras.layers.Dense(units=1 + n / 2)",
        "half = n / 2\nsize = half\nkeras.layers.Dense(size)",
        "for size in [1, n / 2]:\n    keras.layers.Dense(size)",
        "def dense(size):\n    return keras.layers.Dense(size)\ndense(n / 2)",
        "keras.layers.Dense(n / 2 if n else 1)",
        "keras.layers.Dense(n or n / 2)",
    ],
)
def test_what_is_passed_is_made_of_what_its_names_stand_for(source):
    assert opens(DIVIDED, source)


@pytest.mark.parametrize(
    "source",
    [
        "keras.layers.Dense(n // 2)",
        "keras.layers.Dense(int(n / 2))",  # what a call makes of it is another thing
        "half = n / 2\nkeras.layers.Dense(n)",
        "keras.layers.Dense(n, n / 2)\nkeras.layers.Dropout(n / 2)",
        "size = size\nkeras.layers.Dense(size)",
    ],
)
def test_what_is_passed_is_made_of_nothing_else(source):
    assert not opens(DIVIDED, source)


def test_calls_of_other_objects_pass_nothing_that_counts():
    trained = made_of(calls("fit", on=Kind.MODEL), ("epochs", None), where=is_number)
    assert opens(trained, "epochs = 3\nmodel.fit(x, epochs=epochs)")
    assert not opens(trained, "epochs = 3\nlayer.fit(x, epochs=epochs)")


SLASHED = keyword_made_of("name", lambda form: isinstance(form, str) and "/" in form)


@pytest.mark.parametrize(
    "source",
    [
        "make(name='a/b')",
        "make(name=f'{scope}/a')",
        "scope = 'a/'\nmake(name=scope + 'b')",
        "make(name='%s/a' % scope)",
        "make(name='{}/a'.format(scope))",
        "def block(scope):\n    return make(name=scope + 'a')\nblock('a/')",
        "def block(scope):\n    make(name=scope)\ndef net(top):\n    block(top + 'a')\nnet('a/')",
    ],
)
def test_a_text_is_made_of_its_pieces(source):
    assert opens(SLASHED, source)


def test_a_text_that_is_passed_elsewhere_is_no_piece():
    assert not opens(SLASHED, "scope = 'a/'\nmake(scope, name='b')\nmake('a/b', label='a/b')")


FLAGGED = applications(Kind.LAYER, in_lists=True).passing_beyond(1, where=is_bool)


def test_arguments_beyond_a_place_are_asked_and_names_are_let_through():
    source = "layer(x, True)\nlayer(True, x)\nlayer(True)\nlayer(x, 1)\nlayer(x, y, False)"
    assert found(FLAGGED, source) == ["layer(x, True)", "layer(True, x)", "layer(x, y, False)"]


@pytest.mark.parametrize(
    ("source", "is_open"),
    [
        ("layer(x, True)", True),
        ("layer(True, x)", False),
        ("def f(x, flag=True):\n    return layer(x, flag)", True),
        ("def f(x, flag=None):\n    return layer(x, flag)", False),
        ("for flag in True, False:\n    layer(x, flag)", False),  # the tuple is none
        ("model.fit(x, True)\nlayer(x, y)", False),
    ],
)
def test_the_gate_asks_what_a_name_beyond_a_place_may_be(source, is_open):
    assert opens(FLAGGED.trigger, source) == is_open


def test_elements_of_a_list_of_layers_are_called():
    source = (
        "class Net(keras.Model):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.blocks = []\n"
        "        for _ in range(3):\n"
        "            self.blocks.append(keras.layers.Dropout(0.5))\n"
        "    def call(self, x):\n"
        "        for block in self.blocks:\n"
        "            x = block(x, True)\n"
        "        return x\n"
    )
    assert found(FLAGGED, source) == ["block(x, True)"]
    assert opens(FLAGGED.trigger, source)
    assert not opens(FLAGGED.trigger, source.replace("append", "add"))


FOLLOWED = called("build").passing("shape", place=0, where=is_number, followed=True)


def test_a_name_that_is_followed_may_get_its_value_from_a_caller():
    source = "def make(size):\n    layer.build(size)\n"
    assert found(FOLLOWED, source + "make(3)") == ["layer.build(size)"]
    assert opens(FOLLOWED.trigger, source + "make(3)")
    assert not opens(FOLLOWED.trigger, source + "make('3')")


BOTH = lineage(call=lambda body: "x" in body.indexed, build=lambda body: 3 in body.returned)
ONE = "class {}:\n    def {}(self, x):\n        return {}\n"


def test_methods_of_a_lineage_stand_in_a_class_and_its_own_bases():
    base = ONE.format("A", "build", "3")
    assert opens(BOTH, base + ONE.format("B(A)", "call", "x[0]"))
    assert not opens(BOTH, base + ONE.format("B(A)", "call", "x"))
    assert not opens(BOTH, base + ONE.format("B", "call", "x[0]"))
    assert not opens(BOTH, base.replace("3", "4") + ONE.format("B(A)", "call", "x[0]"))


GONE = reads_where(
    lambda _facts, owner, member: owner.cls == "Dropout" and member == "old",
    on={Kind.LAYER},
    among=lambda _facts, _owner: frozenset({"old", "older"}),
    among_all=lambda _facts: frozenset({"old", "older"}),
)


def test_members_are_asked_with_the_type_of_their_owner():
    source = "layer.old\nlayer.older\nmodel.old\nother.old\n"
    assert found(GONE, source) == ["layer.old"]
    assert opens(GONE.trigger, source)
    assert not opens(GONE.trigger, "keras.layers.Dense(1).old\nmodel.old")
    assert not found(GONE, "layer.old = 1\nlayer.old")
    assert not found(GONE, "try:\n    layer.old\nexcept AttributeError:\n    pass")


CHECKPOINTS = constructs(Instance(Kind.CALLBACK, "ModelCheckpoint"))
ENDS = path_ends(CHECKPOINTS, "filepath", 0, lambda _: but_for(".keras"))


@pytest.mark.parametrize(
    ("path", "is_open"),
    [("'a.keras'", False), ("'a.h5'", True), ("f'{name}-1.keras'", False), ("join(a, 'b')", True)],
)
def test_a_path_that_such_a_call_is_given_may_end_so(path, is_open):
    assert opens(ENDS, f"keras.callbacks.ModelCheckpoint({path})") == is_open
    assert not opens(ENDS, f"keras.callbacks.CSVLogger({path})")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("x.shape[0]", "shape"),
        ("f(x).shape[0]", "shape"),
        ("shape[0]", "shape"),
        ("x.shape[1:]", ""),
        ("x.shape[-1]", ""),
        ("x.shape['a']", ""),
        ("x.shape[0, 1]", ""),
        ("f(x)[0]", ""),
    ],
)
def test_an_element_by_its_number_is_told_by_what_has_it(source, name):
    module = parsed(f"y = {source}")
    value = module.tree.body[-1].body[0].value
    expected = Expression("Subscript", name)
    assert form_of(value) == expected
    assert form_of(ast.parse(source, mode="eval").body) == expected
