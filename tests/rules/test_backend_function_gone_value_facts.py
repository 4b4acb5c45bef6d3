"""``K.l2_normalize(x, self.axis)``: is the axis surely a number?"""

from __future__ import annotations

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.rules.names._backend.value_facts import ValueFacts
from kdoctor.syntax import Module

LAYER = """
from keras import layers
from keras import backend as K


class Normed(layers.Layer):
    def __init__(self, last):
        super().__init__()
        {init}

    def call(self, x):
        return K.l2_normalize(x, self.axis)
"""
EITHER = "if last:\n            self.axis = 3\n        else:\n            self.axis = {}"


def is_whole(code):
    [unit] = Document.parse(code.encode(), "code.py").units
    module = Module.parse(unit, oracle(TargetFacts(newest_target()).target))
    [use] = [each for each in module.references if each.name == "keras.backend.l2_normalize"]
    call = module.parent(use.node)
    return ValueFacts(module).is_whole(call.args[1].value)


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("self.axis = -1", True),
        (EITHER.format(1), True),
        (EITHER.format("None"), False),
        ("self.axis = 3 if last else 1", False),
        ("self.axis = last", False),
        ("self.axis = True", False),
        ("self.axis, self.n = 3, 4", False),
        ("self.axis = 1\n        self.axis += last", False),
        ("self.axis = 1\n        for self.axis in last:\n            pass", False),
        ("self.axis = 1\n        with last as self.axis:\n            pass", False),
        ("self.axis = 1\n        self.axes = [self.axis, 2]", True),
        ("self.axis = 1\n\n    axis = None", False),
        ("pass", False),
    ],
)
def test_it_is_what_the_layer_assigns_to_it(init, expected):
    assert is_whole(LAYER.format(init=init)) is expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(layers.Layer)", "(Base)"),
        ("        return", "        self.axis = x\n        return"),
        ("class", "def f(layer):\n    layer.axis = None\n\n\nclass"),
        ("class", "def f(layer):\n    layer.__dict__.update(axis=None)\n\n\nclass"),
        ("class", "def f(layer):\n    setattr(layer, 'axis', None)\n\n\nclass"),
        (
            "        return K.l2_normalize(x, self.axis)",
            "        return K.l2_normalize(x, self.axis)\n\n\nclass Below(Normed):\n    axis = None",
        ),
        ("class", "def f(layer):\n    del layer.axis\n\n\nclass"),
    ],
)
def test_it_is_not_known_where_something_else_may_set_it(old, new):
    code = LAYER.format(init="self.axis = 1")
    assert is_whole(code)
    assert not is_whole(code.replace(old, new))
