"""Code as people write it: the standard library and what is installed."""

import ast
import random
import sysconfig
import tokenize
from pathlib import Path

import libcst as cst
import pytest

from kdoctor.documents import Document
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

FILES = 60


def some_files():
    paths = sysconfig.get_paths()
    found = [
        path
        for folder in {paths["stdlib"], paths["purelib"]}
        for path in Path(folder).rglob("*.py")
        if path.stat().st_size < 60_000 and "lib2to3" not in path.parts
    ]
    return random.Random(2).sample(sorted(found), FILES)  # noqa: S311 - the same each time


@pytest.fixture(scope="module")
def modules():
    parsed = []
    for path in some_files():
        try:
            with tokenize.open(path) as file:
                ast.parse(file.read())
        except (SyntaxError, ValueError):
            continue
        parsed += map(Module.parse, Document.parse(path.read_bytes(), str(path)).units)
    return parsed


def test_each_reference_reads_as_the_dotted_name_that_it_is(modules):
    checked = 0
    for module in modules:
        for reference in module.references:
            if isinstance(reference.node, cst.Name | cst.Attribute):
                text = ast.unparse(ast.parse(f"({module.source(reference.node)})"))
                local, _, path = text.partition(".")
                assert reference.name.endswith(path), (module.path, text)
                assert local in text
                checked += 1
    assert checked > 500


def test_every_question_has_an_answer(modules):
    for module in modules:
        assert isinstance(module.members, tuple)
        for reference in module.references:
            assert module.place(reference.node).path == module.path
            module.is_guarded(reference.node)
            module.context_of(reference.node)
        for binding in module.imports:
            assert module.is_free("no_such_name", module.uses_of(binding))


def test_every_node_has_its_place_inside_its_parents(modules):
    for module in modules[:20]:
        for node in descendants(module.tree):
            parent = module.parent(node)
            if parent is not None and not isinstance(node, cst.Decorator | cst.Parameters):
                assert module.outer_span(parent).covers(module.outer_span(node))
