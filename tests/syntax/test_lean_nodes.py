"""Nodes made without what a parse does not need are the nodes that libcst makes."""

import dataclasses
import inspect
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import libcst as cst
import pytest

import kdoctor
from kdoctor.syntax.lean_nodes import parse_module
from tests.syntax.conftest import every_node

HERE = Path(kdoctor.__file__).parent / "syntax"
SOURCES = [(HERE / name).read_text("utf-8") for name in ("guards.py", "lean_nodes.py")]
SUBCLASSES = """
from abc import ABCMeta
import libcst as cst
from kdoctor.syntax.lean_nodes import parse_module

parse_module("")
kinds = [kind for kind in vars(cst).values() if isinstance(kind, type)]
kinds = [kind for kind in kinds if issubclass(kind, cst.CSTNode)]
assert len(kinds) > 100
assert all(isinstance(kind, ABCMeta) for kind in kinds)
for kind in kinds:
    for other in kinds:
        assert issubclass(kind, other) == ABCMeta.__subclasscheck__(other, kind)
"""
LAYOUT = """\
x = f( * a ,k = ( 0 ) , ** b ) [ 1 : 0x2 , ... ] ; y = [ ] ; z = ( )  # all
if é < 1_0 :
\tdef g( a , / , b : int = 1 , * , c = \\
    2 ) -> None : pass

\t# a comment
"""


@contextmanager
def libcst_as_it_came():
    """Put the ``__init__`` back that libcst's classes came with."""
    parse_module("")
    with pytest.MonkeyPatch.context() as patch:
        for kind in vars(cst).values():
            if isinstance(kind, type) and hasattr(kind.__init__, "__wrapped__"):
                patch.setattr(kind, "__init__", kind.__init__.__wrapped__)
        yield


@pytest.fixture
def lean_trees():
    return [parse_module(source) for source in (LAYOUT, *SOURCES)]


def test_the_trees_are_those_of_libcst(lean_trees):
    with libcst_as_it_came():
        for tree, source in zip(lean_trees, (LAYOUT, *SOURCES), strict=True):
            assert tree.deep_equals(cst.parse_module(source))
            assert tree.code == source


def test_every_node_stands_libcsts_own_validation(lean_trees):
    with libcst_as_it_came():
        for node in every_node(lean_trees[0]):
            assert dataclasses.replace(node).deep_equals(node)


def test_what_is_a_subclass_is_what_libcst_says():
    # In a process of its own: where other tests ran before, Python's answers take seconds.
    subprocess.run([sys.executable, "-c", SUBCLASSES], check=True)


def test_nine_tenths_of_the_nodes_are_made_so(lean_trees):
    made = Counter(
        hasattr(type(node).__init__, "__wrapped__")
        for tree in lean_trees
        for node in every_node(tree)
    )
    assert made[True] > 9 * made[False], "has libcst changed how its classes are laid out?"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (cst.Name, {"value": "a b"}),
        (cst.SimpleWhitespace, {"value": "x"}),
        (cst.Attribute, {"value": cst.Name("a"), "attr": cst.Name("b"), "lpar": [cst.LeftParen()]}),
        (cst.Arg, {"value": cst.Name("a"), "star": "***"}),
        (cst.IndentedBlock, {"body": (), "indent": ""}),
        (cst.Integer, {"value": "012"}),
        (cst.Integer, {"value": ""}),
    ],
)
@pytest.mark.parametrize("before", ["x = 1\n", "x = = 1\n"])
def test_what_is_made_by_hand_is_validated(kind, values, before):
    try:
        parse_module(before)
    except cst.ParserSyntaxError:
        assert "= =" in before
    with pytest.raises(cst.CSTValidationError):
        kind(**values)


@pytest.mark.parametrize(
    "source", ["f(a=1, b)\n", "f(**a, *b)\n", "x = 012\n", "x² = 1\n", "b'a' 'b'\n"]
)
def test_what_libcst_refuses_is_refused(source):
    with libcst_as_it_came(), pytest.raises(Exception) as plain:  # noqa: PT011 - whatever it is
        cst.parse_module(source)
    with pytest.raises(type(plain.value)) as lean:
        parse_module(source)
    assert str(lean.value) == str(plain.value)


def test_nodes_are_as_they_were_to_those_who_make_them():
    name = parse_module("x").body[0].body[0].value
    with pytest.raises(dataclasses.FrozenInstanceError):
        name.value = "y"
    assert list(inspect.signature(cst.Arg).parameters)[:2] == ["value", "keyword"]
    assert cst.Name("x").deep_equals(cst.Name("x", lpar=(), rpar=()))
    assert cst.Name("x") != cst.Name("x")
    assert len({name, name, cst.Name("x")}) == 2
