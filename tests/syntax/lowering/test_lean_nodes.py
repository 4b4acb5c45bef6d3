"""Nodes made through their slots are the nodes that libcst makes."""

import dataclasses
import inspect
import subprocess
import sys

import libcst as cst
import pytest

from kdoctor.syntax.lowering import node_factories
from kdoctor.syntax.lowering.lean_nodes import make_lean, node_maker

SUBCLASSES = """
from abc import ABCMeta
import libcst as cst
from kdoctor.syntax.lowering.lean_nodes import make_lean

make_lean()
kinds = [kind for kind in vars(cst).values() if isinstance(kind, type)]
kinds = [kind for kind in kinds if issubclass(kind, cst.CSTNode)]
assert len(kinds) > 100
assert all(isinstance(kind, ABCMeta) for kind in kinds)
for kind in kinds:
    for other in kinds:
        assert issubclass(kind, other) == ABCMeta.__subclasscheck__(other, kind)
"""
A, B = cst.Name("a"), cst.Name("b")


@pytest.mark.parametrize(
    ("made", "by_hand"),
    [
        (node_factories.name("a"), A),
        (node_factories.attribute(A, B), cst.Attribute(A, B)),
        (node_factories.call(A, [cst.Arg(B)]), cst.Call(A, [cst.Arg(B)])),
        (node_factories.list_([cst.Element(A)]), cst.List([cst.Element(A)])),
        (node_factories.if_expression(A, B, A), cst.IfExp(A, B, A)),
        (node_factories.tuple_in_brackets([]), cst.Tuple([])),
        (node_factories.return_(A), cst.Return(A)),
        (node_factories.assign([cst.AssignTarget(A)], B), cst.Assign([cst.AssignTarget(A)], B)),
        (
            node_factories.named_argument(A, B, node_factories.NONE_THERE),
            cst.Arg(B, A, equal=node_factories.EQUAL),
        ),
    ],
)
def test_a_node_made_so_is_the_node_made_by_hand(made, by_hand):
    assert type(made) is type(by_hand)
    assert made.deep_equals(by_hand)
    assert dataclasses.replace(made).deep_equals(by_hand), "libcst's own validation"


def test_every_class_is_laid_out_as_its_fields_tell():
    makers = [getattr(node_factories, name) for name in node_factories.MAKERS]
    made = [each for each in makers if inspect.isfunction(each) and each.__name__ == "make"]
    assert len(made) > 80, "has libcst changed how its classes are laid out?"


def test_a_class_that_is_laid_out_in_another_way_is_made_by_itself():
    @dataclasses.dataclass(frozen=True)
    class Own(cst.Name):
        def __post_init__(self):
            object.__setattr__(self, "value", self.value.upper())

    assert node_maker(Own, "value")("a").value == "A"


def test_what_is_a_subclass_is_what_libcst_says():
    # In a process of its own: where other tests ran before, Python's answers take seconds.
    done = subprocess.run([sys.executable, "-c", SUBCLASSES], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (cst.Name, {"value": ""}),
        (cst.SimpleWhitespace, {"value": "x"}),
        (cst.Attribute, {"value": cst.Name("a"), "attr": cst.Name("b"), "lpar": [cst.LeftParen()]}),
        (cst.Arg, {"value": cst.Name("a"), "star": "***"}),
        (cst.IndentedBlock, {"body": (), "indent": ""}),
        (cst.Integer, {"value": "012"}),
        (cst.Integer, {"value": ""}),
    ],
)
def test_what_is_made_by_hand_is_validated(kind, values):
    make_lean()
    with pytest.raises(cst.CSTValidationError):
        kind(**values)


def test_nodes_are_as_they_were_to_those_who_make_them():
    make_lean()
    name = node_factories.name("x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        name.value = "y"
    assert list(inspect.signature(cst.Arg).parameters)[:2] == ["value", "keyword"]
    assert cst.Name("x").deep_equals(cst.Name("x", lpar=(), rpar=()))
    assert cst.Name("x") != cst.Name("x")
    assert len({name, name, cst.Name("x")}) == 2
