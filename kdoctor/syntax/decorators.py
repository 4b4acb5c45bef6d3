"""What the decorators of a function leave of it."""

from __future__ import annotations

import enum

import libcst as cst

from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.node_predicates import leaf_of, returns_of
from kdoctor.syntax.package import is_registry

_BUILTINS = frozenset({"classmethod", "property", "staticmethod"})
_KEEPING = frozenset({
    *("functools.cache", "functools.cached_property", "functools.lru_cache", "functools.wraps"),
    *("abc.abstractmethod", "abc.abstractproperty", "typing.final", "typing.override"),
    *("typing_extensions.final", "typing_extensions.override", "pytest.fixture"),
    *("unittest.mock.patch", "unittest.mock.patch.object", "typing.no_type_check"),
    "tensorflow.autograph.experimental.do_not_convert",
})  # fmt: skip
"""Calling what they leave gives what calling the function gives."""
_TRACING = frozenset({"tensorflow.function", "tensorflow.compat.v2.function"})
_ENTERING = frozenset({"contextlib.contextmanager"})


class Effect(enum.Enum):
    """What calling a decorated function gives."""

    SAME = enum.auto()  # what the function gives
    TRACED = enum.auto()  # the same, where that is tensors
    ENTERED = enum.auto()  # a context manager that gives what the function yields
    UNKNOWN = enum.auto()


class Decorators:
    """The decorators of the functions of one module."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def effect_on(self, function: cst.FunctionDef) -> Effect:
        """Return what all decorators of a function come to."""
        effect = Effect.SAME
        for each in function.decorators:
            one = self._effect_of(each.decorator)
            if one is not Effect.SAME:
                effect = one if effect is Effect.SAME else Effect.UNKNOWN
        return effect

    def _effect_of(self, decorator: cst.BaseExpression) -> Effect:
        name = decorator.func if isinstance(decorator, cst.Call) else decorator
        meaning = self._resolver.meaning_of(name)
        if meaning is not None:
            if meaning.name in _TRACING:
                return Effect.TRACED
            if meaning.name in _ENTERING:
                return Effect.ENTERED
            keeps = meaning.name in _KEEPING or is_registry(leaf_of(name))
            return Effect.SAME if keeps else Effect.UNKNOWN
        if not isinstance(name, cst.Name):
            keeps = is_registry(leaf_of(name)) or leaf_of(name) in {"getter", "setter"}
            return Effect.SAME if keeps else Effect.UNKNOWN
        bindings = self._resolver.bindings_at(name)
        if not bindings:
            return Effect.SAME if name.value in _BUILTINS else Effect.UNKNOWN
        own = bindings[0].node if len(bindings) == 1 else None
        is_plain = name is decorator and isinstance(own, cst.FunctionDef)
        keeps = is_registry(name.value) or (is_plain and self._keeps(own))
        return Effect.SAME if keeps else Effect.UNKNOWN

    def _keeps(self, decorator: cst.CSTNode | None) -> bool:
        """Say whether a function returns what it takes, or what calls it and returns its result."""
        if not isinstance(decorator, cst.FunctionDef) or len(decorator.params.params) != 1:
            return False
        taken, returns = decorator.params.params[0].name.value, returns_of(decorator)
        return bool(returns) and all(self._is_as_taken(each.value, taken) for each in returns)

    def _is_as_taken(self, returned: cst.BaseExpression | None, taken: str) -> bool:
        if not isinstance(returned, cst.Name):
            return False
        bindings = self._resolver.bindings_at(returned)
        inner = bindings[0].node if len(bindings) == 1 else None
        if isinstance(inner, cst.Param):
            return returned.value == taken
        if not isinstance(inner, cst.FunctionDef) or inner.asynchronous is not None:
            return False
        is_wrapper = [self._resolver.name_of(_called(each)) for each in inner.decorators]
        gives = [self._calls(each.value, taken) for each in returns_of(inner)]
        return is_wrapper in ([], ["functools.wraps"]) and bool(gives) and all(gives)

    def _calls(self, value: cst.BaseExpression | None, taken: str) -> bool:
        """Say whether it is what calling the function gave that was taken."""
        if isinstance(value, cst.Name):
            bindings = self._resolver.bindings_at(value)
            is_one = len(bindings) == 1 and not bindings[0].path
            value = bindings[0].value if is_one else None
        return (
            isinstance(value, cst.Call)
            and isinstance(value.func, cst.Name)
            and value.func.value == taken
            and all(
                isinstance(each.node, cst.Param) for each in self._resolver.bindings_at(value.func)
            )
        )


def _called(decorator: cst.Decorator) -> cst.BaseExpression:
    inner = decorator.decorator
    return inner.func if isinstance(inner, cst.Call) else inner
