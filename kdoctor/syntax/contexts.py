"""The context of a line: model construction, layer call, loss, eager code."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.inference import Inference
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.value_types import Context, Kind

_Function = cst.FunctionDef | cst.Lambda
_AROUND = frozenset({cst.With, cst.FunctionDef, cst.Lambda})
_OF_TENSORS = frozenset({Kind.TENSOR, Kind.LIST})


class Contexts:
    """Contexts in one module; ``UNKNOWN`` if not known."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        inference: Inference,
        oracle: TypeOracle,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._parents = scope_analysis.parents
        self._resolver = resolver
        self._classes = classes
        self._inference = inference
        self._oracle = oracle
        self._passed: dict[cst.CSTNode, Context | None] = {}

    def of(self, node: cst.CSTNode) -> Context:
        """Return the context of ``node``, from its surroundings, then its operands."""
        child, parent = node, self._parents.get(node)
        while parent is not None:
            if parent.__class__ not in _AROUND:  # nearly all, and there may be many
                child, parent = parent, self._parents.get(parent)
                continue
            found: Context | None = None
            if isinstance(parent, cst.With) and child is parent.body:
                found = self._block(parent)
            elif isinstance(parent, _Function) and child is parent.body:
                found = self._function(parent)
            if found is not None:
                return found
            child, parent = parent, self._parents.get(parent)
        return self._by_operands(node)

    def _block(self, block: cst.With) -> Context | None:
        for item in block.items:
            if isinstance(item.item, cst.Call):
                meaning = self._resolver.meaning_of(item.item.func)
                if meaning is not None:
                    found = self._oracle.block_context(meaning.name)
                    if found is not None:
                        return found
        return None

    def _function(self, function: _Function) -> Context | None:
        if function not in self._passed:
            self._passed[function] = None  # a function that is passed to itself
            self._passed[function] = self._of_function(function)
        return self._passed[function]

    def _of_function(self, function: _Function) -> Context | None:
        if isinstance(function, cst.FunctionDef):
            own = self._classes.around(function)
            if own is not None:
                if own.type is None:
                    return None
                return self._oracle.method_context(own.type, function.name.value)
        names = [
            each.name.value for each in (*function.params.posonly_params, *function.params.params)
        ]
        if self._gets_symbolic_only(function):
            # Whatever its parameters are called. In a layer's `call` nothing is symbolic.
            around = self.of(function)
            return Context.FUNCTIONAL if around is Context.UNKNOWN else around
        found = self._oracle.function_context(names)
        if found is not None:
            return found
        contexts = {self.as_argument(node) for node in self._mentions(function)}
        contexts.discard(None)
        return contexts.pop() if len(contexts) == 1 else None

    def _gets_symbolic_only(self, function: _Function) -> bool:
        """Say whether each call of a function of this module passes it symbolic tensors."""
        return function in self._symbolic_functions

    @cached_property
    def _symbolic_functions(self) -> frozenset[cst.CSTNode]:
        self._inference.value(self._scope_analysis.tree)  # it settles what the parameters are
        return frozenset(
            each.scope.node
            for each, value in self._inference.assumed.items()
            if value.type is not None and value.type.kind in _OF_TENSORS
        )

    def _mentions(self, function: _Function) -> Iterator[cst.CSTNode]:
        """Yield the places where a function is named, or stands itself."""
        if isinstance(function, cst.Lambda):
            yield function
            target = self._parents.get(function)
            if not isinstance(target, cst.Assign):
                return
            names = {dotted_name(each.target) for each in target.targets}
        else:
            names = {function.name.value}
        for use in (
            use for name in names for use in self._scope_analysis.uses_by_name.get(name or "", ())
        ):
            if use.node is use.chain:
                bindings = self._resolver.bindings(use.name, use.node, use.scope)
                if any(each.node is function or each.value is function for each in bindings):
                    yield use.node

    def as_argument(self, node: cst.CSTNode) -> Context | None:
        """Return the context of a function that is passed where ``node`` stands."""
        parent = self._parents.get(node)
        while isinstance(parent, cst.Element | cst.DictElement | cst.List | cst.Tuple | cst.Dict):
            node, parent = parent, self._parents.get(parent)
        if not isinstance(parent, cst.Arg) or parent.star:
            return None
        call = self._parents.get(parent)
        if not isinstance(call, cst.Call):
            return None
        meaning = self._resolver.meaning_of(call.func)
        if meaning is not None:
            callee = meaning.name
        elif isinstance(call.func, cst.Attribute):
            callee = call.func.attr.value
        else:
            return None
        position = [arg for arg in call.args if arg.keyword is None]
        argument = position.index(parent) if parent.keyword is None else parent.keyword.value
        return self._oracle.argument_context(callee, argument)

    # -- by what is worked on

    def _by_operands(self, node: cst.CSTNode) -> Context:
        """Tell by the operands of the call that ``node`` is (or is the callee of)."""
        parent = self._parents.get(node)
        if isinstance(parent, cst.Call) and parent.func is node:
            node = parent
        if not isinstance(node, cst.Call) or not node.args:
            return Context.UNKNOWN
        kinds = {kind for arg in node.args for kind in self._kinds(arg.value)}
        if Kind.TENSOR in kinds:
            return Context.FUNCTIONAL
        return Context.EAGER if kinds == {Kind.EAGER} else Context.UNKNOWN

    def _kinds(self, node: cst.BaseExpression) -> Iterator[Kind | None]:
        """Yield the kinds of what an argument is made of, None for what is not known."""
        value = self._inference.value(node).type
        if value is not None and value.kind is not Kind.LIST:
            yield value.kind
            return
        match node:
            case cst.List() | cst.Tuple():
                for element in node.elements:
                    yield from self._kinds(element.value)
            case cst.Call() if self._resolver.meaning_of(node.func) is not None:
                for arg in node.args:
                    yield from self._kinds(arg.value)
            case cst.BinaryOperation():
                yield from self._kinds(node.left)
                yield from self._kinds(node.right)
            case cst.UnaryOperation():
                yield from self._kinds(node.expression)
            case cst.Subscript():
                yield from self._kinds(node.value)
            case cst.BaseNumber():
                yield Kind.EAGER
            case cst.BaseString() | cst.Name(value="None" | "True" | "False"):
                return
            case _:
                yield value.item.kind if value is not None and value.item is not None else None
