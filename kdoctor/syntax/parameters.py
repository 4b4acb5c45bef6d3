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

_MAX_NESTED = 8  # calls, one in the other
_MAX_CALL_CHAIN = 500  # calls, one on the result of the other: more than any network has


class Application(Struct, frozen=True, eq=False):
    """A call ``Layer(…)(x)`` on what a parameter was.

    ``through`` are the calls of that form that may come before it, ``x = Padding(…)(x)``, and those
    of functions: ``x = tf.nn.relu(x)``.
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
        for method, cls in self._builders():
            found += self._of_function(method, self._calls_of_objects(cls), skipped=1)
        return tuple(found)

    def _builders(self) -> Iterator[tuple[cst.FunctionDef, Scope]]:
        """Yield each ``__call__`` of a class that has no base: what builds a model, no layer."""
        for node, around in self._plain_functions():
            cls = around.node
            if isinstance(cls, cst.ClassDef) and node.name.value == "__call__" and not cls.bases:
                yield node, around

    def _calls_of_objects(self, cls: Scope) -> list[cst.Call]:
        """Return the calls of objects of a class, none where one may also be called elsewhere.

        All are ``self(…)`` in the class, ``Class(…)(…)``, or those of a name that such an object is
        assigned to.
        """
        assert isinstance(cls.node, cst.ClassDef)
        calls = [*self._calls_of_receivers.get(cls, ())]
        for use in self._uses_of(cls.node.name.value, cls.node):
            if self._is_of_super(use):
                continue
            made = self._call_of(use)
            above = None if made is None else self._scope_analysis.parents.get(made)
            if isinstance(above, cst.Call) and above.func is made:
                calls.append(above)
                continue
            target = above.targets[0].target if isinstance(above, cst.Assign) else None
            of_it = self._calls_of_name(target) if isinstance(target, cst.Name) else None
            if of_it is None:
                return []
            calls += of_it
        return [] if any(each.star for call in calls for each in call.args) else calls

    def _calls_of_name(self, bound: cst.Name) -> list[cst.Call] | None:
        """Return the calls of what is assigned to a name, None where it is read in another way."""
        calls = []
        for use in self._uses_of(bound.value, bound):
            call = self._call_of(use)
            if call is None or len(self._resolver.bindings(use.name, use.node, use.scope)) > 1:
                return None
            calls.append(call)
        return calls

    def _uses_of(self, name: str, bound: cst.CSTNode) -> Iterator[Use]:
        """Yield the uses of a name that may be of what is bound there."""
        for use in self._uses_by_name.get(name, ()):
            if any(
                each.node is bound for each in self._resolver.bindings(name, use.node, use.scope)
            ):
                yield use

    def _is_of_super(self, use: Use) -> bool:
        """Say whether it is the class in ``super(Class, self)``."""
        argument = self._scope_analysis.parents.get(use.node)
        call = None if argument is None else self._scope_analysis.parents.get(argument)
        match call:
            case cst.Call(func=cst.Name("super")):
                return True
        return False

    def _call_of(self, use: Use) -> cst.Call | None:
        """Return the call of a name that is used, None where it is used in another way."""
        call = self._scope_analysis.parents.get(use.node)
        return call if isinstance(call, cst.Call) and call.func is use.node else None

    @cached_property
    def _uses_by_name(self) -> dict[str, list[Use]]:
        found: dict[str, list[Use]] = {}
        for use in self._scope_analysis.uses:
            found.setdefault(use.name, []).append(use)
        return found

    @cached_property
    def _calls_of_receivers(self) -> dict[Scope, list[cst.Call]]:
        """The calls ``self(…)`` by the class around them."""
        found: dict[Scope, list[cst.Call]] = {}
        for use in self._scope_analysis.uses:
            call = self._call_of(use)
            cls = None if call is None else self._class_of_receiver(call.func)
            if call is not None and cls is not None:
                found.setdefault(cls, []).append(call)
        return found

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

        All are of the form ``self.method(…)`` in its own class, or those of an object that the file
        makes of it, ``Class(…).method(…)``.
        """
        name, own = method.name.value, self._scope_analysis.scopes[method].parent
        calls: list[cst.Call] = []
        for each in self._scope_analysis.attributes_by_name.get(name, ()):
            call, owner = self._scope_analysis.parents.get(each), each.value
            cls = self._class_of_receiver(owner) or self._class_made(owner)
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

    def _class_made(self, node: cst.BaseExpression) -> Scope | None:
        """Return the scope of the class that an object is made of: ``Class(…)``, or its name."""
        call: cst.CSTNode | None = node
        if isinstance(node, cst.Name):
            match self._resolver.bindings_at(node):
                case [bound] if bound.kind is BindingKind.ASSIGN and not bound.path:
                    call = bound.value
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
            return None
        match self._resolver.bindings_at(call.func):
            case [bound] if isinstance(bound.node, cst.ClassDef) and not bound.node.decorators:
                return self._scope_analysis.scopes.get(bound.node)
        return None

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
            through: set[cst.Call] = set()
            call = self._applied_around(use.node, through)
            if call is None:
                continue
            origins = self._origins(use.node, use.scope, through)
            if origins is not None and len(origins) == 1:
                applied = Application(call, frozenset(through))
                found.setdefault(next(iter(origins)), []).append(applied)
        return found

    def _applied_around(self, name: cst.Name, through: set[cst.Call]) -> cst.Call | None:
        """Return the call ``Layer(…)(x)`` of a name, or of what functions around it make of it."""
        passed: cst.BaseExpression = name
        for _ in range(_MAX_NESTED):
            argument = self._scope_analysis.parents.get(passed)
            call = self._scope_analysis.parents.get(argument) if argument is not None else None
            if not isinstance(call, cst.Call) or _first_of(call) is not passed:
                return None
            if isinstance(call.func, cst.Call):
                return call
            through.add(call)
            passed = call
        return None

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
                steps = list(_steps(each.value)) if not each.path else []
                before = _first_of(steps[-1]) if steps else None
                if each.kind is not BindingKind.ASSIGN or not isinstance(before, cst.Name):
                    return None
                if steps[0] not in through:  # else in a loop, or on two ways to the same place
                    through.update(steps)
                    waiting.append(before)
            if len(through) > _MAX_CALL_CHAIN:
                return None
        return origins


def _steps(made: cst.BaseExpression | None) -> Iterator[cst.Call]:
    """Yield the calls that a value goes through, the last one first: ``f(Layer(…)(x))``."""
    for _ in range(_MAX_NESTED):
        if not isinstance(made, cst.Call):
            return
        yield made
        made = _first_of(made)


def _first_of(call: cst.Call) -> cst.BaseExpression | None:
    """Return ``x`` of ``Layer(…)(x, …)`` and ``module.function(x, …)``, None of anything else."""
    if not isinstance(call.func, cst.Call | cst.Attribute) or not call.args:
        return None
    first = call.args[0]
    is_named = first.keyword is not None and not isinstance(call.func, cst.Call)
    return None if first.star or is_named else first.value


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
