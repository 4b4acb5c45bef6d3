"""Where nodes stand in the user's own text."""

import ast

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents import Document
from kdoctor.errors import SyntaxProblem
from kdoctor.model import Span
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants


def sources(module, kind):
    return [module.source(each) for each in descendants(module.tree) if isinstance(each, kind)]


def test_a_span_is_the_node_without_what_hangs_on_it(parse):
    module = parse("# before\nf(  ( a + b )  , key = c, )  # after\n\n")

    assert sources(module, cst.Arg) == ["( a + b )", "key = c"]
    assert sources(module, cst.BinaryOperation) == ["a + b"]
    assert sources(parse("def f(a: int = (1), *b): pass"), cst.Param) == ["a: int = (1)", "*b"]
    assert sources(module, cst.Expr) == ["f(  ( a + b )  , key = c, )"]


def test_the_outer_span_of_an_expression_has_its_own_parentheses(node_of):
    module, node = node_of("x = ( (a + b) ) * c", "a + b")

    assert module.span(node) == Span(7, 12)
    assert module.outer_span(node) == Span(4, 15)


def test_the_outer_span_of_what_is_no_expression_is_its_span(node_of):
    module, node = node_of("\n\n# why\nx = 1  # because\n", "x = 1")

    assert module.outer_span(node) == module.span(node)


def test_a_place_counts_lines_and_characters_from_one(node_of):
    module, node = node_of("x = 1\ny = 'ä𝄞', k.sum", "k.sum")
    place = module.place(node)

    assert (place.path, place.line, place.column, place.end_column) == ("code.py", 2, 11, 16)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_newline_keeps_the_offsets(parse, newline):
    text = newline.join(["import k", "def f():", "    k.a", "    k.b", ""])
    module = parse(text)

    assert [module.source(ref.node) for ref in module.references] == ["k", "k.a", "k.b"]


@pytest.mark.parametrize(
    "text",
    [
        "\fimport k\nk.a",
        "import k\n\f\nk.a",
        "import k\n\fif x:\n    \f    k.a",
        "import k\nk.b\f\nk.a",
        "import k\n\f\f\fk.a",
        "import k\r\n\fk.a\r\n",
    ],
)
def test_form_feeds_keep_the_offsets(parse, text):
    module = parse(text)

    assert module.source(module.references[-1].node) == "k.a"
    assert module.text == text


def test_parents_lead_from_every_node_to_the_module(parse):
    module = parse(EVERYTHING)

    for node in descendants(module.tree):
        if node is not module.tree:
            assert [*module.ancestors(node)][-1] is module.tree


@pytest.mark.parametrize(
    "kind",
    [cst.Assign, cst.Call, cst.ClassDef, cst.Comparison, cst.FunctionDef, cst.If, cst.Name,
     cst.Subscript],
)  # fmt: skip
def test_all_nodes_of_a_class_are_found_in_source_order(parse, kind):
    module = parse(EVERYTHING + GENERIC)

    wanted = [each for each in descendants(module.tree) if type(each) is kind]
    assert wanted == [*module.nodes(kind)] != []


def test_the_attributes_are_all_but_those_of_import_lines(parse):
    module = parse(EVERYTHING + GENERIC)
    every = [each for each in descendants(module.tree) if isinstance(each, cst.Attribute)]

    assert [each for each in every if module.source(each) != "os.path"] == [*module.attributes]


def test_every_child_lies_inside_its_parent_and_after_its_elder_brother(parse):
    module = parse(EVERYTHING)
    ends = {}
    for node in descendants(module.tree):
        parent = module.parent(node)
        if parent is None:
            continue
        span = module.outer_span(node)
        # As in Python's own ast, a decorated definition starts after its decorators.
        if not isinstance(node, cst.Parameters | cst.Decorator) and span.start != span.end:
            assert module.outer_span(parent).covers(span), (type(parent), type(node))
            assert ends.get(parent, 0) <= span.start, (type(parent), type(node))
            ends[parent] = span.end


