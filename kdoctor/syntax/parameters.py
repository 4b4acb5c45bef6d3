"""Parameters of local functions that surely take symbolic tensors.

A block of a model is written as a function (``def block(x, filters): …``) that is called with what
a layer gave, or that makes layers with weights on the spot and calls them with its parameter:
code that makes such layers anew at each call builds a model, and computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst
from msgspec import Struct, field

from kdoctor.syntax.annotations import leaves_open
from kdoctor.syntax.classes import receiver_of
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Use
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind

_MAX_CALL_CHAIN = 500  # calls, one on the result of the other: more than any network has


class Application(Struct, frozen=True, eq=False):
    """A call ``Layer(…)(x)`` on what a parameter was.

    ``through`` are the calls of that form that may come before it: ``x = Padding(…)(x)``.
    """

    call: cst.Call
    through: frozenset[cst.Call]


class Candidate(Struct, frozen=True, eq=False):
    """A parameter that may take symbolic tensors.

    ``arguments`` is what is passed for it in this module, ``in_list`` says that it is passed lists,
    ``applied`` are the calls in the function's own body of which it is the first argument.
    """

    binding: Binding
    arguments: tuple[cst.BaseExpression, ...]
    in_list: bool
    applied: tuple[Application, ...] = field(default=())


class Parameters:
    """Finds the candidates of one module syntactically."""

    def __init__(self, scope_analysis: ScopeAnalysis, resolver: Resolver) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver

    def candidates(self) -> tuple[Candidate, ...]:
        """Return the parameters of plain functions and methods: no decorators, never handed on."""
        by_function: dict[cst.FunctionDef, list[Use]] = {}
        functions = self._functions()
        names = {each.name.value for each in functions}
        for use in self._scope_analysis.uses:
            if use.name in names:
                bindings = self._resolver.bindings(use.name, use.node, use.scope)
                for each in bindings:
                    if isinstance(each.node, cst.FunctionDef):
                        by_function.setdefault(each.node, []).append(use)
        found: list[Candidate] = []
        for function in functions:
            calls = self._calls(function, by_function.get(function, []))
            if calls is not None:
                found += self._of_function(function, calls)
        for method in self._methods():
            found += self._of_function(method, self._own_calls(method), skipped=1)
        return tuple(found)

    def _methods(self) -> list[cst.FunctionDef]:
        return [
            node
            for node, around in self._plain_functions()
            if around.kind is ScopeKind.CLASS
            and not node.name.value.startswith("__")
            and len(around.bindings.get(node.name.value, ())) == 1
        ]

    def _own_calls(self, method: cst.FunctionDef) -> list[cst.Call]:
        """Return the calls of a method, none where it may also be used in another way.

        All are of the form ``self.method(…)`` in its own class.
        """
        name, own = method.name.value, self._scope_analysis.scopes[method].parent
        calls: list[cst.Call] = []
        for each in self._scope_analysis.attributes_by_name.get(name, ()):
            call, cls = self._scope_analysis.parents.get(each), self._class_of_receiver(each.value)
            if cls is not None and cls is not own and name in cls.bindings:
                continue  # another class has its own
            if cls is not own or not isinstance(call, cst.Call) or call.func is not each:
                return []
            if any(argument.star for argument in call.args):
                return []
            calls.append(call)
        return calls

    def _class_of_receiver(self, node: cst.BaseExpression) -> Scope | None:
        """Return the scope of the class of which an expression is the ``self`` of a method."""
        if not isinstance(node, cst.Name):
            return None
        bindings = self._resolver.bindings_at(node)
        function = bindings[0].scope.node if len(bindings) == 1 else None
        if not isinstance(function, cst.FunctionDef):
            return None
        around = bindings[0].scope.parent
        is_method = around is not None and around.kind is ScopeKind.CLASS
        return around if is_method and receiver_of(function) is bindings[0].node else None

    def _functions(self) -> list[cst.FunctionDef]:
        return [
            node
            for node, around in self._plain_functions()
            if self._scope_analysis.scopes[node].kind is ScopeKind.FUNCTION
            and around.kind is not ScopeKind.CLASS
        ]

    def _plain_functions(self) -> Iterator[tuple[cst.FunctionDef, Scope]]:
        """Yield what is no coroutine and has no decorator, with the scope around it."""
        for node, scope in self._scope_analysis.scopes.items():
            if not isinstance(node, cst.FunctionDef) or scope.parent is None:
                continue
            if not node.decorators and node.asynchronous is None:
                yield node, scope.parent

    def _calls(self, function: cst.FunctionDef, uses: list[Use]) -> list[cst.Call] | None:
        """Return the calls of a function, None where it is used in another way or in a class.

        What is defined in a method is called there.
        """
        may_be_called_in_a_class = _is_in_a_class(self._scope_analysis.scopes[function])
        calls: list[cst.Call] = []
        for use in uses:
            call = self._scope_analysis.parents.get(use.node)
            if not isinstance(call, cst.Call) or call.func is not use.node:
                return None
            if any(argument.star for argument in call.args):
                return None
            if not may_be_called_in_a_class and _is_in_a_class(use.scope):
                return None
            calls.append(call)
        return calls

    def _of_function(
        self, function: cst.FunctionDef, calls: list[cst.Call], skipped: int = 0
    ) -> Iterator[Candidate]:
        """Yield the candidates, without the first parameters that no call passes: ``self``."""
        scope = self._scope_analysis.scopes[function]
        parameters = [*function.params.posonly_params, *function.params.params][skipped:]
        # In a method such layers may be those of a `call`.
        applied = {} if _is_in_a_class(scope) else self._applications
        for index, parameter in enumerate(parameters):
            binding = scope.parameter(parameter.name.value)
            if binding is None or not (
                parameter.annotation is None or leaves_open(parameter.annotation.annotation)
            ):
                continue
            arguments = [_passed(call, index, parameter) for call in calls]
            on_it = applied.get(binding, ())
            if any(each is None for each in arguments) or not (calls or on_it):
                continue
            known = tuple(each for each in arguments if each is not None)
            in_list = any(isinstance(each, cst.List | cst.Tuple) for each in known)
            yield Candidate(binding, known, in_list, tuple(on_it))

    @cached_property
    def _applications(self) -> dict[Binding, list[Application]]:
        """The calls ``Layer(…)(x)`` by the one parameter of the same function that ``x`` was."""
        found: dict[Binding, list[Application]] = {}
        for use in self._scope_analysis.uses:
            if use.name not in use.scope.bindings or not isinstance(use.node, cst.Name):
                continue
            argument = self._scope_analysis.parents.get(use.node)
            call = self._scope_analysis.parents.get(argument) if argument is not None else None
            if not isinstance(call, cst.Call) or _called_on_the_spot_with(call) is not use.node:
                continue
            through: set[cst.Call] = set()
            origins = self._origins(use.node, use.scope, through)
            if origins is not None and len(origins) == 1:
                applied = Application(call, frozenset(through))
                found.setdefault(next(iter(origins)), []).append(applied)
        return found

    def _origins(self, name: cst.Name, scope: Scope, through: set[cst.Call]) -> set[Binding] | None:
        """Return the parameters that a name was before calls of the form, None if also another."""
        origins: set[Binding] = set()
        waiting = [name]
        for taken in waiting:  # it grows meanwhile
            for each in self._resolver.bindings(taken.value, taken, scope):
                if each.scope is not scope:
                    return None
                if each.kind is BindingKind.PARAMETER:
                    origins.add(each)
                    continue
                made = each.value
                before = _called_on_the_spot_with(made) if not each.path else None
                if each.kind is not BindingKind.ASSIGN or before is None:
                    return None
                assert isinstance(made, cst.Call)
                if made not in through:  # else in a loop, or on two ways to the same place
                    through.add(made)
                    waiting.append(before)
            if len(through) > _MAX_CALL_CHAIN:
                return None
        return origins


def _called_on_the_spot_with(call: cst.BaseExpression | None) -> cst.Name | None:
    """Return ``x`` of ``Layer(…)(x, …)``, None of anything else."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Call) or not call.args:
        return None
    first = call.args[0]
    return first.value if isinstance(first.value, cst.Name) and not first.star else None


def _is_in_a_class(scope: Scope) -> bool:
    return any(each.kind is ScopeKind.CLASS for each in scope.enclosing())


def _passed(call: cst.Call, index: int, parameter: cst.Param) -> cst.BaseExpression | None:
    """Return what a call passes for a parameter, its default included; None for nothing."""
    positional = [each for each in call.args if each.keyword is None]
    if index < len(positional):
        return positional[index].value
    for each in call.args:
        if each.keyword is not None and each.keyword.value == parameter.name.value:
            return each.value
    return parameter.default
