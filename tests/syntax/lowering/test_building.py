"""The tree that is built from Python's own is the one that libcst parses, but for its blanks."""

import ast
import gc
import random
import sysconfig
import tokenize
from functools import cache
from pathlib import Path

import libcst as cst
import pytest

import kdoctor
from kdoctor.documents import Document
from kdoctor.model import Span
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import FIELDS, children, descendants
from kdoctor.syntax.lowering.building import build
from kdoctor.syntax.lowering.expressions import UnknownCodeError
from kdoctor.syntax.lowering.lean_nodes import parse_module
from kdoctor.syntax.lowering.parse import Parsed
from kdoctor.syntax.parsing import parse

SEED = random.SystemRandom().randrange(10**6)  # drawn anew each time; a failure tells it
DRAWN = 30
# What the nodes hold besides the nodes that `FIELDS` tells of.
TEXTS = (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.FormattedStringText)


def unit_of(text):
    return Document.parse(text.encode(), "code.py").units[0]


def told(node):
    """Return all that is the same in both trees."""
    yield type(node)
    if isinstance(node, TEXTS):
        yield node.value
    if isinstance(node, cst.BaseExpression):
        yield len(node.lpar), len(node.rpar)
    match node:
        case cst.ImportFrom():
            yield node.lpar is not None, len(node.relative)
        case cst.IndentedBlock():
            yield node.indent
        case cst.Arg() | cst.Param() | cst.Index():
            yield node.star
        case cst.Module():
            yield node.default_indent, node.default_newline, node.has_trailing_newline
        case cst.Parameters():
            yield isinstance(node.posonly_ind, cst.ParamSlash)
    if hasattr(node, "operator"):
        yield type(node.operator)
    if hasattr(node, "asynchronous"):
        yield node.asynchronous is None
    for name in FIELDS[type(node)]:
        value = getattr(node, name)
        yield name, len(value) if isinstance(value, list | tuple) else type(value)


def check(text):
    """Compare both trees of a text: what they say, and where each node stands."""
    unit = unit_of(text)
    parsed = parse(unit)
    assert parsed.built is not None, "it is left to libcst"
    text = unit.text
    built, theirs = Module(unit, parsed), Module(unit, Parsed(parse_module(text), text, None))
    nodes = list(zip(descendants(built.tree), descendants(theirs.tree), strict=False))
    for ours, other in nodes:
        assert list(told(ours)) == list(told(other))
    for ours, other in nodes:
        found, wanted = built.span(ours), theirs.span(other)
        outer, wanted_outer = built.outer_span(ours), theirs.outer_span(other)
        assert found.start == wanted.start, theirs.source(other)
        # To libcst, the blanks behind the colon of `x[1: ]` are a part of the slice, and a comma
        # behind `*x` is a part of its outer span.
        if not isinstance(ours, cst.Slice | cst.SubscriptElement):
            assert found.end == wanted.end, theirs.source(other)
        if not isinstance(ours, cst.Slice | cst.SubscriptElement | cst.StarredElement):
            assert outer == wanted_outer, theirs.source(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# only this",
        "x = ( 1, 2 , # c\n )\ny = (\n  # d\n  (1),\n)\nz = ()\nw = ( # e\n)\n1, 2,  # f\n",
        "a = ((b))\nc = ( # why\n (d + e) # so\n)\nf = (g)(h)[(i)]\nnot(j)\nreturn_(k)\n",
        "f\\\n(x)\n[g\n(y), h # (\n (z)]\nif(a):(b)\nelif(c) : d\n",
        "def f():\n  if a:\n    b; c ;\nx[1:\n ]\nx[: # d\n : ]\nclass A: b;\n",
        "x = 1; y = 2 ; \\\n z = 3\nif x: y; z\nelse: \\\n  w\n",
        "if x:  # \\\n    y\nelse:  # \\\n    if z: pass\n",
        "f(a, *b, c, k=1, *d, **e, l=(2),)\nf((x for x in y))\nf(x for x in y if(z))\n",
        "class A(B, *c, metaclass = D, **e): pass\nclass F(): 'doc'\nclass G (H) :\n  x: int\n",
        (
            "def f(a, b: int = (1), /, c=2, *, d, e: 'str' = 3, **f): pass\n"
            "async def g(* a: int, k): return lambda x, *y, z=1, **w: (yield)\n"
        ),
        "@a\n@ b . c(d)\n# e\n@(f)\nclass G:\n\t@h\n\tdef i(self): pass\n",
        (
            "from . import a\nfrom .. b.c import (d, e as f,)\nfrom g . h import *\n"
            "import i . j as k, l.m\nfrom ...n import o\nfrom . p import q\n"
        ),
        "x[1:2, ::3, ...]\nx[(1, 2)]\nx[1,]\nx[(1), (2)]\nx[*y]\nx[:, (a)]\n",
        "'a' \"b\"  # c\n(r'd'\n  'e' # f\n  f'{g!r:>{h}}')\nb'i'\nx = u'''j\n'k''' '''l'''\n",
        "f'{a}{(b)}' 'c'\nf(f'''{d\n}''')\nx = ('a'\r\n  'b')\r\n",
        "{**a, 'b': (c), **(d)}\n{*e, f}\n{g: h for (g, h) in i}\n[*j, (k)]\n{l for l in m}\n",
        "f'{a(b, c=1, *d)} {[*e, (f)]} {(x for x in y)} {g and h and i} {(lambda j=1: j)}'\n",
        "with (a): b\nwith (c) as d: e\nwith (f, g): h\nwith (i as j, k): l\nwith m as (n, o): p\n",
        "try:\n a\nexcept (b, c) as d:\n e\nexcept f: g\nexcept: h\nelse: i\nfinally: j\n",
        "try: a\nexcept* B: c\n",
        "for (a, b) in c, d: e\nelse:\n\n  # f\n  g\nwhile(h): break\nfor *i, j in k: continue\n",
        "del a\ndel (b), c\ndel (d, e)\ndel (f)\ndel g,\n",
        "a and b and (c or d or e)\n(f and g) and h\nnot i < j <= (k) != l is not m not in n\n",
        "x = y = (z := -1 ** ~2) @ 0x1F // 1_0.5e3 % 2j\nx += (yield)\nx: int\nx: (y) = 1\n",
        "raise A from (b)\nraise\nassert (a), (b)\nglobal c, d\nnonlocal_ = await_\n",
        (
            "async def f():\n  async with a as b, c: await (d)\n  async for e in f: pass\n"
            "  return [g async for g in h if i if j for k in l]\n"
        ),
        "x = 'größe' + größe.länge(übrig=ß, k = 1)\ndef f(é, *ü): return é . ü # (\n('ä', (ö))\n",
        "if a:\n        b\n        if c:\n                d\nif e:\n  f\n",
        "x = ''  \f\n\f\ny = 1\n",
        "def f():\n\tif a:\n\t  return 1\n",
    ],
)
def test_it_is_built_as_libcst_parses_it(text):
    check(text)


