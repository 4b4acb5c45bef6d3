"""What an expression computes is computed once, also where the new code reads it twice."""

import sys
import types

import pytest

from kdoctor.engine import fix
from kdoctor.rewrite import rewrite

HEAD = "from keras import backend as K\n\n\n"
FLAT = "ops.reshape(({0} := {1}), (-1, math.prod(ops.shape({0})[1:])))"


def mended(source):
    result = fix(["-"], stdin=(HEAD + source).encode(), select=["KD101"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else HEAD + source


@pytest.mark.parametrize(
    ("source", "name", "value"),
    [
        ("def f(a):\n    return K.batch_flatten(a + 1)\n", "x", "a + 1"),
        ("def f(x):\n    return K.batch_flatten(x + 1)\n", "x_1", "x + 1"),
        ("def f(x, x_1):\n    return K.batch_flatten(x + x_1)\n", "x_2", "x + x_1"),
        ("f = lambda a: K.batch_flatten(a[0])\n", "x", "a[0]"),
        ("y = K.batch_flatten(a if a else b)\n", "x", "a if a else b"),
        ("class A:\n    def f(self):\n        return K.batch_flatten(self.a)\n", "x", "self.a"),
        ("class A:\n    f = lambda self: K.batch_flatten(self.a)\n", "x", "self.a"),
        ("def f(a=K.batch_flatten(b.c)):\n    return a\n", "x", "b.c"),
        ("y = [(lambda a: K.batch_flatten(a.b))(c) for c in d]\n", "x", "a.b"),
    ],
)
def test_it_gets_a_name_that_nothing_else_has(source, name, value):
    after = mended(source)
    compile(after, "after", "exec")
    assert FLAT.format(name, value) in after


@pytest.mark.parametrize(
    "source",
    [
        "y = [K.batch_flatten(a + 1) for a in b]\n",  # its name would be one of around
        "y = [a for a in K.batch_flatten(b + 1)]\n",  # forbidden
        "class A:\n    y = K.batch_flatten(b + 1)\n",  # the class would have one more member
        "class A:\n    def f(self, y=K.batch_flatten(b + 1)):\n        return y\n",
        "class A:\n    @K.batch_flatten(b + 1)\n    def f(self):\n        return y\n",
        "def f(a: K.batch_flatten(b + 1)):\n    return a\n",
        'y = f"{K.batch_flatten(b + 1)}"\n',
        "async def f(a):\n    return K.batch_flatten(await a, *b)\n",
    ],
)
def test_it_is_left_alone_where_no_name_can_be_bound(source):
    assert mended(source) == HEAD + source


def test_nothing_is_computed_again_nor_in_another_order(monkeypatch):
    keras = types.ModuleType("keras")
    keras.backend = None
    keras.ops = types.SimpleNamespace(
        reshape=lambda x, shape: ("reshaped", x, shape), shape=lambda x: (2, len(x))
    )
    monkeypatch.setitem(sys.modules, "keras", keras)
    seen = []
    source = "def f(say):\n    return say(1), K.batch_flatten(K.batch_flatten(say(2)) + say(3))\n"
    names = {}
    exec(compile(mended(source), "after", "exec"), names)  # noqa: S102
    assert names["f"](lambda each: seen.append(each) or (each,)) == (
        (1,),
        ("reshaped", ("reshaped", (2,), (-1, 1), 3), (-1, 4)),
    )
    assert seen == [1, 2, 3]


def test_an_attribute_is_copied_into_branches_of_which_one_is_taken():
    after = mended("def f(self, y):\n    return K.bias_add(y, self.b, data_format=self.c)\n")
    assert "ops.reshape(self.b, " in after
    assert "else self.b\n" in after
    assert ":=" not in after
    source = "def f(self, y):\n    return K.bias_add(y, self.b(), data_format=self.c)\n"
    assert mended(source) == HEAD + source  # it would be called in either


@pytest.mark.parametrize(
    ("right", "names"),
    [
        ("x + y", {"x", "y"}),
        ("x if y else x", {"x", "y"}),
        ("x if x else y", {"y"}),
        ("(x if y else keras.f(x)) + y", {"x"}),
        ("[x for each in y]", {"y"}),
        ("(lambda: x)() + y", {"y"}),
    ],
)
def test_of_branches_one_is_taken(right, names):
    assert rewrite("keras.backend.old(x, y)", right).replacement.read_once == names


@pytest.mark.parametrize(
    ("right", "named"),
    [
        ("f(x, g(x))", {"x"}),
        ("f(y, x, g(x))", {"x", "y"}),
        ("(x if y else x) + y", {"y"}),  # the test comes first, and stands second
        ("y + (x if y else x)", {"y"}),
        ("x and f(x)", {"x"}),
        ("x < y < x", {"x", "y"}),
        ("1 < x < y", {"x"}),
        ("y and f(x, x)", {"y"}),
        ("[x for each in x]", set()),
        ("(lambda: x)()", set()),
        ("f'{x}{x}'", set()),
    ],
)
def test_a_name_is_given_only_where_it_is_surely_bound_first(right, named):
    row = rewrite("keras.backend.old(x, y)", right.replace("f(", "keras.f(").replace("g(", "len("))
    assert row.replacement.first_as_written == named