def test_expressions_read_as_python_reads_them(parse):
    module = parse(EVERYTHING)
    ours = {
        module.source(node)
        for node in descendants(module.tree)
        if isinstance(node, cst.Attribute | cst.Call | cst.Lambda | cst.BinaryOperation)
    }
    theirs = {
        ast.get_source_segment(EVERYTHING, node)
        for node in ast.walk(ast.parse(EVERYTHING))
        if isinstance(node, ast.Attribute | ast.Call | ast.Lambda | ast.BinOp)
    }

    assert theirs <= ours


@given(st.text(alphabet="kx.=()[]:,\n\r\f \t'#1\\", max_size=30))
def test_any_text_is_parsed_or_refused_with_a_place(text):
    try:
        module = Module.parse(Document.parse(text.encode(), "code.py").units[0])
    except SyntaxProblem as problem:
        assert problem.line >= 1 <= problem.column  # noqa: PT017 - most texts are refused
        return
    for node in descendants(module.tree):
        try:
            assert 0 <= module.span(node).start <= module.span(node).end <= len(text)
        except SyntaxProblem:
            return


EVERYTHING = '''\
"""All of the grammar."""
import k, os.path as p
from . import a as b, c
from .d import *

@k.deco(1)
class A(k.B, metaclass=M):
    x: int = 3
    def f(self, a, /, b: int = k.one, *args: k.two, c=lambda y, *z: y + z, **kw) -> "k.T":
        global g
        if (n := self.a.b(k.c)) and not n or -n ** 2:
            return [*a, *[i.x for i in b if i for j in i], {**c}, {1: k.v}, {k.s}]
        elif a if b else c:
            yield
        else:
            raise k.E(a) from b
        while a < b <= c: break
        else: pass
        for i, (j, *m) in k.it: continue
    async def h(self):
        async with k.w as q, r: await q.x
        async for i in k.g: pass
        return [x async for x in y]

try:
    assert k.x, "no"
except (k.E, F) as e:
    del e.x, b[1:k.two, ::3]
except:
    pass
else:
    x = y.z = k.value
finally:
    a.b += k.c
f"{k.x!r:>{k.width}} {a.b=}" "more"
b"x"[0]
match k.point:
    case k.P(x=0, y=[1, *rest]) | {"a": 1, **others} if k.ok: pass
    case -1 | "s" | None: pass
    case (1, _) as both: pass
print(*k.args, **k.kwargs, end="")
'''

GENERIC = """\
@k.a(0)
class A[T: k.b(1)](k.c(2)[3]): pass
@k.a(0)
def f[T: k.b(1)](x: k.c(2)[3] = k.d(4)) -> k.e(5): k.f(6)
type X[T: k.a(1)] = k.b(2)
"""


TWICE = """\
import k
def f(x):
    x = k.a(x)
    x = k.b(x)
    x = k.a(x)
    x = k.b(x)
    with k.scope(x):
        x = k.a(x)
    if k.a: x = k.a(x)
    elif k.b: x = k.b(x)
    else: x = k.a
    return x
class A(k.A):
    x = k.a(x)
    x = k.b(x)
    def f(x, y=k.a): return k.a(x)
    with k.scope(x):
        x = k.a(x)
class A(k.A):
    x = k.a(x)
    x = k.b(x)
    def f(x, y=k.a): return k.a(x)
    @k.a
    def f(x, y=k.a): return k.a(x)
def f(x):
    x = k.a(x)
    x = k.b(x)
for x in k.a:
    for x in k.a:
        match k.a:
            case k.a: k.a
try: k.a
except k.E: k.a
finally: k.a
while k.a: k.a
match y:
    case 1:
        k.b(z)
if y:
    k.b(z)
if z:
    k.c(z)
elif x:
    k.c(z)
else:
    k.c(z)
if y:
    pass
if x:
    k.c(z)
"""


def test_what_stands_in_a_file_twice_has_two_places(parse):
    expected = sorted(
        (node.lineno, node.col_offset, node.end_col_offset)
        for node in ast.walk(ast.parse(TWICE))
        if isinstance(node, ast.Attribute)
    )
    for order in (1, -1):  # what is asked for first must not decide
        module = parse(TWICE)
        found = [
            (place.line, place.column - 1, place.end_column - 1)
            for node in list(module.nodes(cst.Attribute))[::order]
            for place in [module.place(node)]
        ]
        assert sorted(found) == expected
