"""Trees that are kept: the same as those of a parse, for text and for bytes, and few of them."""

import ast
import weakref
from collections.abc import Callable

import pytest

from kdoctor.modules import ast_cache, module_summary
from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.module_summary import summary_in


@pytest.mark.parametrize(
    "data",
    [
        "é = 1\r\nimport keras\r\n".encode(),
        b"\xef\xbb\xbfimport keras\n",
        "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"),
        b"# coding: nothing\nimport keras\n",
        b"name = '\xe9'\n",
        b"import\0keras\n",
        b"if:\n",
    ],
)
def test_the_tree_of_bytes_is_what_python_makes_of_them(data: bytes):
    try:
        wanted = ast.dump(ast.parse(data), include_attributes=True)
    except (SyntaxError, ValueError):
        wanted = None
    tree = AstCache().of_bytes(data)
    assert (tree and ast.dump(tree, include_attributes=True)) == wanted
    assert (summary_in(data) is None) == (wanted is None)


def test_a_source_is_parsed_once_for_what_imports_it_and_for_its_file():
    trees = AstCache()
    outlined = trees.of_bytes(b"import keras\n")
    assert trees.of_bytes(b"import keras\n") is outlined
    assert trees.take("import keras\n") is outlined
    assert trees.take("import keras\n") is not outlined


def test_the_oldest_trees_make_room():
    trees = AstCache()
    first = trees.of_bytes(b"first = 1\n")
    for number in range(30):
        trees.of_bytes(b"%d\n" % number + b"# much\n" * 5_000)
    assert trees.take("first = 1\n") is not first


@pytest.mark.parametrize("ask", [AstCache.take, lambda trees, text: trees.of_bytes(text.encode())])
def test_a_large_source_is_parsed_when_there_is_room_for_it(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[AstCache, str], object]
):
    trees = AstCache()
    kept = weakref.ref(trees.of_bytes(b"first = 1\n"))
    small = "second = 2\n"
    ask(trees, small)
    assert kept() is not None
    gone = []

    def parsed(source: str | bytes) -> ast.Module | None:
        gone.append(kept() is None)
        return module_summary.parsed(source)

    monkeypatch.setattr(ast_cache, "parsed", parsed)
    ask(trees, small + "# much\n" * 30_000)
    assert gone == [True]
