"""An object is what one run of a call makes, and a model has the weights of what is in it."""

from __future__ import annotations

import pytest

from kdoctor.analysis.dataflow.points_to import PointsTo
from kdoctor.analysis.dataflow.points_to_by_call import PointsToByCall
from tests.analysis.conftest import asked_in

HEAD = "from keras import Input, Model, Sequential, ops\nfrom keras.layers import Dense, Flatten\n"


def asked(source):
    """Return the makings of a source, and the argument of `here(…)` in it."""
    module, argument = asked_in(source)
    return module, PointsToByCall(module, PointsTo(module)), argument


def shown(module, by_call, made):
    """Return how an object is made: the call, and those by which control gets there."""
    if made is None:
        return None
    return " < ".join(module.source(each) for each in by_call.chain(made.call, made.frame))


@pytest.mark.parametrize(
    ("source", "objects"),
    [
        ("x = one()\nhere(x)", ["one()"]),
        # One for each run of the function; the same one in all.
        ("def f():\n    x = one()\n    here(x)\nf()\nf()", ["one() < f()", "one() < f()"]),
        ("x = one()\ndef f():\n    here(x)\nf()\nf()", ["one()", "one()"]),
        ("def f(x):\n    here(x)\nf(one())\nf(x=two())", ["one()", "two()"]),
        ("def f(x):\n    g(x)\ndef g(y):\n    here(y)\nf(one())\nf(two())", ["one()", "two()"]),
        ("def f(x):\n    here(x)", [None]),
        # What a function makes for another.
        ("def f():\n    return one()\nhere(f())", ["one() < f()"]),
        ("def f():\n    return one(), two()\n_, x = f()\nhere(x)", ["two() < f()"]),
        ("def f(x):\n    return x\nhere(f(one()))", ["one()"]),
        ("def f(x):\n    if x:\n        return one()\n    return two()\nhere(f(1))", [None]),
        # In either branch, or in turn.
        ("x = one()\nif new:\n    x = two()\nhere(x)", [None]),
        ("for x in (one(), two()):\n    here(x)", [None]),
        # Names that are made of each other.
        ("a, b = one(), two()\nfor _ in r:\n    a, b = b, a\n    here(a)", [None]),
        ("def f(x):\n    return f(x)\nhere(f(1))", [None]),
        # Objects of a class.
        (
            (
                "class C:\n    def __init__(self):\n        self.x = self.made()\n"
                "    def made(self):\n        return one()\n    def use(self):\n        here(self.x)\n"
            ),
            ["one() < self.made()"],
        ),
        (
            (
                "class C:\n    def __init__(self, x):\n        self.x = x\n"
                "    def use(self):\n        here(self.x)\nc = C(one())\nc.use()"
            ),
            ["one()"],
        ),
        # A function that calls itself has no first run.
        ("def f():\n    here(one())\n    f()", []),
    ],
)
def test_an_object_is_what_one_run_makes(source: str, objects: list[str | None]) -> None:
    module, by_call, node = asked(source)
    found = [by_call.made(node, frame) for frame in by_call.runs(node)]
    assert [shown(module, by_call, each) for each in found] == objects


@pytest.mark.parametrize(
    ("source", "sure", "possible", "is_all"),
    [
        ("here(Sequential([Flatten(), Dense(1), Dense(2)]))", ["Dense(1)", "Dense(2)"], [], True),
        ("x = Sequential()\nx.add(Dense(1))\nhere(x)", ["Dense(1)"], [], True),
        ("i = Input((2,))\nhere(Model(i, Dense(1)(Dense(2)(i))))", ["Dense(1)", "Dense(2)"], [], True),
        ("i = Input((2,))\nh = Dense(2)(i)\nhere(Model(i, ops.add(h, Dense(1)(h))))",
         ["Dense(1)", "Dense(2)"], [], True),
        # A model in a model, and one that a function makes.
        (
            ("def f(n):\n    return Sequential([Dense(n)])\ni = Input((2,))\n"
            "one, two = f(1), f(2)\nhere(Model(i, two(one(i))))"),
            ["Dense(n) < f(1)", "Dense(n) < f(2)"], [], True,
        ),
        # By what is read off an object, some of its layers may come in.
        (
            "i = Input((2,))\nbase = Model(i, Dense(1)(i))\nhere(Model(base.input, base.output))",
            [], ["Dense(1)"], True,
        ),
        ("i = Input((2,))\nh = Dense(1)(i)\nif new:\n    h = Dense(2)(i)\nhere(Model(i, h))",
         [], ["Dense(1)", "Dense(2)"], True),
        # What comes from elsewhere is not known.
        ("here(Sequential([part, Dense(1)]))", ["Dense(1)"], [], False),
        ("i = Input((2,))\nhere(Model(i, made(i)))", [], [], False),
        ("x = Sequential()\nfill(x)\nhere(x)", [], [], False),
    ],
)  # fmt: skip
def test_a_model_has_the_weights_of_what_is_in_it(
    source: str,
    sure: list[str],
    possible: list[str],
    is_all: bool,  # noqa: FBT001
) -> None:
    module, by_call, node = asked(HEAD + source)
    model = by_call.made(node, None)
    assert model is not None
    found = by_call.weights(model, {})
    names = [
        sorted(shown(module, by_call, e) for e in each) for each in (found.sure, found.possible)
    ]
    assert names == [sure, sorted(sure + possible)]
    assert found.is_all == is_all


def test_what_is_frozen_is_not_trained() -> None:
    module, by_call, node = asked(
        f"{HEAD}one, two = Sequential([Dense(1)]), Sequential([Dense(2)])\n"
        "here(Sequential([one, two]))"
    )
    model = by_call.made(node, None)
    assert model is not None
    parts = [by_call.made(each.value, None) for each in node.args[0].value.elements]
    frozen, unknown = (by_call.weights(model, {parts[0]: value}) for value in (False, None))
    assert [shown(module, by_call, each) for each in frozen.possible] == ["Dense(2)"]
    assert [shown(module, by_call, each) for each in unknown.sure] == ["Dense(2)"]
    assert len(unknown.possible) == 2
