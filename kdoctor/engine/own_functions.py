"""What a function of another module of the tree does first with its parameters.

Read only when a rule asks for one: an outline tells no more of a function than that it is there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from kdoctor.engine.outline import dotted, parsed
from kdoctor.syntax.package import is_registry

_MAYBE = (
    *(ast.Lambda, ast.IfExp, ast.BoolOp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


@lru_cache(maxsize=256)
def handed_over(path: str, name: str) -> tuple[tuple[int, str], ...]:
    """Return what a function surely calls with its parameters, as (position, callee as written).

    Only what runs whenever the function does counts: neither branches nor loops, nothing after a
    parameter was bound anew. Nothing is returned of a function with an unknown decorator, nor of a
    name that is bound more than once.
    """
    try:
        tree = parsed(Path(path).read_bytes())
    except OSError:
        return ()
    functions = [
        each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name
    ] if tree else []  # fmt: skip
    if len(functions) != 1 or not all(map(_is_registry, functions[0].decorator_list)):
        return ()
    return tuple(dict.fromkeys(_handed_over(functions[0])))


def _handed_over(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    places = {each: index for index, each in enumerate(parameters)}
    for statement in function.body:
        if not isinstance(statement, ast.Return | ast.Assign | ast.Expr):
            return
        for node in _run(statement):
            if isinstance(node, ast.Call) and (callee := dotted(node.func)):
                for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(each, ast.Name) and each.id in places:
                        yield places[each.id], callee
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                places.pop(node.id, None)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is evaluated whenever ``node`` is."""
    yield node
    if isinstance(node, _MAYBE):
        return
    for child in ast.iter_child_nodes(node):
        yield from _run(child)


def _is_registry(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    match name:
        case ast.Name(id=leaf) | ast.Attribute(attr=leaf):
            return is_registry(leaf)
    return False
