"""Classify conditions and exception handlers that select fallbacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import libcst as cst

from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import STATEMENTS, descendants

_CONDITIONAL = frozenset({
    cst.If, cst.IfExp, cst.While, cst.BooleanOperation, cst.FunctionDef, cst.ClassDef,
})  # fmt: skip
# Decorators of `unittest` and of `pytest.mark`, and how their test turns out where they let run.
_SKIPPING = {"skipIf": False, "skipUnless": True, "skipif": False}


_CATCHES_ALL = frozenset({"Exception", "BaseException"})
_LACKING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError"})


def conditions(
    parent: cst.CSTNode,
    child: cst.CSTNode,
    value_of: Callable[[cst.Name], cst.BaseExpression | None],
) -> Iterable[tuple[cst.BaseExpression, bool]]:
    """Return the tests that ``child`` of ``parent`` depends on, with their outcomes.

    ``value_of`` tells what a name certainly stands for, None where that is not clear.
    """
    if parent.__class__ not in _CONDITIONAL:
        return ()
    match parent:
        case cst.If() | cst.IfExp() | cst.While() if child is parent.body:
            return ((parent.test, True),)
        case cst.If() | cst.IfExp() if child is parent.orelse:
            return ((parent.test, False),)
        case cst.BooleanOperation() if child is parent.right:
            return ((parent.left, isinstance(parent.operator, cst.And)),)
        case cst.FunctionDef() | cst.ClassDef() if parent.decorators and child is parent.body:
            return _skipping([each.decorator for each in parent.decorators], value_of)
        case _:
            return ()


def _skipping(
    decorators: Iterable[cst.BaseExpression],
    value_of: Callable[[cst.Name], cst.BaseExpression | None],
) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """Yield the tests of decorators that skip a test, and how each must turn out for it to run.

    Such a decorator may be kept in a name: ``needs_2 = pytest.mark.skipif(…)``.
    """
    for decorator in decorators:
        match value_of(decorator) if isinstance(decorator, cst.Name) else decorator:
            case cst.Call(func=func, args=[cst.Arg(value=test, keyword=None), *_]):
                name = (dotted_name(func) or "").rpartition(".")[2]
                if name in _SKIPPING and not isinstance(test, cst.SimpleString):
                    yield test, _SKIPPING[name]


def hasattr_members(test: cst.BaseExpression) -> frozenset[str]:
    """Return ``x.m`` of each ``hasattr(x, "m")`` in a test."""
    wanted: set[str] = set()
    for each in descendants(test):
        match each:
            case cst.Call(
                func=cst.Name(value="hasattr" | "getattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as member), *_],
            ):
                wanted.add(f"{source_of(owner)}.{member.raw_value}")
    return frozenset(wanted)


def is_one_of_members(members: Collection[str], node: cst.CSTNode) -> bool:
    """Say whether ``node`` is, or is part of, one of some members."""
    while members and isinstance(node, cst.Attribute):
        if f"{source_of(node.value)}.{node.attr.value}" in members:
            return True
        node = node.value
    return False


def is_within(path: str, longer: str) -> bool:
    """Say whether ``longer`` is ``path`` with additional parts."""
    parts = iter(longer.split("."))
    return all(each in parts for each in path.split("."))


def checks_types(
    test: cst.BaseExpression, meant_by: Callable[[cst.CSTNode], str | None] | None = None
) -> bool:
    """Say whether a test is `TYPE_CHECKING`, under any import name."""
    name = dotted_name(test)
    if name is None:
        return False
    is_so_called = name.rpartition(".")[2] == "TYPE_CHECKING"
    return is_so_called or (meant_by is not None and meant_by(test) == "typing.TYPE_CHECKING")


def caught_by(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> set[str]:
    """Return the last name part of each exception that a handler catches."""
    types: Iterable[cst.BaseExpression] = ()
    if isinstance(handler.type, cst.Tuple):
        types = (element.value for element in handler.type.elements)
    elif handler.type is not None:
        types = (handler.type,)
    return {(dotted_name(each) or "").rpartition(".")[2] for each in types}


def catches(handler: cst.ExceptHandler | cst.ExceptStarHandler, failures: Iterable[str]) -> bool:
    """Say whether a handler catches an exception, given by its name and those of its bases."""
    return handler.type is None or not caught_by(handler).isdisjoint({*failures, *_CATCHES_ALL})


def handles_only_attribute_error(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """Say whether a handler exists only for attributes that a release lacks."""
    caught = caught_by(handler)
    return "AttributeError" in caught and caught <= _LACKING


def handles_name_error(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """Say whether a handler recovers from an unbound name."""
    return "NameError" in caught_by(handler) and not raises(handler)


def raises(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """Say whether a handler ends by raising."""
    return isinstance(last_statement(handler.body), cst.Raise)


def bound_in(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> set[str]:
    """Return the names and members that a handler binds."""
    found: set[str] = set()
    for each in descendants(handler.body):
        match each:
            case cst.Assign():
                found.update(targets(each))
            case cst.AnnAssign() | cst.AugAssign():
                found.add(source_of(each.target))
            case cst.ImportAlias(asname=cst.AsName(name=name)):
                found.add(source_of(name))
            case cst.ImportAlias():
                found.add((dotted_name(each.name) or "").partition(".")[0])
            case cst.ImportFrom(names=cst.ImportStar()):
                found.add("*")
            case cst.FunctionDef() | cst.ClassDef():
                found.add(each.name.value)
    return found


def decides_module_exit(node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """Say whether a read decides if the module raises: ``if tfa is None: raise …``."""
    statement = statement_around(node, parents)
    return (
        isinstance(statement, cst.If)
        and isinstance(parents.get(statement), cst.Module)
        and isinstance(last_statement(statement.body), cst.Raise)
    )


def attributes_in(node: cst.CSTNode) -> Iterator[cst.Attribute]:
    """Yield the attributes that are read or set in a piece of code."""
    return (each for each in descendants(node) if isinstance(each, cst.Attribute))


def reads_in(
    node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> Iterator[cst.Name | cst.Attribute]:
    """Yield the names and attributes that an expression reads, not ``clip`` of ``ops.clip``."""
    for each in descendants(node):
        if isinstance(each, cst.Name):
            match parents.get(each):
                case cst.Attribute(attr=name) | cst.Arg(keyword=name) if name is each:
                    continue
        if isinstance(each, cst.Name | cst.Attribute):
            yield each


def is_bare_attribute_check(node: cst.CSTNode, statement: cst.CSTNode) -> bool:
    """Say whether an attribute is a bare statement that checks its existence.

    ``try: K.sum``, ``except AttributeError: K = ops``: written anew, it would answer otherwise.
    """
    is_named = isinstance(node, cst.Attribute | cst.Name)  # a call does something
    return is_named and isinstance(statement, cst.Expr) and statement.value is node


def is_another_member(callee: cst.CSTNode, member: cst.CSTNode) -> bool:
    """Say whether another member of the same object is called: ``fit`` for ``fit_generator``."""
    return (
        isinstance(callee, cst.Attribute)
        and isinstance(member, cst.Attribute)
        and source_of(callee.value) == source_of(member.value)
        and callee.attr.value != member.attr.value
    )


def names_with_same_suffix(name: str | None, names: Iterable[str | None]) -> Iterator[str]:
    """Yield the dotted names with the same last parts as another.

    ``keras.utils.get_custom_objects().update(own)`` does what it did by way of ``generic_utils``.
    """
    leaf = (name or "").rpartition(".")[2]
    return (each for each in names if leaf and each and each.rpartition(".")[2] == leaf)


def targets(statement: cst.Assign) -> list[str]:
    """Return the targets of an assignment as source."""
    return [source_of(each.target) for each in statement.targets]


def source_of(node: cst.CSTNode) -> str:
    """Return the source of a node."""
    return cst.Module(body=()).code_for_node(node)


def is_empty(value: cst.BaseExpression | None) -> bool:
    """Say whether a value means absence: `None`, `False`."""
    return isinstance(value, cst.Name) and value.value in {"None", "False"}


def is_for_types_only(
    node: cst.CSTNode,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    meant_by: Callable[[cst.CSTNode], str | None],
    *,
    postponed: bool,
) -> bool:
    """Say whether Python never evaluates a node: mostly an annotation.

    ``postponed``: the module says ``from __future__ import annotations``.
    """
    child, parent = node, parents.get(node)
    while parent is not None:
        if type(parent) is cst.If:
            if child is parent.body and checks_types(parent.test, meant_by):
                return True
        elif parent.__class__ is cst.Annotation:
            holder = parents.get(parent)
            if postponed or (
                isinstance(holder, cst.AnnAssign) and _is_in_a_function(holder, parents)
            ):
                return True
        child, parent = parent, parents.get(parent)
    return False


def _is_in_a_function(node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """Say whether the nearest scope is a function's: annotations in it are not evaluated."""
    parent = parents.get(node)
    while parent is not None and not isinstance(parent, cst.ClassDef | cst.FunctionDef):
        parent = parents.get(parent)
    return isinstance(parent, cst.FunctionDef)


def statement_around(node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> cst.CSTNode:
    """Return the innermost statement around ``node``, or the outermost node."""
    while node.__class__ not in STATEMENTS:
        parent = parents.get(node)
        if parent is None:
            break
        node = parent
    return node


def outermost_attribute(
    node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> cst.CSTNode:
    """Return the outermost attribute access on ``node``: ``a.b.c`` for ``a``."""
    parent = parents.get(node)
    while isinstance(parent, cst.Attribute) and parent.value is node:
        node, parent = parent, parents.get(parent)
    return node


def is_below(
    node: cst.CSTNode, above: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> bool:
    """Say whether ``node`` is ``above`` or a descendant of it."""
    each: cst.CSTNode | None = node
    while each is not None and each is not above:
        each = parents.get(each)
    return each is above


def common_ancestor(
    one: cst.CSTNode, other: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> tuple[cst.CSTNode | None, set[cst.CSTNode]]:
    """Return the innermost common ancestor of two nodes, and its children above each."""
    path = {one: one}
    child = one
    while child in parents:
        path[parents[child]] = child
        child = parents[child]
    child, parent = other, parents.get(other)
    while parent is not None and parent not in path:
        child, parent = parent, parents.get(parent)
    return parent, set() if parent is None else {child, path[parent]}
