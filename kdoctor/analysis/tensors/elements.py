"""Element kinds of expressions: scalars, nested lists, shapes, dtypes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import product
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, passed
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.tensors.constructors import NumberKind, numbers_of
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_MAX_DEPTH: Final = 8
_CALLS: Final = {
    **dict.fromkeys(("int", "len", "ord", "round"), NumberKind.INT),
    "float": NumberKind.FLOAT,
    "bool": NumberKind.BOOL,
}
_LITERALS: Final = {int: NumberKind.INT, float: NumberKind.FLOAT}
_NOTHING: Final[frozenset[NumberKind]] = frozenset()
_HARMLESS: Final = frozenset({"enumerate", "len", "max", "min", "print", "set", "sum", "zip"})
_LOOPS_OF_INTS: Final = frozenset({"enumerate", "range"})


Leaf = Callable[[Module, cst.BaseExpression], NumberKind | None]


def dtype_in(module: Module, call: cst.Call) -> NumberKind | None:
    """Return the element kind that a call's ``dtype=`` asks for."""
    given = passed(call, "dtype")
    return None if given is None else numbers_in(module, given)


def numbers_in(module: Module, dtype: cst.BaseExpression) -> NumberKind | None:
    """Return what a dtype holds: ``"int64"``, ``np.float32``, ``int``, ``K.floatx()``."""
    told = literal(dtype)
    if isinstance(told, str):
        return numbers_of(told)
    if isinstance(dtype, cst.Call):
        dtype = dtype.func
    if isinstance(dtype, cst.Name) and is_builtin(module, dtype):
        return numbers_of(dtype.value)
    return numbers_of(module.qualified(dtype) or "")


def count_of_axes(module: Module, shape: cst.BaseExpression) -> int | None:
    """Return the rank of an array of this shape: ``n`` is 1, ``(n, 3)`` is 2."""
    if isinstance(shape, cst.Tuple | cst.List):
        return len(elements_of(shape) or ()) or None
    if numbers_of_scalar(module, shape) is NumberKind.INT:
        return 1
    return None


def numbers_of_scalar(module: Module, node: cst.BaseExpression) -> NumberKind | None:
    """Return of what sort the one number is that an expression gives; None where it may be more."""
    found = kinds_of_number(module, node, kind_of_leaf)
    return next(iter(found)) if len(found) == 1 else None


def is_number(module: Module, node: cst.BaseExpression, leaf: Leaf) -> bool:
    """Say whether it surely is one number, no bool: see ``kinds_of_number``."""
    kinds = kinds_of_number(module, node, leaf)
    return bool(kinds) and NumberKind.BOOL not in kinds


def kinds_of_number(
    module: Module, node: cst.BaseExpression, leaf: Leaf, depth: int = 0
) -> frozenset[NumberKind]:
    """Return of which sorts the one number may be; nothing where it may be anything else.

    ``leaf`` tells the kind of what is neither a literal, a name nor worked out of others.
    """
    if depth > _MAX_DEPTH:
        return _NOTHING
    match node:
        case cst.BaseNumber() | cst.UnaryOperation(expression=cst.BaseNumber()):
            told = _LITERALS.get(type(literal(node)))
            return _NOTHING if told is None else frozenset({told})
        case cst.Name(value="True" | "False"):
            return frozenset({NumberKind.BOOL})
        case cst.Name():
            return _kinds_of_name(module, node, leaf, depth + 1)
        case cst.IfExp():
            return _either(
                kinds_of_number(module, each, leaf, depth + 1) for each in (node.body, node.orelse)
            )
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus()):
            return kinds_of_number(module, node.expression, leaf, depth + 1)
        case cst.BinaryOperation():
            sides = (node.left, node.right)
            found = [kinds_of_number(module, each, leaf, depth + 1) for each in sides]
            if any(NumberKind.BOOL in each for each in found):
                return _NOTHING
            return frozenset(_worked_out(node, pair) for pair in product(*found))
    told = leaf(module, node)
    return _NOTHING if told is None else frozenset({told})


def kind_of_leaf(module: Module, node: cst.BaseExpression) -> NumberKind | None:
    """Return the kind of number that a call gives, or a size of an array."""
    match node:
        case cst.Call(func=cst.Name(value=name) as function) if is_builtin(module, function):
            return None if name == "round" and len(node.args) != 1 else _CALLS.get(name)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="index")), args=[_]):
            return NumberKind.INT  # of a list, or of text
        case cst.Subscript(
            value=cst.Attribute(attr=cst.Name(value="shape")),
            slice=[cst.SubscriptElement(slice=cst.Index())],
        ):
            return NumberKind.INT
    return None


