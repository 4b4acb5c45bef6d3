"""An expression is told as a part of what a call gives, through dicts and lists."""

from __future__ import annotations

import pytest

from kdoctor.analysis.dataflow.parts import Parts
from kdoctor.analysis.dataflow.points_to import points_to_of
from tests.analysis.conftest import asked_in


def parts(source):
    """Return of what the argument of `here(…)` is a part, as written, with the keys to it."""
    module, asked = asked_in(source)
    found = Parts(module, points_to_of(module)).of(asked)
    return sorted((module.source(each.call), "/".join(each.path)) for each in found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = one()\nhere(x['a'][0])", [("one()", "a/0")]),
        ("x = one()\nhere(x.get('a', {}))", [("one()", "a")]),
        ("x = one()\nhere(x['a'][1:][0])", [("one()", "a/0")]),
        ("for x in one()['a']:\n    here(x['b'])", [("one()", "a/*/b")]),
        ("for _, x in enumerate(one()):\n    here(x)", [("one()", "*")]),
        ("for i, _ in enumerate(one()):\n    here(i)", []),
        ("for x, y in zip(one(), two()):\n    here(y['a'])", [("two()", "*/a")]),
        ("for k, x in one().items():\n    here(x)", [("one()", "*")]),
        ("for k, x in one().items():\n    here(k)", []),
        ("for x in one().values():\n    here(x)", [("one()", "*")]),
        ("for x in one().keys():\n    here(x)", [("one().keys()", "*")]),
        ("x = [y['a'] for y in one()]\nhere(x[0])", [("one()", "*/a")]),
        ("x = {'a': one(), 'b': two()}\nhere(x['b'])", [("two()", "")]),
        ("import copy\nhere(copy.deepcopy(one())['a'])", [("one()", "a")]),
        ("here(list(one()['a']))", [("one()", "a")]),
        ("def list(x):\n    return two()\nhere(list(one()))", [("two()", "")]),
        ("here(one()['a'] if new else two())", [("one()", "a"), ("two()", "")]),
        ("def f(x):\n    here(x['a'])\nf(one()['b'])\nf(two())", [("one()", "b/a"), ("two()", "a")]),
        ("def f():\n    return one(), 1\nx, _ = f()\nhere(x['a'])", [("one()", "a")]),
        (
            ("class A:\n    def __init__(self):\n        self.x = one()\n"
            "    def f(self):\n        here(self.x['a'])"),
            [("one()", "a")],
        ),
        # What only stands beside it, or is made of it.
        ("here({'m': 1}[one()['a']])", []),
        ("here(len(one()))", [("len(one())", "")]),
        ("here(one()['a'] + two())", []),
        ("x, *y = one()\nhere(y)", []),
    ],
)  # fmt: skip
def test_a_part_is_told_by_its_keys(source: str, found: list[tuple[str, str]]) -> None:
    assert parts(source) == found


def test_a_function_that_calls_itself_with_a_part_gives_a_few() -> None:
    source = "def f(x):\n    here(x)\n    for y in x['a']:\n        f(y)\nf(one())"
    assert parts(source)[:2] == [("one()", ""), ("one()", "a/*")]
