"""Queries about shapes: sorts of values for both trees, and reads of what shapes have not."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import libcst as cst

from kdoctor.analysis.queries.conditions import read_of
from kdoctor.analysis.queries.sorts import Site, Sort
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.analysis.tensors.shapes import GIVEN_A_SHAPE, is_shape_tuple
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import FUNCTIONS, BoundName, Namespace
from kdoctor.value_types import Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes

_OWNERS: Final = frozenset({Kind.LAYER, Kind.MODEL})


def reads_of_a_shape(
    of_shapes: Collection[str], of_dimensions: Collection[str], *, of_either: Collection[str]
) -> Trigger:
    """Such an attribute is read of what may be the shape of a Keras tensor, or one of its items.

    Those of ``of_either`` also of the shape of something of which nothing need be known.
    """
    return (
        read_of(_may_be_a_shape, *of_shapes)
        | read_of(_may_be_a_dimension, *of_dimensions)
        | (read_of(lambda _, node: _whose_shape(node) is not None, *of_either) & USES_KERAS_3)
    )


def _may_be_a_shape(site: Site, node: ast.expr) -> bool:
    return _Shapes(site.possible).may_be(node, site.space)


def _may_be_a_dimension(site: Site, node: ast.expr) -> bool:
    makes_some = "TensorShape" in site.quick.words
    return _Shapes(site.possible, makes_some=makes_some).may_give(node, site.space)


def _is_summed(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is a shape that is a tuple, or what comes of adding something to one."""
    match node:
        case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
            return any(
                _is_summed(module, shape) and isinstance(other, cst.List | cst.Tuple)
                for shape, other in ((left, right), (right, left))
            )
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"))):
            return False
    return is_shape_tuple(module, node)


def _may_be_summed(site: Site, node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=left, right=right):
            return any(_may_be_summed(site, each) for each in (left, right))
        case ast.Call(func=ast.Attribute(attr="get_shape")):
            return False
    return _may_be_a_shape(site, node)


SUMMED_SHAPE: Final = Sort(_is_summed, _may_be_summed)
"""Shapes that are tuples, and sums with one; but ``x.get_shape()``, which tensors have not."""


class _Shapes:
    """One question about the expressions of a source. Each name is followed once.

    ``makes_some``: what is called may be `tf.TensorShape`.
    """

    def __init__(self, possible: MayTypes, *, makes_some: bool = False) -> None:
        self._possible = possible
        self._makes_some = makes_some
        self._seen: set[BoundName] = set()

    def may_give(self, node: ast.expr, space: Namespace) -> bool:
        """Say whether an expression may be one element of a shape, of whatever tensor."""
        match node:
            case ast.Name():
                return any(self.may_give(*each) for each in self._values(node, space)) or any(
                    self._may_be_whole(*each) for each in self._wholes(node, space)
                )
            case ast.Subscript(value=shape, slice=ast.Constant() | ast.UnaryOp()):
                return self._may_be_whole(shape, space)
        return False

    def _may_be_whole(self, shape: ast.expr, space: Namespace) -> bool:
        return (
            _whose_shape(shape) is not None
            or (self._makes_some and self._may_be_made(shape, space))
            or (
                isinstance(shape, ast.Name | ast.Subscript)
                and _Shapes(self._possible).may_be(shape, space)
            )
        )

    def _may_be_made(self, shape: ast.expr, space: Namespace) -> bool:
        return isinstance(shape, ast.Call) or (
            isinstance(shape, ast.Name)
            and any(
                isinstance(each.value, ast.Call)
                for each in self._possible.symbol_table.bindings(shape.id, space)
            )
        )

    def may_be(self, node: ast.expr, space: Namespace) -> bool:
        """Say whether an expression may be a shape that is a tuple, or such a part of one."""
        match node:
            case ast.Name():
                return (
                    self._may_be_given(node, space)
                    or any(self.may_be(*each) for each in self._values(node, space))
                    or any(
                        isinstance(whole, ast.Name) and self._may_be_given(whole, around)
                        for whole, around in self._wholes(node, space)
                    )
                )
            case ast.Subscript(value=shape, slice=ast.Slice()):
                return self.may_be(shape, space)
            case ast.Call(func=ast.Attribute(attr="compute_output_shape", value=layer), args=[_]):
                return self._has_kind(layer, space, _OWNERS)
            case ast.Subscript(value=ast.Name() as shapes):
                return self._may_be_given(shapes, space)
        owner = _whose_shape(node)
        if owner is not None and self._has_kind(owner, space, {Kind.TENSOR}):
            return True
        return isinstance(node, ast.Attribute) and any(
            isinstance(each.value, ast.Name) and self._may_be_given(each.value, each.space)
            for each in self._possible.symbol_table.stores.get(node.attr, ())
        )

    def _values(self, name: ast.Name, space: Namespace) -> list[tuple[ast.expr, Namespace]]:
        """Return all that is assigned to a name, where that was not asked for before."""
        bound = self._possible.symbol_table.bindings(name.id, space)
        new = [each for each in bound if each not in self._seen and not each.path]
        self._seen.update(new)
        return [
            (each.value, each.space)
            for each in new
            if each.kind is BindingKind.ASSIGN and each.value is not None
        ]

    def _wholes(self, name: ast.Name, space: Namespace) -> list[tuple[ast.expr, Namespace]]:
        """Return all that a name may be one item of."""
        return [
            (each.value, each.space)
            for each in self._possible.symbol_table.bindings(name.id, space)
            if each.value is not None
            and (each.kind is BindingKind.LOOP or (each.kind is BindingKind.ASSIGN and each.path))
        ]

    def _may_be_given(self, name: ast.Name, space: Namespace) -> bool:
        """Say whether a name may be the shape that Keras passes to a method of a layer."""
        bound = self._possible.symbol_table.bindings(name.id, space)
        return any(each.name and self._is_given(each) for each in bound)

    def _is_given(self, bound: BoundName) -> bool:
        function = bound.node
        if not isinstance(function, FUNCTIONS) or function.name not in GIVEN_A_SHAPE:
            return False
        receiver, *others = [each.arg for each in function.args.args] or [""]
        is_it = others[:1] == [bound.name]
        return is_it and self._has_kind(ast.Name(receiver), bound.space, _OWNERS)

    def _has_kind(self, node: ast.expr, space: Namespace, kinds: Collection[Kind]) -> bool:
        return any(each.kind in kinds for each in self._possible.types_of(node, space))


def _whose_shape(node: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.shape`` and ``x.get_shape()``."""
    match node:
        case ast.Attribute(attr="shape", value=owner):
            return owner
        case ast.Call(func=ast.Attribute(attr="get_shape", value=owner)):
            return owner
    return None
