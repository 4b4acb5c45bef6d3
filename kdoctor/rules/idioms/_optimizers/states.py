"""Find what holds the variables of an optimizer for TensorFlow 2.11 to 2.15: ``self._momentums``.

They are ``keras.Variable`` in Keras 3, which lack some methods of a ``tf.Variable``.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.rules.idioms._optimizers.protocols import OldOptimizer, call_of_self
from kdoctor.syntax.libcst_walk import descendants

MAKERS = frozenset({"add_variable", "add_variable_from_reference"})
"""The methods of the base class that make a variable."""


class States(Struct):
    """The attributes of one class that hold variables: alone, or in a list or dict."""

    alone: set[str] = field(default_factory=set)
    together: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, optimizer: OldOptimizer) -> States:
        """Return the attributes that any method fills."""
        found = cls()
        for function in optimizer.methods.values():
            names = found.locals_of(function)
            for each in descendants(function.body):
                found._note(each, function, names)
        return found

    def _note(self, node: cst.CSTNode, function: cst.FunctionDef, names: set[str]) -> None:
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                member = member_of_self(target, function)
                if member and self.is_state(value, function, names):
                    self.alone.add(member)
                elif member and self._holds(value, function, names):
                    self.together.add(member)
                elif isinstance(target, cst.Subscript) and self.is_state(value, function, names):
                    held = member_of_self(target.value, function)
                    self.together |= {held} if held else set()
            case cst.Call(
                func=cst.Attribute(value=holder, attr=cst.Name(value="append")),
                args=[cst.Arg(value=value)],
            ) if self.is_state(value, function, names):
                member = member_of_self(holder, function)
                self.together |= {member} if member else set()

    def _holds(self, value: cst.BaseExpression, function: cst.FunctionDef, names: set[str]) -> bool:
        """Say whether a display or comprehension is of variables."""
        match value:
            case cst.ListComp(elt=inner) | cst.DictComp(value=inner):
                return self.is_state(inner, function, names)
            case cst.List(elements=elements):
                inside = [each.value for each in elements]
                return bool(inside) and all(self.is_state(e, function, names) for e in inside)
        return False

    def is_state(
        self,
        node: cst.CSTNode,
        function: cst.FunctionDef,
        names: set[str] = frozenset(),  # type: ignore[assignment]
    ) -> bool:
        """Say whether an expression is a variable of the optimizer; ``names`` are such locals."""
        match node:
            case cst.Name(value=name):
                return name in names
            case cst.Attribute():
                return member_of_self(node, function) in self.alone
            case cst.Subscript(value=holder):
                return member_of_self(holder, function) in self.together
            case cst.IfExp(body=one, orelse=other):
                return self.is_state(one, function, names) or self.is_state(other, function, names)
            case cst.Call():
                called = call_of_self(node, function)
                return called is not None and called[0] in MAKERS
        return False

    def locals_of(self, function: cst.FunctionDef) -> set[str]:
        """Return the local names that may be bound to such a variable."""
        names: set[str] = set()
        while True:
            more = {
                target.value
                for target, value, is_item in _bindings(function)
                if isinstance(target, cst.Name) and target.value not in names
                if (
                    member_of_self(value, function) in self.together
                    if is_item
                    else self.is_state(value, function, names)
                )
            }
            if not more:
                return names
            names |= more


def _bindings(
    function: cst.FunctionDef,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, bool]]:
    """Yield what is bound to what, one by one, and whether to an item of it."""
    for each in descendants(function.body):
        if isinstance(each, cst.Assign):
            for target in each.targets:
                yield from _pairs(target.target, each.value)
        elif isinstance(each, cst.For):
            yield from _items(each)


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, bool]]:
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        for one, other in zip(target.elements, value.elements, strict=False):
            yield one.value, other.value, False
    else:
        yield target, value, False


def _items(loop: cst.For) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, bool]]:
    match loop:
        case cst.For(
            target=cst.Tuple(elements=targets), iter=cst.Call(func=cst.Name(value="zip"), args=args)
        ):
            for one, other in zip(targets, args, strict=False):
                yield one.value, other.value, True
        case _:
            yield loop.target, loop.iter, True