@cache
def drawn_files():
    paths = sysconfig.get_paths()
    found = [
        path
        for folder in {paths["stdlib"], paths["purelib"], Path(kdoctor.__file__).parent}
        for path in Path(folder).rglob("*.py")
        if path.stat().st_size < 20_000 and "lib2to3" not in path.parts
    ]
    return random.Random(SEED).sample(sorted(found), DRAWN)  # noqa: S311


@pytest.mark.parametrize("place", range(DRAWN))
def test_so_it_is_for_code_as_people_write_it(place):
    path = drawn_files()[place]
    try:
        with tokenize.open(path) as file:
            text = file.read()
        build(text, ast.parse(text))
        cst.parse_module(text)
    except (SyntaxError, ValueError, UnknownCodeError, cst.ParserSyntaxError):
        return  # the next test counts these
    try:
        check(text)
    except AssertionError as error:
        raise AssertionError(f"seed {SEED}: {path}") from error


def test_hardly_any_file_is_left_to_libcst():
    texts = []
    for path in drawn_files():
        try:
            with tokenize.open(path) as file:
                texts.append(file.read())
            ast.parse(texts[-1])
        except (SyntaxError, ValueError):
            texts = texts[:-1]
    left = [text for text in texts if parse(unit_of(text)).built is None]
    assert len(left) <= len(texts) / 4, f"seed {SEED}"  # kdoctor itself is full of patterns


@pytest.mark.parametrize(
    "text",
    [
        "match x:\n  case 1: pass\n",
        "import größe\n",
        "def größe(): pass\n",
        "def f(*a: *b): pass\n",
    ],
)
def test_what_is_not_known_libcst_parses(text):
    with pytest.raises(UnknownCodeError):
        build(text, ast.parse(text))
    module = Module.parse(unit_of(text))
    assert module.source(module.tree.body[0]) == text.rstrip()


@pytest.mark.parametrize("text", ["def f[T](x: T): pass\n", "type A = int\n"])
def test_what_this_python_may_not_know_libcst_parses(text):
    parsed = parse(unit_of(text))
    assert parsed.built is None
    assert parsed.tree.code == text


def test_a_tree_that_is_at_hand_is_not_made_again(monkeypatch):
    unit = unit_of("import k\n")
    tree = ast.parse(unit.text)
    monkeypatch.delattr("kdoctor.syntax.lowering.parse.parse_ast.parse")
    assert parse(unit, tree).built is not None


@pytest.mark.parametrize("text", ["\f\nx = 1\n", "x = 1\ry = 2\n"])
def test_a_tree_of_another_text_is_not_taken(text):
    parsed = parse(unit_of(text), ast.parse("other = 1"))
    names = [each.value for each in descendants(parsed.tree) if isinstance(each, cst.Name)]
    assert names[0] == "x"


def test_no_two_nodes_are_one():
    tree = parse(
        unit_of("from a import *\nfrom b import *\nf = lambda *, k: k\ng = lambda *, l: l\n")
    ).tree
    held = [child for each in descendants(tree) for child in children(each)]
    assert len({id(each) for each in held}) == len(held)


def test_nothing_of_a_module_waits_for_the_garbage_collector():
    def look():
        module = Module.parse(unit_of("import k\nx = ('a' f'{b}') + (é)\nk.f(a, *b, c=1)\n"))
        assert module.references
        assert all(module.span(each) for each in descendants(module.tree))

    look()  # what is made once, and stays
    while gc.collect():  # what other tests left, which may take more than one pass
        pass
    gc.disable()
    try:
        look()
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("text", "comma"),
    [
        ("[a]", None),
        ("[(a) , ]", 5),
        ("[a # b, c\n]", None),
        ("[a # b, c\n \\\n , ]", 14),
        ("[a, b]", 2),
        ("[a " + "# " * 2000 + "\n]", None),
    ],
)
def test_a_comma_in_a_comment_is_none(text, comma):
    module = Module.parse(unit_of(text))
    found = module.comma_after(module.nodes(cst.List)[0].elements[0])
    assert found == (None if comma is None else Span(comma, comma + 1))
