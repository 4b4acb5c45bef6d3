"""Syntactic predicates on libcst nodes, without name resolution."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax.libcst_walk import own_nodes

_PROPERTIES = frozenset({"abstractproperty", "cached_property", "property"})
_ACCESSORS = frozenset({"deleter", "setter"})


def returns_of(function: cst.FunctionDef) -> tuple[cst.Return, ...]:
    """Return the return statements of a function."""
    return tuple(each for each in own_nodes(function.body) if type(each) is cst.Return)


def yields_of(function: cst.FunctionDef) -> tuple[cst.Yield, ...]:
    """Return the yields of a generator, nothing for any other function."""
    return tuple(each for each in own_nodes(function.body) if type(each) is cst.Yield)


def is_of_named_base(node: cst.CSTNode | None) -> bool:
    """Say whether it is ``Base.__init__(self, …)``, not ``super().__init__(…)``."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=base, attr=cst.Name(value="__init__")),
            args=[cst.Arg(value=cst.Name(value="self"), keyword=None, star=""), *_],
        ):
            name = first_name(base)
            return name is not None and name.value != "self"
    return False


def is_property(function: cst.FunctionDef) -> bool:
    """Say whether it is read as an attribute."""
    return any(leaf_of(each.decorator) in _PROPERTIES for each in function.decorators)


def is_bound_to_class(function: cst.FunctionDef) -> bool:
    """Say whether it is a class method, whose first parameter takes the class."""
    return any(leaf_of(each.decorator) == "classmethod" for each in function.decorators)


def is_accessor(function: cst.FunctionDef) -> bool:
    """Say whether it is the setter or deleter of a property, ``@rate.setter``."""
    return any(
        isinstance(each.decorator, cst.Attribute) and each.decorator.attr.value in _ACCESSORS
        for each in function.decorators
    )


def leaf_of(node: cst.BaseExpression) -> str:
    """Return the last name of a chain, ``""`` of anything else."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def is_starred(node: cst.CSTNode) -> bool:
    """Say whether it is the parameter ``*args`` or ``**kwargs``."""
    return isinstance(node, cst.Param) and node.star not in {"", cst.MaybeSentinel.DEFAULT}


def first_name(node: cst.CSTNode | None) -> cst.Name | None:
    """Return ``tf`` of ``tf.compat.v1``, the name itself where it is one; None of all else."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def is_number(node: cst.BaseExpression) -> bool:
    """Say whether it is a number as it stands, with a sign or without."""
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, cst.BaseNumber)


def ends_in(chain: cst.CSTNode, name: str) -> bool:
    """Say whether an attribute of a chain has such a name."""
    while type(chain) is cst.Attribute:
        if chain.attr.value == name:
            return True
        chain = chain.value
    return False
