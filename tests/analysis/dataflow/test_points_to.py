"""An object is followed, under all its names, to the call that made it."""

from __future__ import annotations

import pytest

from kdoctor.analysis.dataflow.points_to import PointsTo
from tests.analysis.conftest import asked_in


def points_to(source):
    """Return what makes the argument of `here(…)`, as written, with the part that it is."""
    module, asked = asked_in(source)
    found = PointsTo(module).of(asked)
    return sorted((module.source(each.call), each.part) for each in found)


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("x = one()\nhere(x)", [("one()", ())]),
        ("x = y = one()\nz = x\nhere(z)", [("one()", ())]),
        # What is bound last, or in either branch.
        ("x = one()\nx = two()\nhere(x)", [("two()", ())]),
        ("x = one()\nif new:\n    x = two()\nhere(x)", [("one()", ()), ("two()", ())]),
        # Parts.
        ("a, (b, c) = one()\nhere(c)", [("one()", (1, 1))]),
        ("a, *b = one()\nhere(b)", []),
        ("both = one(), two()\n_, x = both\nhere(x)", [("two()", ())]),
        ("both = [one(), two()]\nhere(both[1])", [("two()", ())]),
        ("both = [*more, two()]\nhere(both[1])", []),
        ("for x in (one(), two()):\n    here(x)", [("one()", ()), ("two()", ())]),
        ("for x in all_of():\n    here(x)", []),
        # A function that makes it makes another at each call.
        ("def made():\n    x = one()\n    return x\na = made()\nb = made()\nhere(a)", [("made()", ())]),
        ("def made():\n    x = one()\n    here(x)\n    return x\na = made()", [("made()", ())]),
        ("def made():\n    x = one()\n    here(x)\n    return 1, x\na = made()", [("made()", (1,))]),
        ("def made():\n    x = one()\n    here(x)\nmade()", [("one()", ())]),
        ("def made():\n    return one(), two()\n_, x = made()\nhere(x)", [("made()", (1,))]),
        # One that hands on what it is given makes nothing.
        ("def same(x):\n    return x\nhere(same(one()))", [("one()", ())]),
        ("def f(x):\n    here(x)\nf(one())\nf(x=two())", [("one()", ()), ("two()", ())]),
        ("def f(a, b):\n    here(b)\nf(*one())", []),
        ("def f(a, b=two()):\n    here(b)\nf(one())", []),
        ("def f(all):\n    a, b = all\n    here(b)\nf((one(), two()))", [("two()", ())]),
        # Objects and their attributes.
        (
            ("class C:\n    def __init__(self):\n        self.x = self.made()\n"
            "    def made(self):\n        return one()\n    def use(self):\n        here(self.x)\n"),
            [("self.made()", ())],
        ),
        (
            ("class C:\n    def __init__(self, x):\n        self.x = x\n"
            "    def use(self):\n        here(self.x)\nC(one()).use()\n"),
            [("one()", ())],
        ),
        (
            ("class C:\n    def a(self):\n        self.x = one()\n"
            "    def b(self):\n        self.x = two()\n        here(self.x)\n"),
            [],
        ),
        (
            ("class Base:\n    def made(self):\n        return one()\n"
            "class C(Base):\n    def use(self):\n        here(self.made())\n"),
            [("self.made()", ())],
        ),
        (
            ("class C:\n    def __init__(self):\n        self.x = one()\n"
            "class D:\n    def __init__(self, c):\n        self.c = c\n"
            "    def use(self):\n        here(self.c.x)\nD(C()).use()\n"),
            [("one()", ())],
        ),
        # Layers of a model that is written out.
        (
            "import keras\nm = keras.Sequential([one(), two()])\n_, x = m.layers\nhere(x)",
            [("two()", ())],
        ),
        ("import keras\nm = keras.Sequential()\nhere(m.layers[0])", []),
        # What leads back to itself.
        ("x = x\nhere(x)", []),
        ("def f(x):\n    here(x)\n    f(x)\nf(one())", [("one()", ())]),
        ("def f():\n    return f()\nhere(f())", [("f()", ())]),
        ("def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\nhere(f(one()))", [("f(one())", ())]),
        # From elsewhere.
        ("def f(x):\n    here(x)", []),
        ("from there import x\nhere(x)", []),
    ],
)  # fmt: skip
def test_what_makes_it(source, made):
    assert points_to(source) == made


@pytest.mark.parametrize("given", ["", "one()"])
def test_what_a_method_is_called_on_is_none_of_its_arguments(given):
    source = (
        "class C:\n    def run(self, *a):\n        self.use({})\n"
        "    def use(self, x=None):\n        here(self)\n"
    )
    assert points_to(source.format(given)) == []


def test_of_too_many_nothing_is_said():
    calls = "".join(f"f(made({each}))\n" for each in range(100))
    assert points_to(f"def f(x):\n    here(x)\n{calls}") == []
