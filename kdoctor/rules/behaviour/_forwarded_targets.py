"""Places where losses, and the functions they call, hold the targets unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.user_losses import Function, targets_of_losses
from kdoctor.rules.behaviour._float_refusals import keeps_floats
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_MAX_DEPTH = 12  # steps from name to name
_ASK_FOR_THE_TYPE = frozenset({"dtype", "is_bool", "is_floating", "is_integer"})


class Targets:
    """The parameters of losses, and of functions that they call, that hold targets."""

    def __init__(self, module: Module, facts: TargetFacts) -> None:
        self._module = module
        self._parameters: set[cst.CSTNode] = set()
        self.functions: list[Function] = []
        for function, parameter in targets_of_losses(module, facts):
            self._add(function, parameter)
        for each in self.functions:  # it grows meanwhile
            self._follow(each)

    def _add(self, function: Function, parameter: cst.Param) -> None:
        if not _asks_for_the_type(function):
            self._parameters.add(parameter)
            self.functions.append(function)

    def _follow(self, function: Function) -> None:
        """Add the functions that one hands its targets on to, as it got them."""
        points_to = points_to_of(self._module)
        for call in calls_in(function):
            called = points_to.function_called(call.func)
            if called is None or called.decorators:
                continue
            for parameter in (*called.params.posonly_params, *called.params.params):
                given = points_to.passed(call, parameter)
                if given is not None and parameter not in self._parameters and self.has(given):
                    self._add(called, parameter)

    def has(self, node: cst.BaseExpression, depth: int = 0) -> bool:
        """Say whether an expression surely is the targets, or a part of them, and no cast of it."""
        if depth > _MAX_DEPTH:
            return False
        inner: cst.BaseExpression | None = None
        match node:
            case cst.Name():
                bound = binding_of(self._module, node)
                if bound is None or bound.path:
                    return False
                if bound.node in self._parameters:
                    return True
                inner = bound.value if bound.kind is BindingKind.ASSIGN else None
            case cst.Subscript(value=inner):
                pass
            case cst.Call(args=[cst.Arg(star="") as first, *_]):
                name = self._module.qualified(node.func)
                is_kept = name is not None and keeps_floats(name) and first.keyword is None
                inner = first.value if is_kept else None
            case cst.BinaryOperation(left=left, right=right):
                if isinstance(literal(right), int | float):
                    inner = left
                elif isinstance(literal(left), int | float):
                    inner = right
        return inner is not None and self.has(inner, depth + 1)


def calls_in(function: Function) -> Iterator[cst.Call]:
    """Yield the calls in a function, and in those inside of it."""
    return (each for each in descendants(function.body) if isinstance(each, cst.Call))


def _asks_for_the_type(function: Function) -> bool:
    """Say whether what a function does goes by a type."""
    tests = (
        each.test for each in descendants(function.body) if isinstance(each, cst.If | cst.IfExp)
    )
    return any(
        isinstance(each, cst.Attribute) and each.attr.value in _ASK_FOR_THE_TYPE
        for test in tests
        for each in descendants(test)
    )
