"""Type inference within one file and its project.

What is not certain has no type. What Keras' classes and functions give, ``TypeOracle`` is asked.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import libcst as cst
from msgspec.structs import replace

from kdoctor.syntax import transfer
from kdoctor.syntax.annotations import leaves_open
from kdoctor.syntax.call_inference import NAMED_KINDS
from kdoctor.syntax.callback_models import is_model_of_a_callback
from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.container_mutations import MutatedContainers, is_new_and_empty
from kdoctor.syntax.declarations import Declarations
from kdoctor.syntax.decorators import Decorators
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.inference_memo import InferenceMemo, OutOfOrderError
from kdoctor.syntax.mask_inputs import MaskInputs
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.narrowing import Narrowing
from kdoctor.syntax.node_predicates import is_number, is_starred
from kdoctor.syntax.project_inference import ProjectInference
from kdoctor.syntax.project_types import Project, ProjectTypes
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
    can_be_filled,
    is_list,
    is_mapping,
    is_tensor,
    item_of,
    joined,
    list_of,
    merged,
    unpacked,
)
from kdoctor.value_types import Kind, Type

_UNTOLD = Value(exact=False)
_T = TypeVar("_T")
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
    cst.Lambda: "_lambda",
    cst.List: "_list",
    cst.Tuple: "_tuple",
    cst.Set: "_set",
    cst.Dict: "_dict",
    cst.ListComp: "_comprehension",
    cst.GeneratorExp: "_comprehension",
    cst.SetComp: "_set_comprehension",
    cst.DictComp: "_dict_comprehension",
}


class Inference(ProjectInference):
    """Type inference of one module."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is known of the module, and of the project
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        by_use: UsageInference,
        project: ProjectTypes,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes
        self._oracle = oracle
        self._memory = InferenceMemo()
        self._by_use = by_use
        self._project = project
        self.assumed: dict[Binding, Value] = {}
        self._decorators = Decorators(resolver)
        self._mask_inputs = MaskInputs(scope_analysis, resolver, classes)
        own = weakref.proxy(self)  # a ring would keep the tree until a collector comes
        self._declarations = Declarations(scope_analysis, resolver, classes, oracle, own)
        self._containers = MutatedContainers(scope_analysis, resolver, classes, oracle, own)
        self._narrowing = Narrowing(scope_analysis, resolver, own)
        self._is_settled = False

    def value(self, node: cst.CSTNode) -> Value:
        """Return the inferred value of an expression."""
        return self.settled(self.infer, node)

    def settled(self, ask: Callable[[_T], Value], about: _T) -> Value:
        """Return what ``ask`` infers, once all is known that it may rest on."""
        if not self._is_settled:
            self._is_settled = True
            SymbolicParameters(self._scope_analysis, self._resolver, self._oracle, self).settle()
        try:
            return ask(about)
        except (OutOfOrderError, RecursionError):
            if self._memory.in_order:
                return UNKNOWN
        self._memory.in_order = True
        self._warm_up()
        return self.settled(ask, about)

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
        known = self._memory.certain.get(node)  # asked here, too: most are known
        return self._memory.recall(node, getattr(self, way)) if known is None else known

    def _named_expression(self, node: cst.NamedExpr) -> Value:
        return self.infer(node.value)

    def _either(self, node: cst.IfExp) -> Value:
        return merged((self.infer(node.body), self.infer(node.orelse)))

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        return merged((self.infer(node.left), self.infer(node.right)))

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = UNKNOWN if isinstance(node.operator, cst.Not) else self.infer(node.expression)
        return value if is_tensor(value) or value.is_open else UNKNOWN

    # -- names

    def _name(self, node: cst.Name) -> Value:
        if node.value == "None":
            return NONE
        tested = node.value in self._narrowing.subjects
        told = self._narrowing.of(node) if tested else UNKNOWN
        bindings = self._resolver.bindings_at(node)
        if len(bindings) == 1:
            value = self._bound(bindings[0])
            if told and value.own is None:
                return told
            if not value and bindings[0].kind in NAMED_KINDS:
                return self._named_class(node, node.value)
            return UNKNOWN if value.is_none else value
        if told:
            return told
        if not bindings:
            return self._named_class(node, node.value)
        if len(bindings) > MAX_BINDINGS:
            return UNKNOWN
        value = merged(self._bound(each) for each in bindings)
        return value or self._observed_value(bindings) or value

    def _bound(self, binding: Binding) -> Value:
        value = self._bound_to(binding)
        if value or value.is_none or value.is_open:
            return value
        told = self._by_use.of_binding(binding)
        if told is None and self._is_open_parameter(binding):
            passed = self._passed_in_project(binding)
            if passed:
                return passed
        if told is None:
            told = self._by_use.hinted(binding)
        if told is None:
            return self._observed_value((binding,)) or _UNTOLD
        return Value(told, exact=False)

    def _is_open_parameter(self, binding: Binding) -> bool:
        """Say whether it is a parameter of which its annotation does not tell what it takes."""
        annotation = binding.annotation
        return binding.kind is BindingKind.PARAMETER and (
            annotation is None or leaves_open(annotation)
        )

    def _bound_to(self, binding: Binding) -> Value:
        value = self._as_bound(binding)
        if not can_be_filled(value) and is_new_and_empty(binding) is None:
            return value
        return self._memory.recall(binding, self._container_value)

    def _container_value(self, binding: Binding) -> Value:
        """Return the container that a name is bound to, with what is put into it."""
        made = self._as_bound(binding)
        is_dict = is_mapping(made) or is_new_and_empty(binding) is True
        return self._containers.filled(binding, made, is_dict=is_dict)

    def _as_bound(self, binding: Binding) -> Value:
        match binding.kind:
            case BindingKind.ASSIGN | BindingKind.ANNOTATE:
                return self._assigned(binding.value, binding.path, binding.annotation)
            case BindingKind.AUGMENT if isinstance(binding.node, cst.Name):
                return self._augmented(binding)
            case BindingKind.FUNCTION if isinstance(binding.node, cst.FunctionDef):
                return Value(runs=(binding.node,))
            case BindingKind.LOOP if binding.value is not None:
                return self._element(binding.value, binding.path)
            case BindingKind.WITH if binding.value is not None and not binding.path:
                return self._entered(binding.value)
            case BindingKind.PARAMETER:
                own = self._classes.receiver(binding)
                if own is not None:
                    return Value(own.type, own, exact=False)
                own = self._classes.class_receiver(binding)
                if own is not None:
                    return Value(makes=Value(own.type, own, exact=False))
                if binding.annotation is not None and not is_starred(binding.node):
                    told = self._declarations.of(binding.annotation, binding.scope.node)
                    if told or not leaves_open(binding.annotation):
                        return told
                tensor = self._mask_inputs.type_of(binding)
                if tensor is not None:
                    return Value(tensor, exact=False)
                if is_model_of_a_callback(self._classes, binding):
                    return Value(Type(Kind.MODEL), exact=False)
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
        if value is None:
            return UNKNOWN
        whole = self.infer(value)
        if whole.may_be_several and len(path) == 1 and path[0] is not None:
            return whole
        return unpacked(whole, path)

    def _operation(self, node: cst.BinaryOperation) -> Value:
        sides = (self.infer(node.left), self.infer(node.right))
        if isinstance(node.operator, cst.Add) and all(map(is_list, sides)):
            return joined(sides)
        if isinstance(node.operator, cst.Multiply) and is_list(sides[0]):
            is_surely_one = is_number(node.right) or not is_tensor(item_of(sides[0]))
            return list_of(item_of(sides[0])) if is_surely_one else UNKNOWN
        return transfer.operator_result(sides, (is_number(node.left), is_number(node.right)))

    def _comparison(self, node: cst.Comparison) -> Value:
        first, *more = node.comparisons  # of several, Python asks the first for its truth
        sides = (self.infer(node.left), self.infer(first.comparator))
        return UNKNOWN if more else transfer.comparison_result(sides, first.operator)


class Inferences(dict[int, Inference]):
    """The inferences of one module, made when they are asked for.

    By how many files further the project is asked: what other files are told rests on less.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of an inference, and whom it asks
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        by_use: UsageInference,
        package: Project | None,
        path: str,
    ) -> None:
        self._parts = scope_analysis, resolver, classes, oracle, by_use
        self._asked = package, path, oracle

    def __missing__(self, depth: int) -> Inference:
        self[depth] = Inference(*self._parts, ProjectTypes(*self._asked, depth))
        return self[depth]
