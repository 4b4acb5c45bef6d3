"""What is assigned to members of instances whose kind is known."""

import pytest

from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

HEAD = """
import k
from k import Model
from k.layers import Dense, Layer
"""


def stores_of_y(parse, source):
    return [store for store in parse(HEAD + source).member_stores if store.member == "y"]


@pytest.mark.parametrize(
    ("source", "kind", "how"),
    [
        ("Model().y = 3", Kind.MODEL, BindingKind.ASSIGN),
        ("m = Model()\nm.optimizer.y = 3", Kind.OPTIMIZER, BindingKind.ASSIGN),
        ("m = Model()\nm.optimizer.y *= 3", Kind.OPTIMIZER, BindingKind.AUGMENT),
        ("m = Model()\nm.y: int = 3", Kind.MODEL, BindingKind.ASSIGN),
        ("m = Model()\ndel m.y", Kind.MODEL, BindingKind.DELETE),
        ("for d in Model().layers: d.y = 3", Kind.LAYER, BindingKind.ASSIGN),
        ("for d in Model().layers[:-1]: d.y = 3", Kind.LAYER, BindingKind.ASSIGN),
        ("m = Model()\nm.layers[0].y = 3", Kind.LAYER, BindingKind.ASSIGN),
        ("m = Model()\nfor m.y in x: pass", Kind.MODEL, BindingKind.LOOP),
        ("class A(Layer):\n    def f(self): self.y = 3", Kind.LAYER, BindingKind.ASSIGN),
    ],
)
def test_an_assignment_to_a_known_instance_is_told(parse, source, kind, how):
    (store,) = stores_of_y(parse, source)

    assert (store.owner.kind, store.how) == (kind, how)


def test_what_is_assigned_is_told_where_it_is_all_of_the_right_side(parse):
    plain, part = stores_of_y(parse, "m = Model()\nm.y = 3\nm.y, z = 3, 4")

    assert (plain.is_plain, plain.value.value, part.is_plain, part.path) == (True, "3", False, (0,))


@pytest.mark.parametrize("source", ["m.y = 3", "def f(m): m.y = 3", "k.y = 3", "Model.y = 3"])
def test_of_what_is_not_known_nothing_is_told(parse, source):
    assert stores_of_y(parse, source) == []


@pytest.mark.parametrize(
    ("source", "defines", "overrides"),
    [
        ("Model().y = 3", False, False),
        ("class A(Model):\n    y = 3\nA().y = 4", True, True),
        ("class A(Model):\n    @property\n    def y(self): pass\nA().y = 4", True, True),
        ("class A(Model):\n    def f(self): self.y = 3", True, False),
        ("class A(Unknown, Model):\n    def f(self): self.y = 3", True, True),
        ("class A(Layer): y = 3\nfor d in Model().layers: d.y = 3", True, True),
        ("class A(Layer): y = 3\nDense(3).y = 3", False, False),
    ],
)
def test_what_the_users_own_class_says_about_it_is_told(parse, source, defines, overrides):
    (store,) = stores_of_y(parse, source)

    assert (store.owner_defines, store.owner_overrides) == (defines, overrides)
