"""The walks over Python's own trees: they miss nothing that ``ast.walk`` finds."""

import ast

import pytest

from kdoctor.syntax.ast_walk import inner_nodes, nodes_in, statements_in

_EVERYTHING = '''
"""A docstring."""
from a import b
@deco(1, *args, key={**more, "k": [v for v in range(3) if v]})
async def f(a: int = 1, /, *b: str, c=None, d, **e) -> None:
    global g
    async with a as x, b:
        await (yield lambda q=1: (q := f"{q!r:>{w}}"))
    try:
        for i in x[1:2, ::3]:
            continue
        else:
            assert not i, "no"
    except* OSError as error:
        raise error from None
    finally:
        del x.y
class C(Base, metaclass=M):
    z: int
    def m(self):
        if self.a < 1 <= 2 or -3:
            return
        while True:
            match z:
                case {"k": 1, **rest} if rest:
                    pass
                case C(0, n=None) | [_, *others]:
                    return others
'''
_SAYS_HOW = (
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
    *(ast.alias, ast.type_ignore),
)


def test_every_node_is_found_once():
    tree = ast.parse(_EVERYTHING.replace("except*", "except"))
    found = list(nodes_in(tree))
    assert len(found) == len({*map(id, found)})
    wanted = {each for each in ast.walk(tree) if not isinstance(each, _SAYS_HOW)}
    assert {each for each in found if not isinstance(each, _SAYS_HOW)} == wanted


@pytest.mark.parametrize("handler", ["except", "except*"])
def test_every_statement_is_found_in_the_order_of_the_source(handler: str):
    source = _EVERYTHING.replace("except*", handler).replace("continue", "pass")
    tree = ast.parse(source)
    lines = [each.lineno for each in statements_in(tree.body)]
    assert lines == sorted(each.lineno for each in ast.walk(tree) if isinstance(each, ast.stmt))


def test_what_is_inside_of_a_scope_can_be_left_out():
    tree = ast.parse("if a:\n    def f():\n        b\nelse:\n    c\n")
    found = statements_in(tree.body, outside_of=(ast.FunctionDef,))
    assert [each.__class__ for each in found] == [ast.If, ast.FunctionDef, ast.Expr]


def test_what_stands_in_an_inner_function_is_not_in_the_outer_one():
    source = "def f():\n    if x:\n        yield 1\n    def g(y=2):\n        yield 3\n    return lambda: 4\n"
    (function,) = ast.parse(source).body
    found = [*inner_nodes(function)]
    assert {each.value for each in found if isinstance(each, ast.Constant)} == {1}
    assert {each.id for each in found if isinstance(each, ast.Name)} == {"x"}
    assert {each.name for each in found if isinstance(each, ast.FunctionDef)} == {"g"}