def _worked_out(node: cst.BinaryOperation, sides: Collection[NumberKind]) -> NumberKind:
    is_float = NumberKind.FLOAT in sides or isinstance(node.operator, cst.Divide)
    return NumberKind.FLOAT if is_float else NumberKind.INT


def _either(found: Iterable[frozenset[NumberKind]]) -> frozenset[NumberKind]:
    parts = [*found]
    return frozenset().union(*parts) if all(parts) else _NOTHING


def _kinds_of_name(module: Module, name: cst.Name, leaf: Leaf, depth: int) -> frozenset[NumberKind]:
    found: list[frozenset[NumberKind]] = []
    for each in module.bindings_at(name):
        value = each.value
        if each.kind is BindingKind.ASSIGN and value is not None and not each.path:
            found.append(kinds_of_number(module, value, leaf, depth))
        elif each.kind is BindingKind.LOOP and isinstance(value, cst.Call):
            looped = value.func.value if isinstance(value.func, cst.Name) else ""
            place = () if looped == "range" else (0,)
            is_int = looped in _LOOPS_OF_INTS and each.path == place
            found.append(frozenset({NumberKind.INT}) if is_int else _NOTHING)
        else:
            return _NOTHING
    return _either(found)


def numbers_in_list(
    module: Module, node: cst.BaseExpression, depth: int = 0
) -> tuple[int, NumberKind | None] | None:
    """Return how deep a list of numbers is, and what they are: ``[0, 1]``, one that is filled.

    Filled is ``labels`` by ``labels.append(1)``, and by nothing else.
    """
    if depth > _MAX_DEPTH:
        return None
    depth += 1
    match node:
        case cst.List():
            return _displayed(module, node, depth)
        case cst.ListComp():
            found = numbers_of_scalar(module, node.elt)
            return None if found is None else (1, found)
        case cst.BinaryOperation(operator=cst.Multiply(), left=left, right=right):
            is_count = numbers_of_scalar(module, right) is NumberKind.INT
            return numbers_in_list(module, left, depth) if is_count else None
        case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
            both = {numbers_in_list(module, each, depth) for each in (left, right)}
            return both.pop() if len(both) == 1 else None
        case cst.Name():
            return _filled(module, node, depth)
    return None


def _displayed(
    module: Module, display: cst.List, depth: int
) -> tuple[int, NumberKind | None] | None:
    found: set[tuple[int, NumberKind | None] | None] = set()
    for each in display.elements:
        if isinstance(each, cst.StarredElement):
            return None
        inner = (
            numbers_in_list(module, each.value, depth) if isinstance(each.value, cst.List) else None
        )
        scalar = numbers_of_scalar(module, each.value)
        if inner is None and scalar is None:
            return None
        found.add((0, scalar) if inner is None else inner)
    depths = {each[0] for each in found if each is not None}
    if len(depths) != 1:
        return None
    held = {each[1] for each in found if each is not None}
    return depths.pop() + 1, held.pop() if len(held) == 1 else None


def _filled(module: Module, name: cst.Name, depth: int) -> tuple[int, NumberKind | None] | None:
    """Return what is in a list that is made under this name alone, and only appended to."""
    bound = module.bindings_at(name)
    value = bound[0].value if len(bound) == 1 and not bound[0].path else None
    if bound and bound[0].kind is not BindingKind.ASSIGN:
        return None
    if not isinstance(value, cst.List):
        is_name = value is None or isinstance(value, cst.Name)
        return None if value is None or is_name else numbers_in_list(module, value, depth)
    found: set[tuple[int, NumberKind | None] | None] = set()
    if value.elements:
        found.add(_displayed(module, value, depth))
    for read in reads_of(module, bound[0].node):
        method = module.parent(read)
        if isinstance(method, cst.Arg) and not _is_left_alone(module, method):
            return None
        if not isinstance(method, cst.Attribute) or method.value is not read:
            continue
        call = module.parent(method)
        if method.attr.value != "append" or not isinstance(call, cst.Call) or len(call.args) != 1:
            return None
        scalar = numbers_of_scalar(module, call.args[0].value)
        found.add(None if scalar is None else (1, scalar))
    return found.pop() if len(found) == 1 else None


def _is_left_alone(module: Module, given: cst.Arg) -> bool:
    """Say whether a function surely puts nothing into a list that it is given."""
    call = module.parent(given)
    callee = call.func if isinstance(call, cst.Call) else None
    if isinstance(callee, cst.Name) and callee.value in _HARMLESS:
        return True
    return callee is not None and (module.qualified(callee) or "").startswith("numpy.")
