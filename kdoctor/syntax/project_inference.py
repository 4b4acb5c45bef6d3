"""Inference across files: what this file asks of others, and what others ask of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import libcst as cst
from msgspec.structs import replace

from kdoctor.syntax.call_inference import CallInference
from kdoctor.syntax.node_predicates import is_starred, leaf_of
from kdoctor.syntax.project_types import PassingCall
from kdoctor.syntax.scopes import Binding, Scope, ScopeKind
from kdoctor.syntax.type_sets import as_told, is_followed
from kdoctor.syntax.values import UNKNOWN, Value, merged
from kdoctor.value_types import Observation

_T = TypeVar("_T")


class ProjectInference(CallInference):
    """The part of inference that other files have a share in."""

    @abstractmethod
    def settled(self, ask: Callable[[_T], Value], about: _T) -> Value:
        """Return what ``ask`` infers, once all is known that it may rest on."""

    # -- what was seen as the program ran

    def observed(self, bindings: Sequence[Binding]) -> Observation | None:
        """Return what a name was seen to hold, given all that its function binds it to.

        None of a read that only some of these reach: it was seen elsewhere, maybe.
        """
        first = bindings[0]
        everywhere = first.scope.bindings.get(first.name, ())
        if len(everywhere) != len(bindings) or any(is_starred(each.node) for each in bindings):
            return None
        function = _qualified(first.scope)
        return None if function is None else self._project.seen.of(function, first.name)

    def errors_in(self, scope: Scope) -> Sequence[str]:
        """Return the errors that calls in a function were seen to raise."""
        if not self._project.seen.errors:  # as nearly always
            return ()
        function = _qualified(scope)
        return () if function is None else self._project.seen.errors.get(function, ())

    def _observed_value(self, bindings: Sequence[Binding]) -> Value:
        """Return the value that was seen of a name."""
        seen = self.observed(bindings)
        return UNKNOWN if seen is None or seen.type is None else Value(seen.type, exact=False)

    # -- what others pass

    def _passed_in_project(self, binding: Binding) -> Value:
        """Return what all calls of its function pass for a parameter."""
        if not self._project.asks:
            return UNKNOWN
        return self._memory.recall(("passed", binding), lambda _: self._found_passed(binding))

    def _found_passed(self, binding: Binding) -> Value:
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, cst.FunctionDef) or not isinstance(parameter, cst.Param):
            return UNKNOWN
        named = _name_in_module(binding.scope)
        if named is None or function.decorators or is_starred(parameter):
            return UNKNOWN
        passing = self._project.passing(named, binding.name)
        if passing is None:
            return UNKNOWN
        own = [self._passed_by(each, parameter) for each in passing.own_calls]
        value = merged((*passing.values, *own))
        told = value.type
        if told is None or not is_followed(told) or value.makes is not None:
            return UNKNOWN
        return replace(value, type=as_told(told), exact=False, is_foreign=True)

    def _passed_by(self, call: PassingCall, parameter: cst.Param) -> Value:
        made = self._call_meant(call)
        if made is None:
            return UNKNOWN
        given = argument_of(made, call.place, call.name)
        if given is None and not any(each.star for each in made.args):
            given = parameter.default
        return UNKNOWN if given is None else self.infer(given)

    def _call_meant(self, call: PassingCall) -> cst.Call | None:
        """Return a call; None where the text is another by now, as it is after a fix."""
        calls = self._calls_by_leaf.get(call.leaf, ())
        return calls[call.number] if len(calls) == call.count else None

    @cached_property
    def _calls_by_leaf(self) -> Mapping[str, Sequence[cst.Call]]:
        """The calls of something so called, by source, but for those in formatted strings."""
        found: dict[str, list[cst.Call]] = {}
        parents = self._scope_analysis.parents
        for each in self._scope_analysis.calls:
            around = parents.get(each)
            while around is not None and not isinstance(around, cst.BaseStatement):
                if isinstance(around, cst.FormattedStringExpression):
                    break
                around = parents.get(around)
            if not isinstance(around, cst.FormattedStringExpression):
                found.setdefault(leaf_of(each.func), []).append(each)
        return found

    # -- what others ask

    def passed(self, call: PassingCall) -> Value:
        """Return what a call passes by position, or by a keyword: nothing by default."""
        made = self._call_meant(call)
        given = None if made is None else argument_of(made, call.place, call.name)
        return UNKNOWN if given is None else self.settled(self.infer, given)

    def returned_by(self, name: str) -> Value:
        """Return what calling a function of the module gives."""
        bindings = self._scope_analysis.module.bindings.get(name, ())
        function = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(function, cst.FunctionDef):
            return UNKNOWN
        return self.settled(self._returned, function)

    def member_of_class(self, name: str, member: str) -> Value:
        """Return what an attribute of the objects of a class of the module is."""
        bindings = self._scope_analysis.module.bindings.get(name, ())
        node = bindings[0].node if len(bindings) == 1 else None
        own = self._classes.of(node) if isinstance(node, cst.ClassDef) else None
        if own is None:
            return UNKNOWN
        owner = Value(own.type, own, exact=False)
        return self.settled(lambda asked: self._member_of(owner, asked), member)


def _name_in_module(scope: Scope) -> str | None:
    """Return ``function`` or ``Class.method`` for a function at the top level of a module."""
    function, around = scope.node, scope.parent
    if not isinstance(function, cst.FunctionDef) or around is None:
        return None
    if around.kind is ScopeKind.MODULE:
        return function.name.value
    cls, outside = around.node, around.parent
    if not isinstance(cls, cst.ClassDef) or outside is None:
        return None
    return f"{cls.name.value}.{function.name.value}" if outside.kind is ScopeKind.MODULE else None


def _qualified(scope: Scope) -> str | None:
    """Return a function's name as Python qualifies it, "" for a module, None for other scopes."""
    if scope.kind is ScopeKind.MODULE:
        return ""
    if not isinstance(scope.node, cst.FunctionDef):
        return None
    names = []
    for around in scope.enclosing():
        match around.node:
            case cst.FunctionDef(name=name):
                names += [name.value] if around is scope else ["<locals>", name.value]
            case cst.ClassDef(name=name):
                names.append(name.value)
    return ".".join(reversed(names))


def argument_of(call: cst.Call, place: int, name: str) -> cst.BaseExpression | None:
    """Return what a call passes at a place (from 0), or by a keyword; None where a star may."""
    placed = 0
    for each in call.args:
        if each.star:
            break
        if each.keyword is None:
            if placed == place:
                return each.value
            placed += 1
    named = (each for each in call.args if each.keyword is not None and each.keyword.value == name)
    return next((each.value for each in named), None)
