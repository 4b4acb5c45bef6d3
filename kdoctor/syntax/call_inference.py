"""Inference of calls: of classes, functions, methods and objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from kdoctor.syntax import transfer
from kdoctor.syntax.container_calls import BUILTINS, COPYING, METHODS
from kdoctor.syntax.declarations import Declarations
from kdoctor.syntax.decorators import Decorators, Effect
from kdoctor.syntax.inference_memo import InferenceMemo
from kdoctor.syntax.literals import literal
from kdoctor.syntax.member_inference import MemberInference
from kdoctor.syntax.node_predicates import is_property, returns_of, yields_of
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.type_oracle import FROM_CONFIG, PARTIAL
from kdoctor.syntax.values import (
    NONE,
    UNKNOWN,
    Value,
    either,
    is_mapping,
    is_sequence,
    item_of,
    iterable_of,
    merged,
)
from kdoctor.value_types import Kind

NAMED_KINDS: Final = frozenset({BindingKind.CLASS, BindingKind.IMPORT})


class CallInference(MemberInference):
    """The part of inference that is about calls."""

    _decorators: Decorators
    _declarations: Declarations
    _memory: InferenceMemo

    def own_function(self, callee: cst.BaseExpression) -> cst.FunctionDef | None:
        """Return the function of the module, or the method of one of its classes."""
        if isinstance(callee, cst.Name):
            bindings = self._resolver.bindings_at(callee)
            node = bindings[0].node if len(bindings) == 1 else None
            return node if isinstance(node, cst.FunctionDef) else None
        if not isinstance(callee, cst.Attribute):
            return None
        own = self.infer(callee.value).own
        definer = None if own is None else own.definer(callee.attr.value)
        method = None if definer is None else definer.method(callee.attr.value)
        return None if method is None or is_property(method) else method

    def _lambda(self, node: cst.Lambda) -> Value:
        return Value(runs=(node,))

    def _call(self, node: cst.Call) -> Value:
        function = node.func
        instance = self.instance(function)
        if instance:
            return instance
        if isinstance(function, cst.Attribute) and function.attr.value == FROM_CONFIG:
            made = self.infer(function.value).makes
            if made is not None and made.type and not self.has_own(made, FROM_CONFIG):
                return made
        meaning = self._resolver.meaning_of(function)
        if meaning is not None:
            if meaning.name == PARTIAL:
                return self._partial(node)
            if meaning.name in COPYING and node.args and not node.args[0].star:
                return self.infer(node.args[0].value)
            given = self._oracle.result_type(meaning.name)
            if given is not None:
                return Value(given)
            imported = self._imported_value(meaning.name, node)
            if imported or imported.is_open or node in self._by_use.calls_told:
                return imported
            return self._project.returned(meaning.name) or UNKNOWN
        if isinstance(function, cst.Name) and not self._resolver.bindings_at(function):
            return self._builtin_call(function.value, node)
        if isinstance(function, cst.Attribute):
            owner, method = self.infer(function.value), function.attr.value
            if not self.has_own(owner, method):
                if method in METHODS and (is_mapping(owner) or is_sequence(owner)):
                    return self._method_result(owner, method, node)
                if method == "__call__" and transfer.depends_on_first_argument(owner.type):
                    return self._instance_value(owner, node)  # `super().__call__(x)`
                gained = self._member(owner, method, called=True)
                if gained:
                    return gained
        return self._called(self.infer(function), node)

    def _called(self, callee: Value, call: cst.Call) -> Value:
        """Return what calling a value gives: a class, a function, a layer."""
        if callee.makes is not None:
            return callee.makes
        if callee.runs:
            return self._returned_by(callee)
        if self.has_own(callee, "__call__"):
            return self._special(callee, "__call__")
        return self._instance_value(callee, call)

    def _builtin_call(self, name: str, call: cst.Call) -> Value:
        """Return what a function of Python gives."""
        match name, call.args:
            case "super", _:
                return self._super(call)
            case "type", [cst.Arg(value=one, star="")]:
                value = self.infer(one)
                return Value(makes=value) if value.type is not None or value.own else UNKNOWN
            case "getattr", [cst.Arg(value=owner, star=""), cst.Arg(value=member), *default]:
                named = literal(member)
                if not isinstance(named, str) or not named.isidentifier():
                    return UNKNOWN
                found = self._member_of(self.infer(owner), named)
                return merged((found, *(self.infer(each.value) for each in default)))
            case _:
                return self._builtin_result(name, call) if name in BUILTINS else UNKNOWN

    def _partial(self, call: cst.Call) -> Value:
        """Return the class or the function whose arguments ``functools.partial`` binds."""
        first = call.args[0] if call.args else None
        if first is None or first.star or first.keyword is not None:
            return UNKNOWN
        instance = self.instance(first.value)
        if instance:
            return Value(makes=instance)
        bound = self.infer(first.value)
        return bound if bound.makes is not None or bound.runs else UNKNOWN

    def _imported_value(self, name: str, call: cst.Call) -> Value:
        """Return what an imported function makes of tensors."""
        passed = [each.value for each in call.args if not each.star]
        given = [self.infer(each) for each in passed]
        given += [item_of(each) for each in given]
        given += [
            self.infer(element.value)
            for each in passed
            if isinstance(each, cst.List | cst.Tuple)
            for element in each.elements
        ]
        return transfer.call_result_on_tensors(name, given, self._oracle)

    def _instance_value(self, callee: Value, call: cst.Call) -> Value:
        """Return what calling an instance gives."""
        if not call.args or callee.type is None:
            return UNKNOWN
        return transfer.instance_call_result(
            callee.type, lambda: self.infer(call.args[0].value), self._oracle
        )

    def instance(self, cls: cst.BaseExpression) -> Value:
        """Return the instance of a class, nothing if ``cls`` is no class."""
        own = self._classes.named(cls)
        if own is not None:
            return Value(own.type, own)
        if isinstance(cls, cst.Name):
            bindings = self._resolver.bindings_at(cls)
            of = pytest_parameter_values(bindings[0]) if len(bindings) == 1 else ()
            if of:
                return either(self.instance(each) for each in of)
        meaning = self._resolver.meaning_of(cls)
        return Value(None if meaning is None else self._oracle.class_type(meaning.name))

    def _named_class(self, node: cst.Name | cst.Attribute, leaf: str) -> Value:
        """Return the class that a name or an attribute means; classes have capital letters."""
        instance = self.instance(node) if leaf[:1].isupper() else UNKNOWN
        return Value(makes=instance) if instance else UNKNOWN

    def _super(self, call: cst.Call) -> Value:
        """Return what ``super()`` gives access to: what all bases have, in their order."""
        for scope in self._resolver.scope_of(call).enclosing():
            own = self._classes.around(scope.node)
            if own is None or own.node is None:
                continue
            bases = self._classes.telling_bases(own.node)
            if bases and len(bases) == 1:
                return self.instance(bases[0])
            if not bases:
                return UNKNOWN
            first, behind = self.instance(bases[0]), self._classes.behind(own)
            if first.type is not None and first.own is None:
                return Value(first.type, behind)
            return Value(own.type, behind, exact=False)
        return UNKNOWN

    # -- functions

    def _returned(self, function: cst.FunctionDef | cst.Lambda) -> Value:
        """Return what a call of one of the module's own functions gives."""
        if isinstance(function, cst.Lambda):
            return self.infer(function.body)
        return self._memory.recall_returned(function, self._found_returned)

    def _found_returned(self, function: cst.FunctionDef) -> Value:
        effect = self._decorators.effect_on(function)
        if function.asynchronous is not None or effect in {Effect.UNKNOWN, Effect.ENTERED}:
            return UNKNOWN
        value = self._yielded(function)
        if value is not None:
            value = iterable_of(value)
        else:
            returns = returns_of(function)
            value = self._merged_of(each.value for each in returns) if returns else NONE
        if not value and function.returns is not None:
            value = self._declarations.of(function.returns.annotation, function)
        if effect is Effect.TRACED and (value.type is None or value.type.kind is not Kind.EAGER):
            return UNKNOWN
        return value

    def _yielded(self, function: cst.FunctionDef) -> Value | None:
        """Return what a generator yields, None of any other function."""
        yields = yields_of(function)
        if not yields:
            return None
        if any(isinstance(each.value, cst.From) for each in yields):
            return UNKNOWN
        return self._merged_of(
            each.value for each in yields if not isinstance(each.value, cst.From)
        )

    def _merged_of(self, values: Iterable[cst.BaseExpression | None]) -> Value:
        return merged(NONE if each is None else self.infer(each) for each in values)

    def _entered(self, manager: cst.BaseExpression) -> Value:
        """Return what ``with manager as`` binds."""
        function = self.own_function(manager.func) if isinstance(manager, cst.Call) else None
        if function is not None and self._decorators.effect_on(function) is Effect.ENTERED:
            return self._yielded(function) or UNKNOWN
        value = self.infer(manager)
        if self.has_own(value, "__enter__"):
            return self._special(value, "__enter__")
        return self._member(value, "__enter__", called=True)
