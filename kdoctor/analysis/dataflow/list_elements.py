"""What layer of the user's own is called where a list or a tuple of the object holds several."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_builtin
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Type

_IN_TURN = frozenset({"list", "reversed", "tuple"})
_CHANGES = frozenset({"append", "extend", "insert"})


def type_in_list(module: Module, node: cst.BaseExpression) -> Type | None:
    """Return the class of what ``for node in self.blocks`` gives, or ``self.blocks[0]``.

    None where they are not all of one class for sure.
    """
    held = _list_of(module, node)
    return None if held is None else _type_of_all(module, held)


def _list_of(module: Module, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the list of which an expression is an element."""
    if isinstance(node, cst.Subscript):
        is_one = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
        return node.value if is_one else None
    bound = binding_of(module, node)
    if bound is None or bound.kind is not BindingKind.LOOP or bound.value is None:
        return None
    return _looped_over(module, bound.value, bound.path)


def _looped_over(
    module: Module, iterable: cst.BaseExpression, path: Sequence[int | None]
) -> cst.BaseExpression | None:
    match iterable:
        case cst.Call(func=cst.Name(value=name) as function, args=[first, *_]) if is_builtin(
            module, function
        ):
            if name in _IN_TURN:
                return _looped_over(module, first.value, path)
            if name == "enumerate" and path[:1] == (1,):
                return _looped_over(module, first.value, path[1:])
            if name == "zip" and path and path[0] is not None and path[0] < len(iterable.args):
                return _looped_over(module, iterable.args[path[0]].value, path[1:])
            return None
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return None if path else iterable.value
    return None if path else iterable


def _type_of_all(module: Module, held: cst.BaseExpression) -> Type | None:
    if not isinstance(held, cst.Attribute):
        return None
    stored = points_to_of(module).stored(held)
    if stored is None or stored[1]:
        return None
    elements = [*_elements(stored[0]), *_added(module, held)]
    types = {None if each is None else module.type_of(each) for each in elements}
    return types.pop() if len(types) == 1 else None


def _elements(value: cst.BaseExpression) -> Iterator[cst.BaseExpression | None]:
    """Yield what a list is made of, None for what is not known."""
    match value:
        case cst.List() | cst.Tuple():
            for each in value.elements:
                yield each.value if isinstance(each, cst.Element) else None
        case cst.ListComp():
            yield value.elt
        case cst.BinaryOperation(left=cst.List() as repeated, operator=cst.Multiply()):
            yield from _elements(repeated)
        case _:
            yield None


def _added(module: Module, held: cst.Attribute) -> Iterator[cst.BaseExpression | None]:
    """Yield what is appended to what has such a name anywhere in the file."""
    name = held.attr.value
    for each in module.attributes:
        owner = each.value
        if each.attr.value not in _CHANGES or not isinstance(owner, cst.Attribute):
            continue
        if owner.attr.value != name:
            continue
        call = module.parent(each)
        is_plain = each.attr.value == "append" and isinstance(call, cst.Call) and call.func is each
        yield call.args[0].value if is_plain and isinstance(call, cst.Call) else None
    for grown in module.nodes(cst.AugAssign):
        if isinstance(grown.target, cst.Attribute) and grown.target.attr.value == name:
            yield None


def may_be_in_lists(quick: QuickFacts, asked: Iterable[QuickCall]) -> Iterator[QuickCall]:
    """Yield the calls of what may be an element of a list that is appended to.

    What stands in a list from the start the quick facts tell by themselves.
    """
    if any(each.is_attribute for each in quick.calls_of("append")):
        for each in asked:
            called = each.node.func
            if isinstance(called, ast.Subscript) or (
                isinstance(called, ast.Name) and called.id in _looped(quick)
            ):
                yield each


@once
def _looped(quick: QuickFacts) -> frozenset[str]:
    """Return the names that loops bind."""
    targets = (each.target for each in quick.nodes.get(ast.For, ()))
    return frozenset(
        each.id for target in targets for each in nodes_in(target) if isinstance(each, ast.Name)
    )
