"""Type inference within one file and its project.

What is not certain has no type. What Keras' classes and functions give, ``TypeOracle`` is asked.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property

import libcst as cst
from msgspec.structs import replace

from kdoctor.syntax import transfer
from kdoctor.syntax.annotations import leaves_open
from kdoctor.syntax.classes import UserClass, UserClasses
from kdoctor.syntax.declarations import Declarations
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.inference_memo import InferenceMemo, OutOfOrderError
from kdoctor.syntax.list_mutations import MutatedLists, is_new_and_empty
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.node_predicates import is_number, is_property, is_starred, returns_of
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.partials import partial_callable
from kdoctor.syntax.reaching_definitions import MAX_BINDINGS
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.symbolic_parameters import SymbolicParameters
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.usage_inference import UsageInference
from kdoctor.syntax.values import (
    NONE,
    UNKNOWN,
    Value,
    either,
    is_list,
    is_tensor,
    item_of,
    joined,
    list_of,
    merged,
)
from kdoctor.value_types import Kind

_UNTOLD = Value(exact=False)
_PASSED_THROUGH = frozenset({"list", "tuple", "reversed", "sorted", "iter"})
# How the value of an expression of each class is inferred; of all others nothing is known.
_WAYS: Mapping[type[cst.CSTNode], str] = {
    cst.Name: "_name",
    cst.Attribute: "_attribute",
    cst.Call: "_call",
    cst.Subscript: "_subscript",
    cst.NamedExpr: "_named_expression",
    cst.IfExp: "_either",
    cst.BooleanOperation: "_boolean",
    cst.BinaryOperation: "_operation",
    cst.UnaryOperation: "_unary",
    cst.Comparison: "_comparison",
    cst.List: "_display",
    cst.Tuple: "_display",
    cst.ListComp: "_comprehension",
    cst.GeneratorExp: "_comprehension",
}


class Inference:
    """Type inference of one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        by_use: UsageInference,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes
        self._oracle = oracle
        self._memory = InferenceMemo()
        self._by_use = by_use
        self.assumed: dict[Binding, Value] = {}
        self._returns: dict[cst.FunctionDef, Sequence[cst.Return] | None] = {}
        own = weakref.proxy(self)  # a ring would keep the tree until a collector comes
        self._declarations = Declarations(scope_analysis, resolver, classes, oracle, own)
        self._lists = MutatedLists(scope_analysis, resolver, oracle, own)
        self._is_settled = False

    def value(self, node: cst.CSTNode) -> Value:
        """Return the inferred value of an expression."""
        if not self._is_settled:
            self._is_settled = True
            SymbolicParameters(self._scope_analysis, self._resolver, self._oracle, self).settle()
        try:
            return self.infer(node)
        except (OutOfOrderError, RecursionError):
            if self._memory.in_order:
                return UNKNOWN
        self._memory.in_order = True
        self._warm_up()
        return self.value(node)

    def assume(self, parameters: Mapping[Binding, Value]) -> None:
        """Assume types for parameters, and invalidate results that depend on others."""
        if parameters != self.assumed:
            self.assumed = dict(parameters)
            self._memory.forget_assumed()
            self._warm_up()

    def _warm_up(self) -> None:
        """Infer what is assigned, first things first, where the order of questions counts."""
        for value in self._assigned_values if self._memory.in_order else ():
            self.value(value)

    @cached_property
    def _assigned_values(self) -> Sequence[cst.BaseExpression]:
        assigned = [
            (binding.order, binding.value)
            for scope in self._scope_analysis.all_scopes()
            for bindings in scope.bindings.values()
            for binding in bindings
            if binding.kind is BindingKind.ASSIGN and binding.value is not None
        ]
        return [value for _, value in sorted(assigned, key=lambda pair: pair[0])]

    def infer(self, node: cst.CSTNode) -> Value:
        """Return the value of an expression within another's inference.

        Raises:
            OutOfOrderError: other questions are to be asked first.
        """
        way = _WAYS.get(node.__class__)
        if way is None:
            return UNKNOWN
        known = self._memory.certain.get(node)
        return self._memory.recall(node, getattr(self, way)) if known is None else known

    def _named_expression(self, node: cst.NamedExpr) -> Value:
        return self.infer(node.value)

    def _either(self, node: cst.IfExp) -> Value:
        return merged((self.infer(node.body), self.infer(node.orelse)))

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        return merged((self.infer(node.left), self.infer(node.right)))

    def _comprehension(self, node: cst.ListComp | cst.GeneratorExp) -> Value:
        return list_of(self.infer(node.elt))

    def _display(self, node: cst.List | cst.Tuple) -> Value:
        return list_of(merged(self.infer(each.value) for each in node.elements))

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = UNKNOWN if isinstance(node.operator, cst.Not) else self.infer(node.expression)
        return value if is_tensor(value) or value.is_open else UNKNOWN

    # -- names

    def _name(self, node: cst.Name) -> Value:
        if node.value == "None":
            return NONE
        bindings = self._resolver.bindings_at(node)
        if len(bindings) == 1:
            value = self._bound(bindings[0])
            return UNKNOWN if value.is_none else value
        if len(bindings) > MAX_BINDINGS:
            return UNKNOWN
        return merged(self._bound(each) for each in bindings)

    def _bound(self, binding: Binding) -> Value:
        value = self._bound_to(binding)
        if value or value.is_none or value.is_open:
            return value
        told = self._by_use.of_binding(binding)
        return _UNTOLD if told is None else Value(told, exact=False)

    def _bound_to(self, binding: Binding) -> Value:
        value = self._as_bound(binding)
        if not is_list(value) and not is_new_and_empty(binding):
            return value
        return self._memory.recall(binding, self._list_value)

    def _list_value(self, binding: Binding) -> Value:
        """Return the list that a name is bound to, with what is put into it."""
        return self._lists.list_value(binding, self._as_bound(binding))

    def _as_bound(self, binding: Binding) -> Value:
        match binding.kind:
            case BindingKind.ASSIGN | BindingKind.ANNOTATE:
                return self._assigned(binding.value, binding.path, binding.annotation)
            case BindingKind.AUGMENT if isinstance(binding.node, cst.Name):
                return self._augmented(binding)
            case BindingKind.LOOP if binding.value is not None:
                return self._element(binding.value, binding.path)
            case BindingKind.WITH if binding.value is not None and not binding.path:
                entered = self.infer(binding.value)
                return self._member(entered, "__enter__", called=True)
            case BindingKind.PARAMETER:
                own = self._classes.receiver(binding)
                if own is not None:
                    return Value(own.type, own, exact=False)
                if binding.annotation is not None and not is_starred(binding.node):
                    told = self._declarations.of(binding.annotation, binding.scope.node)
                    if told or not leaves_open(binding.annotation):
                        return told
                self._memory.note_assumption()
                assumed = self.assumed.get(binding, UNKNOWN)
                is_told = assumed or assumed.is_open
                return assumed if is_told else self._declarations.documented(binding)
            case _:
                return UNKNOWN

    def _augmented(self, binding: Binding) -> Value:
        """Return what ``x += value`` leaves in ``x``."""
        value, statement = binding.value, self._scope_analysis.parents[binding.node]
        if value is None or not isinstance(statement, cst.AugAssign):
            return UNKNOWN
        sides = (self.infer(binding.node), self.infer(value))
        if isinstance(statement.operator, cst.AddAssign) and all(map(is_list, sides)):
            return joined(sides)
        return transfer.operator_result(sides, (False, is_number(value)))

    def _assigned(
        self,
        value: cst.BaseExpression | None,
        path: Sequence[int | None],
        annotation: cst.BaseExpression | None,
    ) -> Value:
        if annotation is not None:
            told = self._declarations.told(annotation)
            if told and (value is None or not self.infer(value)):
                return replace(told, exact=False)
        if (part := part_of(value, path)) is not None:
            return self.infer(part)
        if value is None or len(path) != 1 or path[0] is None:
            return UNKNOWN
        whole = self.infer(value)
        return whole if whole.may_be_several else item_of(whole) or self._returned_part(value, path)

    def _returned_part(self, value: cst.BaseExpression, path: Sequence[int | None]) -> Value:
        """Return what ``a, b = function()`` binds, where each return writes out its parts."""
        function = self.own_function(value.func) if isinstance(value, cst.Call) else None
        returns = None if function is None else self._returns_of(function)
        if returns is None:
            return UNKNOWN
        parts = [part_of(each.value, path) for each in returns]
        return merged(UNKNOWN if part is None else self.infer(part) for part in parts)

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

    def _element(self, iterable: cst.BaseExpression, path: Sequence[int | None]) -> Value:
        """Return what a loop over ``iterable`` binds."""
        if isinstance(iterable, cst.Call) and self._is_builtin(iterable.func):
            name = dotted_name(iterable.func)
            args = [each.value for each in iterable.args if not each.star]
            if name in _PASSED_THROUGH and args:
                return self._element(args[0], path)
            if name == "enumerate" and args and path[:1] == (1,):
                return self._element(args[0], path[1:])
            if name == "zip" and path and path[0] is not None and path[0] < len(args):
                return self._element(args[path[0]], path[1:])
            return UNKNOWN
        value = self.infer(iterable)
        item = item_of(value)
        if not item and not item.is_open:
            item = self._member(value, "__iter__", called=True)
        for step in path:
            item = UNKNOWN if step is None else item_of(item)
        return item

    # -- attributes and calls

    def _attribute(self, node: cst.Attribute) -> Value:
        if self._resolver.meaning_of(node) is not None:
            return UNKNOWN  # a thing of a module, not of an instance
        owner = self.infer(node.value)
        if owner.own is not None:
            definer = owner.own.definer(node.attr.value)
            if definer is not None:
                return self._own_member(definer, node.attr.value)
        value = self._member(owner, node.attr.value, called=False)
        if value or owner.own is None or owner.own.node is None:
            return value
        return Value(self._by_use.of_member(owner.own.node, node.attr.value), exact=False)

    def _own_member(self, definer: UserClass, member: str) -> Value:
        method = definer.method(member)
        if method is not None:
            return self._returned(method) if is_property(method) else UNKNOWN
        if definer.scope is None:
            return UNKNOWN
        stored = [
            self._assigned(each.value, each.path, each.annotation)
            if each.kind in {BindingKind.ASSIGN, BindingKind.ANNOTATE}
            else UNKNOWN
            for each in definer.stores.get(member, ())
        ]
        bound = [self._bound(each) for each in definer.scope.bindings.get(member, ())]
        value = merged((*stored, *bound))
        stored_once = sum(not each.is_none for each in (*stored, *bound)) <= 1
        if value or not stored_once or definer.node is None:
            return value
        return Value(self._by_use.of_member(definer.node, member), exact=False)

    def _member(self, owner: Value, member: str, *, called: bool) -> Value:
        if owner.type is None:
            return UNKNOWN
        if owner.own is not None and owner.own.definer(member) is not None:
            return UNKNOWN
        return Value(self._oracle.member_type(owner.type, member, called=called))

    def _call(self, node: cst.Call) -> Value:
        function = node.func
        instance = self.instance(function)
        if instance:
            return instance
        meaning = self._resolver.meaning_of(function)
        if meaning is not None:
            made = self._oracle.result_type(meaning.name)
            return Value(made) if made is not None else self._imported_value(meaning.name, node)
        if isinstance(function, cst.Name):
            bindings = self._resolver.bindings_at(function)
            if not bindings and function.value == "super":
                return self._super(node)
            if not bindings and function.value in _PASSED_THROUGH and node.args:
                value = self.infer(node.args[0].value)
                return value if item_of(value) else UNKNOWN
            if len(bindings) == 1 and isinstance(bindings[0].node, cst.FunctionDef):
                return self._returned(bindings[0].node)
        if isinstance(function, cst.Attribute):
            owner = self.infer(function.value)
            definer = None if owner.own is None else owner.own.definer(function.attr.value)
            if definer is not None:
                method = definer.method(function.attr.value)
                if method is not None and not is_property(method):
                    return self._returned(method)
                # `self.dense(x)`: an attribute that holds a layer.
                return self._instance_value(self.infer(function), node)
            if function.attr.value == "__call__" and transfer.depends_on_first_argument(owner.type):
                return self._instance_value(owner, node)  # `super().__call__(x)`
            given = self._member(owner, function.attr.value, called=True)
            if given:
                return given
        return self._instance_value(self.infer(function), node)

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
            bound = bindings[0] if len(bindings) == 1 else None
            if bound and (
                of := pytest_parameter_values(bound) or partial_callable(bound, self._resolver)
            ):
                return either(self.instance(each) for each in of)
        meaning = self._resolver.meaning_of(cls)
        return Value(None if meaning is None else self._oracle.class_type(meaning.name))

    def _super(self, call: cst.Call) -> Value:
        """Return what ``super()`` gives access to, where there is one base only."""
        for scope in self._resolver.scope_of(call).enclosing():
            own = self._classes.around(scope.node)
            if own is None or own.node is None:
                continue
            bases = self._classes.telling_bases(own.node)
            return self.instance(bases[0]) if bases and len(bases) == 1 else UNKNOWN
        return UNKNOWN

    def _subscript(self, node: cst.Subscript) -> Value:
        value = self.infer(node.value)
        if value.type is None or value.own is not None:
            return value if value.is_open else UNKNOWN
        index = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
        if value.type.kind is Kind.LIST:
            return item_of(value) if index else value
        if not index and len(node.slice) == 1 and value.may_be_several:
            return value  # a part of the list, if it is one
        return self._member(value, "__getitem__", called=True)

    def _operation(self, node: cst.BinaryOperation) -> Value:
        sides = (self.infer(node.left), self.infer(node.right))
        if isinstance(node.operator, cst.Add) and all(map(is_list, sides)):
            return joined(sides)
        return transfer.operator_result(sides, (is_number(node.left), is_number(node.right)))

    def _comparison(self, node: cst.Comparison) -> Value:
        first, *more = node.comparisons  # of several, Python asks the first for its truth
        sides = (self.infer(node.left), self.infer(first.comparator))
        return UNKNOWN if more else transfer.comparison_result(sides, first.operator)

    # -- functions

    def _returned(self, function: cst.FunctionDef) -> Value:
        """Return what a call of one of the module's own functions gives."""
        return self._memory.recall_returned(function, self._found_returned)

    def _found_returned(self, function: cst.FunctionDef) -> Value:
        returns = self._returns_of(function)
        if returns is None:
            return UNKNOWN
        value = merged(NONE if each.value is None else self.infer(each.value) for each in returns)
        if not value and function.returns is not None:
            return self._declarations.of(function.returns.annotation, function)
        return value

    def _returns_of(self, function: cst.FunctionDef) -> Sequence[cst.Return] | None:
        """Return where a function returns, None where a call of it gives something else."""
        if function not in self._returns:
            self._returns[function] = returns_of(function)
        return self._returns[function]

    def _is_builtin(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Name) and not self._resolver.bindings_at(node)
