"""Properties of a class of one's own under names that Keras 3 assigns in ``__init__``.

Keras 2 had `name` and `activity_regularizer` as properties, and assigned what these read. Names
that get True, False or a number are left out: what a property gives already is not assigned anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_builtin, is_call_of_super, is_keras_3, literal
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in, only_base
from kdoctor.analysis.triggers import bases_of
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import FUNCTIONS
from kdoctor.value_types import Kind

_OF_LAYERS: Final = frozenset({"name", "activity_regularizer"})
ASSIGNED: Final = {
    Kind.LAYER: _OF_LAYERS,
    Kind.MODEL: _OF_LAYERS | {"loss"},
    Kind.METRIC: frozenset({"name"}),
}
"""What the ``__init__`` of Keras 3 assigns, and that of Keras 2 does not."""
_NAMES: Final = frozenset().union(*ASSIGNED.values())
_MAX_DEPTH: Final = 16  # classes of the file that derive from each other


def bare_properties(
    module: Module, facts: TargetFacts
) -> Iterator[tuple[cst.ClassDef, cst.FunctionDef]]:
    """Yield each such property without a setter, with its class."""
    if "__setattr__" in module.words:
        return
    for node in module.nodes(cst.ClassDef):
        found = [each for each in methods_in(node).values() if each.name.value in _NAMES]
        kind = kind_of_class(module, node) if found else None
        if kind is None or not _is_of_keras_3(module, facts, node) or not _is_set_first(node):
            continue
        for each in found:
            if each.name.value in ASSIGNED.get(kind, ()) and _is_bare(module, node, each):
                yield node, each


def _is_of_keras_3(module: Module, facts: TargetFacts, node: cst.ClassDef) -> bool:
    """Say whether the one line of bases leads to the Keras 3 of the target."""
    for _ in range(_MAX_DEPTH):
        base = only_base(module, node)
        if base is None:
            return False
        own = class_named(module, base)
        if own is None:
            name = module.qualified(base)
            return name is not None and is_keras_3(facts, name)
        node = own
    return False


def _is_set_first(node: cst.ClassDef) -> bool:
    """Say whether Keras assigns before the class has anything of its own to read.

    What the property gives already is not assigned: ``self._name = name`` before
    ``super().__init__(name=name)``.
    """
    init = methods_in(node).get("__init__")
    return init is None or _first_call(init) is not None


def _first_call(init: cst.FunctionDef) -> cst.Call | None:
    """Return ``super().__init__(…)`` where that is what a method does first."""
    for line in init.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
                continue
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]):
                return call if is_call_of_super(call, "__init__") else None
        return None
    return None


def _is_bare(module: Module, node: cst.ClassDef, method: cst.FunctionDef) -> bool:
    match method.decorators:
        case [cst.Decorator(decorator=cst.Name(value="property") as decorator)]:
            if not is_builtin(module, decorator):
                return False
        case _:
            return False
    may_be_set = _may_be_a_name if method.name.value == "name" else _may_be_none
    return not any(may_be_set(module, node, each) for each in returned_in(method))


def _may_be_a_name(module: Module, node: cst.ClassDef, given: cst.BaseExpression | None) -> bool:  # noqa: ARG001
    """Say whether a property returns the very text that the class passes on as its name."""
    if given is None or not isinstance(given, cst.SimpleString):
        return given is None or isinstance(given, cst.Name)
    init = methods_in(node).get("__init__")
    call = None if init is None else _first_call(init)
    passed = None if call is None else argument(call, "name")
    return passed is not None and literal(passed.value) == literal(given)


def _may_be_none(module: Module, node: cst.ClassDef, given: cst.BaseExpression | None) -> bool:
    """Say whether a property may return None before the class has assigned anything."""
    match given:
        case cst.Call(func=function):
            return split_root(module.qualified(function) or "") is None
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            return only_base(module, node) is None or member in module.scope_of(node.body).bindings
    return True


def may_be_bare(quick: QuickFacts) -> bool:
    """Say whether there may be such a property, in a class that may be made from one of Keras'."""
    classes = quick.nodes.get(ast.ClassDef, ())
    bare = [node for node in classes if any(map(_is_a_property, node.body))]
    return bool(bare) and not _made_from_keras(quick).isdisjoint(bare)


def _made_from_keras(quick: QuickFacts) -> set[ast.ClassDef]:
    """Return the classes that may be made from one of Keras', also by way of each other."""
    classes = quick.nodes.get(ast.ClassDef, ())
    derived: dict[str, list[ast.ClassDef]] = {}
    for node in classes:
        for base in bases_of(node):
            if isinstance(base, ast.Name):
                derived.setdefault(base.id, []).append(node)
    waiting = [node for node in classes if _has_a_base_of_keras(quick, node)]
    found = set(waiting)
    while waiting:
        more = [each for each in derived.get(waiting.pop().name, ()) if each not in found]
        found.update(more)
        waiting += more
    return found


def _is_a_property(node: ast.stmt) -> bool:
    return (
        isinstance(node, FUNCTIONS)
        and node.name in _NAMES
        and any(
            isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list
        )
    )


def _has_a_base_of_keras(quick: QuickFacts, node: ast.ClassDef) -> bool:
    bases = list(bases_of(node))
    names = (name for base in bases for name in quick.meant_by(base))
    return any(split_root(name) is not None for name in names) or any(
        True for base in bases for _ in quick.classes_meant_by(base)
    )
