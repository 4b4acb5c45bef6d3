"""Properties of a class of one's own under names that Keras 3 assigns in ``__init__``.

Keras 2 had `name` and `activity_regularizer` as properties, and assigned what these read. Names
that get True, False or a number are left out: what a property gives already is not assigned anew.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, is_keras_3, passed
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_init_of_base, methods_in, only_base
from kdoctor.analysis.queries import Method, methods
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_OF_LAYERS: Final = frozenset({"name", "activity_regularizer"})
ASSIGNED: Final = {
    Kind.LAYER: _OF_LAYERS,
    Kind.MODEL: _OF_LAYERS | {"loss"},
    Kind.METRIC: frozenset({"name"}),
}
"""What the ``__init__`` of Keras 3 assigns, and that of Keras 2 does not."""
PROPERTIES: Final = reduce(
    or_,
    (
        methods(*names, of=kind, where=lambda signature: signature.is_decorated)
        for kind, names in ASSIGNED.items()
    ),
)
"""The methods of these names that may be properties."""
_MAX_DEPTH: Final = 16  # classes of the file that derive from each other


def is_bare_property(method: Method) -> bool:
    """Say whether it is a property without a setter that Keras 3 assigns."""
    module, node = method.module, method.owner.node
    return (
        "__setattr__" not in module.words
        and _is_of_keras_3(module, method.facts, node)
        and _is_set_first(module, node)
        and _is_bare(module, node, method.node)
    )


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


def _is_set_first(module: Module, node: cst.ClassDef) -> bool:
    """Say whether Keras assigns before the class has anything of its own to read.

    What the property gives already is not assigned: ``self._name = name`` before
    ``super().__init__(name=name)``.
    """
    init = methods_in(node).get("__init__")
    return init is None or _first_call(module, node, init) is not None


def _first_call(module: Module, node: cst.ClassDef, init: cst.FunctionDef) -> cst.Call | None:
    """Return ``super().__init__(…)`` where that is what a method does first."""
    for line in init.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
                continue
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]):
                return call if is_init_of_base(module, node, call) else None
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


def _may_be_a_name(module: Module, node: cst.ClassDef, given: cst.BaseExpression | None) -> bool:
    """Say whether a property returns the very text that the class passes on as its name."""
    if given is None or not isinstance(given, cst.SimpleString):
        return given is None or isinstance(given, cst.Name)
    init = methods_in(node).get("__init__")
    call = None if init is None else _first_call(module, node, init)
    name = None if call is None else passed(call, "name")
    return literal(name) == literal(given)


def _may_be_none(module: Module, node: cst.ClassDef, given: cst.BaseExpression | None) -> bool:
    """Say whether a property may return None before the class has assigned anything."""
    match given:
        case cst.Call(func=function):
            return split_root(module.qualified(function) or "") is None
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            return only_base(module, node) is None or member in module.scope_of(node.body).bindings
    return True
