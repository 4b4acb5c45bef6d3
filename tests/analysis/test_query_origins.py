"""What the gate asks of where a value comes from: a class, a call, a function around."""

from __future__ import annotations

import ast

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import stores
from kdoctor.analysis.queries.made_of import subclass_of
from kdoctor.analysis.queries.path_endings import but_for, hands_path, path_made_by
from kdoctor.keras_api import newest_target
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FACTS = TargetFacts(newest_target())
HEAD = "import keras\n\nlayer = keras.layers.Dropout(0.5)\nmodel = keras.Sequential([])\n"
KEPT = stores(on=Kind.LAYER, made_of=subclass_of("dict", or_of={"collections.Counter"})).trigger
MADE = path_made_by("save", 0, "mkdtemp", "TemporaryDirectory")
HANDED = hands_path("save", 0, but_for(".keras"))


def opens(trigger, source):
    return trigger.holds(QuickFacts(ast.parse(HEAD + source)), FACTS)


OWN = "class Own(dict): pass\nclass Next(Own): pass\n"


@pytest.mark.parametrize(
    "source",
    [
        "from collections import Counter\nlayer.x = Counter()",
        "import collections as c\nlayer.x = [c.Counter[str]()]",
        "from collections import Counter as C\nmake = C\nmade = make()\nlayer.x = made",
        "from collections import Counter\nclass Own(Counter): pass\nlayer.x = Own()",
        f"{OWN}layer.x = Next()",
        f"{OWN}def make():\n    return Next()\nlayer.x = make()",
        f"{OWN}def keep(layer: keras.layers.Layer, it):\n    layer.x = it\nkeep(layer, Next())",
        (
            f"{OWN}class Holder:\n    def __init__(self, it):\n        self.it = it\n"
            "layer.x = Holder(Next()).it"
        ),
        f"{OWN}for each in [Next()]:\n    layer.x = each",
        f"{OWN}layer.y, layer.x = 1, Next()",
        (
            f"{OWN}class Mine(keras.layers.Layer):\n    def build(self, shape):\n"
            "        self.x = Next()"
        ),
    ],
)
def test_what_is_stored_may_come_from_such_a_class(source):
    assert opens(KEPT, source)


@pytest.mark.parametrize(
    "source",
    [
        "layer.x = dict()",
        "layer.x = {}",
        "from collections import Counter\nseen = Counter()\nlayer.x = 1",
        f"{OWN}other.x = Next()\nlayer.y = {{}}",
        f"{OWN}kept = Next()\nlayer.x = 'kept'",
    ],
)
def test_a_plain_builtin_and_what_goes_elsewhere_are_none(source):
    assert not opens(KEPT, source)


@pytest.mark.parametrize(
    "source",
    [
        "model.save(tempfile.mkdtemp())",
        "model.save(filepath=tempfile.mkdtemp())",
        "path = tempfile.mkdtemp()\nmodel.save(path)",
        "with tempfile.TemporaryDirectory() as path:\n    model.save(path)",
        "from tempfile import mkdtemp as made\npath = made()\nmodel.save(path)",
        "make = tempfile.mkdtemp\nmodel.save(make())",
    ],
)
def test_a_path_may_be_a_folder_that_is_made_for_it(source):
    assert opens(MADE, f"import tempfile\n{source}")


@pytest.mark.parametrize(
    "source",
    [
        "with tempfile.TemporaryDirectory() as folder:\n    print(folder)\nmodel.save(path)",
        "path = tempfile.mkdtemp()\nother.save(1)",
        "path = tempfile.mkdtemp()\nmodel.save(path + '/a.keras')",
    ],
)
def test_a_folder_for_something_else_is_none(source):
    assert not opens(MADE, f"import tempfile\n{source}")


SAVES = "def save(model: keras.Model, path):\n    model.save(path)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{SAVES}save(model, 'folder')",
        f"{SAVES}save(model, path='folder')",
        "def save(path='folder'):\n    [model.save(path) for _ in range(2)]",
        "def around(path):\n    def save():\n        model.save(path)\n    save()\naround('folder')",
        "class Saver:\n    def __init__(self, path):\n        model.save(path)\nSaver('folder')",
    ],
)
def test_a_path_is_handed_to_a_function_around_the_call(source):
    assert opens(HANDED, source)


def test_a_path_for_another_function_is_none():
    other = "def read(path):\n    return open(path)\nread('folder')\n"
    assert not opens(HANDED, f"{other}{SAVES}save(model, 'a.keras')")
    assert opens(HANDED, f"{other}{SAVES}save(model, 'folder')")
