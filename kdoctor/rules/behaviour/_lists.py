"""Expressions that surely give a list, by what the file shows."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from kdoctor.rules.calls import is_builtin
from kdoctor.rules.origins import origins_of
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind, ScopeKind
from kdoctor.syntax.walk import own_nodes

_DEEPEST = 6  # steps from name to name, and from function to function
Path = tuple[int | None, ...]


class Lists:
    """Follows the lists of one module: through names, and functions that return them.

    ``of_several``: only those that surely have more than one element.
    """

    def __init__(self, module: Module, *, of_several: bool = False) -> None:
        self._module = module
        self._of_several = of_several
        self._origins = origins_of(module)

    @cached_property
    def several(self) -> Lists:
        """The lists that surely have more than one element."""
        return Lists(self._module, of_several=True)

    def is_one(self, node: cst.BaseExpression, path: Path = (), depth: int = 0) -> bool:
        """Say whether an expression, or the element of it at ``path``, surely is a list.

        A list of numbers that are written out is none: it is meant as one array. Nor is a list
        of one: that is the array in it.
        """
        if depth > _DEEPEST:
            return False
        match node:
            case cst.List() | cst.Tuple() if path:
                plain = [each.value for each in node.elements if isinstance(each, cst.Element)]
                at = path[0]
                if len(plain) < len(node.elements) or at is None or not 0 <= at < len(plain):
                    return False
                return self.is_one(plain[at], path[1:], depth + 1)
            case cst.List():
                if any(isinstance(each.value, cst.BaseNumber) for each in node.elements):
                    return False
                if self._of_several:  # a starred element may stand for none
                    return sum(isinstance(each, cst.Element) for each in node.elements) > 1
                return len(node.elements) != 1
            case cst.ListComp():
                return not (path or self._of_several or isinstance(node.elt, cst.BaseNumber))
            case cst.Name():
                return self._holds_one(node, path, depth + 1)
            case cst.Call(func=cst.Name(value="list") as name):
                return not (path or self._of_several) and is_builtin(self._module, name)
            case cst.Call():
                return self._gives_one(node, path, depth + 1)
        return False

    def _holds_one(self, name: cst.Name, path: Path, depth: int) -> bool:
        """Say whether all that a local name is ever bound to are such lists."""
        scope = self._module.scope_of(name).owner(name.value)
        if scope is None or scope.kind is not ScopeKind.FUNCTION:
            return False
        bound = scope.bindings[name.value]
        return bool(bound) and all(
            each.kind is BindingKind.ASSIGN
            and each.value is not None
            and self.is_one(each.value, (*each.path, *path), depth)
            for each in bound
        )

    def _gives_one(self, call: cst.Call, path: Path, depth: int) -> bool:
        """Say whether a function or method of the file is called that returns nothing else."""
        function = self._origins.function_called(call.func)
        if function is None or function.decorators or function.asynchronous is not None:
            return False
        if function.name.value == "__init__" or self._may_be_overridden(function):
            return False
        nodes = [*own_nodes(function.body)]
        if any(isinstance(each, cst.Yield) for each in nodes):
            return False
        returned = [each.value for each in nodes if isinstance(each, cst.Return)]
        return bool(returned) and all(
            each is not None and self.is_one(each, path, depth) for each in returned
        )

    def _may_be_overridden(self, function: cst.FunctionDef) -> bool:
        """Say whether another class of the file has a method of the same name."""
        if self._origins.class_around(function) is None:
            return False
        named = (each.name.value for each in self._module.nodes(cst.FunctionDef))
        return sum(each == function.name.value for each in named) > 1
