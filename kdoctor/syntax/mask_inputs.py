"""The input of `compute_mask`: Keras 3 runs the method on symbolic tensors, unlike `call`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind, Type

COMPUTE_MASK: Final = "compute_mask"
_TENSOR: Final = Type(Kind.TENSOR, "KerasTensor")
# Functions that people call with a list of tensors, or with anything, too.
_OF_LISTS: Final = frozenset(
    {"accumulate_n", "add_n", "concat", "concatenate", "convert_to_tensor", "parallel_stack"}
    | {"stack", "tuple", "flatten", "map_structure", "is_tensor", "is_keras_tensor", "print"}
)
_ROOTS: Final = frozenset({"tensorflow", "keras", "tf_keras", "keras_core"})
_OF_VALUES: Final = (
    *(cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual),
    *(cst.GreaterThan, cst.GreaterThanEqual),
)
_OF_A_TENSOR: Final = frozenset({"shape", "dtype", "get_shape", "ndim"})


class MaskInputs:
    """Finds the inputs of `compute_mask` in one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes

    def type_of(self, binding: Binding) -> Type | None:
        """Return the type of a parameter that is what `compute_mask` of a layer gets, one tensor.

        Of a layer with several inputs it is a list: nothing is said where the code may think of
        one.
        """
        function = binding.scope.node
        if not isinstance(function, cst.FunctionDef) or function.name.value != COMPUTE_MASK:
            return None
        if function.decorators or len(binding.scope.bindings[binding.name]) != 1:
            return None
        own = self._classes.around(function)
        if own is None or own.type is None or own.type.kind is not Kind.LAYER:
            return None
        if [*function.params.params][1:2] != [binding.node]:
            return None
        told = [*self._told_by_uses(binding)]
        if True not in told or False in told:
            return None
        return _TENSOR

    def _told_by_uses(self, binding: Binding) -> Iterator[bool | None]:
        """Yield of each use whether it takes the parameter for one tensor, None if for anything."""
        for use in self._scope_analysis.uses:
            if use.name != binding.name or binding not in self._resolver.bindings(
                use.name, use.node, use.scope
            ):
                continue
            parent = self._scope_analysis.parents.get(use.node)
            call = None if parent is None else self._scope_analysis.parents.get(parent)
            match parent:
                case cst.Attribute(attr=cst.Name(value=member)):
                    yield True if member in _OF_A_TENSOR else None
                case cst.Subscript(slice=[_, _, *_]) | cst.BinaryOperation():  # `inputs[:, 0]`
                    yield True
                case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)]):
                    yield isinstance(operator, _OF_VALUES) or None
                case cst.Arg(star="") if isinstance(call, cst.Call):
                    yield self._is_one_in(call)
                case _:
                    yield False

    def _is_one_in(self, call: cst.Call) -> bool | None:
        meaning = self._resolver.meaning_of(call.func)
        if meaning is None:  # `len(inputs)`, `isinstance(inputs, list)`, or anyone's function
            return None if isinstance(call.func, cst.Attribute) else False
        root, _, path = meaning.name.partition(".")
        is_theirs = root in _ROOTS and path.rpartition(".")[2] not in _OF_LISTS
        return True if is_theirs else None
