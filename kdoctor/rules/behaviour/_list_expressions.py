"""Expressions that are known to be lists."""

from __future__ import annotations

import enum
from functools import cached_property

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.keras_api import split_root
from kdoctor.memoize import once, unowned
from kdoctor.syntax import Module
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.libcst_walk import own_nodes, returned_in
from kdoctor.syntax.scopes import BindingKind, ScopeKind

_MAX_DEPTH = 6  # steps from name to name, and from function to function
_SHORTENING = frozenset({"clear", "pop", "remove"})
Path = tuple[int | None, ...]


class _Size(enum.Enum):
    """What of a list has to be sure beside that it is one."""

    ANY = enum.auto()
    NOT_ONE = enum.auto()  # it is not written out as one element, nor as numbers
    SEVERAL = enum.auto()  # it is written out as several that are no numbers


class Lists:
    """Follows the lists of one module: through names, attributes, functions that return them."""

    def __init__(self, module: Module, size: _Size = _Size.NOT_ONE) -> None:
        self._module = unowned(module)
        self._size = size
        self._points_to = points_to_of(module)

    @cached_property
    def several(self) -> Lists:
        """The lists that surely have more than one element."""
        return Lists(self._module, _Size.SEVERAL)

    @cached_property
    def _all(self) -> Lists:
        return Lists(self._module, _Size.ANY)

    def is_one(self, node: cst.BaseExpression, path: Path = (), depth: int = 0) -> bool:
        """Say whether an expression, or the element of it at ``path``, surely is a list.

        A list of numbers that are written out is none: it is meant as one array. Nor is a list
        of one: that is the array in it.
        """
        if depth > _MAX_DEPTH:
            return False
        match node:
            case cst.List() | cst.Tuple() if path:
                part = part_of(node, path[:1])
                return part is not None and self.is_one(part, path[1:], depth + 1)
            case cst.List():
                return self._is_large_enough(node)
            case cst.ListComp() if not path:
                is_of_numbers = isinstance(node.elt, cst.BaseNumber)
                return self._size is _Size.ANY or (
                    self._size is _Size.NOT_ONE and not is_of_numbers
                )
            case cst.BinaryOperation(operator=cst.Add()) if not path:
                parts = (node.left, node.right)
                return any(self.is_one(each, (), depth + 1) for each in parts) and all(
                    self._all.is_one(each, (), depth + 1) for each in parts
                )
            case cst.Name():
                return self._holds_one(node, path, depth + 1)
            case cst.Attribute():
                return self._keeps_one(node, path, depth + 1)
            case cst.Call(func=cst.Name(value="list") as name):
                is_unknown = self._size is _Size.SEVERAL
                return not (path or is_unknown) and is_builtin(self._module, name)
            case cst.Call():
                return self._gives_one(node, path, depth + 1)
        return False

    def _is_large_enough(self, node: cst.List) -> bool:
        if self._size is _Size.ANY:
            return True
        if any(isinstance(each.value, cst.BaseNumber) for each in node.elements):
            return False
        if self._size is _Size.SEVERAL:  # a starred element may stand for none
            return sum(isinstance(each, cst.Element) for each in node.elements) > 1
        return len(node.elements) != 1

    def _holds_one(self, name: cst.Name, path: Path, depth: int) -> bool:
        """Say whether all that a local name is ever bound to are such lists."""
        scope = self._module.scope_of(name).owner(name.value)
        if scope is None or scope.kind is not ScopeKind.FUNCTION or self.may_shrink(name.value):
            return False
        bound = scope.bindings[name.value]
        return bool(bound) and all(
            each.kind is BindingKind.ASSIGN
            and each.value is not None
            and self.is_one(each.value, (*each.path, *path), depth)
            for each in bound
        )

    def _keeps_one(self, attribute: cst.Attribute, path: Path, depth: int) -> bool:
        """Say whether all that an attribute of ``self`` is ever assigned are such lists.

        Not where a class above or below may assign it, too, or somebody from outside.
        """
        cls, name = self._points_to.class_written(attribute.value), attribute.attr.value
        if cls is None or self.may_shrink(name) or not self._are_known(cls):
            return False
        stores = [each for each in self._module.stores if each.node.attr.value == name]
        owners = [self._points_to.class_written(each.node.value) for each in stores]
        own = [each for each, owner in zip(stores, owners, strict=True) if owner is cls]
        if any(each is None or (each is not cls and self._is_below(each, cls)) for each in owners):
            return False
        return bool(own) and all(
            each.kind is BindingKind.ASSIGN
            and each.value is not None
            and self.is_one(each.value, (*each.path, *path), depth)
            for each in own
        )

    def _are_known(self, cls: cst.ClassDef) -> bool:
        """Say whether all bases of a class are Keras' own: these assign no such attribute."""
        names = [self._module.qualified(each.value) for each in cls.bases]
        return all(name is not None and split_root(name) is not None for name in names)

    def _is_below(self, cls: cst.ClassDef, base: cst.ClassDef) -> bool:
        """Say whether a class may be a subclass of another class of the file."""
        waiting = [cls]
        for each in waiting:  # it grows meanwhile
            own = [class_named(self._module, argument.value) for argument in each.bases]
            waiting += [above for above in own if above is not None and above not in waiting]
        return base in waiting

    def may_shrink(self, name: str) -> bool:
        """Say whether something is taken out of a list of such a name: one may be left."""
        return self._size is _Size.SEVERAL and name in self._shrinking

    @cached_property
    def _shrinking(self) -> frozenset[str]:
        calls = (each.func for each in self._module.nodes(cst.Call))
        lists = [
            *(
                each.value
                for each in calls
                if isinstance(each, cst.Attribute) and each.attr.value in _SHORTENING
            ),
            *(
                each.target.value
                for each in self._module.nodes(cst.Del)
                if isinstance(each.target, cst.Subscript)
            ),
        ]
        named = (each.attr if isinstance(each, cst.Attribute) else each for each in lists)
        return frozenset(each.value for each in named if isinstance(each, cst.Name))

    def _gives_one(self, call: cst.Call, path: Path, depth: int) -> bool:
        """Say whether a function or method of the file is called that returns nothing else."""
        function = self._points_to.function_called(call.func)
        if function is None or function.decorators or function.asynchronous is not None:
            return False
        if function.name.value == "__init__" or self._may_be_overridden(function):
            return False
        if any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
            return False
        returned = returned_in(function)
        return bool(returned) and all(
            each is not None and self.is_one(each, path, depth) for each in returned
        )

    def _may_be_overridden(self, function: cst.FunctionDef) -> bool:
        """Say whether another class of the file has a method of the same name."""
        if self._points_to.class_around(function) is None:
            return False
        named = (each.name.value for each in self._module.nodes(cst.FunctionDef))
        return sum(each == function.name.value for each in named) > 1


@once
def lists_of(module: Module) -> Lists:
    """Return the lists of a module."""
    return Lists(module)
