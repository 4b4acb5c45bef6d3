"""Values that surely are no ``tf.Variable``: what Keras passes, and what is calculated."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.backends.reach import methods_run
from kdoctor.analysis.calls import positional_arguments
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.fixed_points import GreatestFixedPoint
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Context, Kind

# What Keras passes tensors to, of the methods that it calls.
_ENTERED: Final = {
    Kind.LAYER: frozenset({"call", "compute_mask"}),
    Kind.MODEL: frozenset({"call", "compute_mask", "compute_loss"}),
    Kind.LOSS: frozenset({"call"}),
    Kind.METRIC: frozenset({"update_state"}),
}
_VALUES: Final = (Context.CALL, Context.LOSS_OR_METRIC)
_LAYERS: Final = (Kind.LAYER, Kind.MODEL)
_TENSORS: Final = (Kind.TENSOR, Kind.EAGER)
# Functions that may return what they were given, by the last part of their names.
_HAND_ON: Final = frozenset({"cast", "to_double", "to_float", "to_int32", "to_int64"})
_OF_VARIABLES: Final = ("variable", "assign", "nest.", "scatter_", "update", "tensorflow.keras.")
_OF_PYTHON: Final = frozenset({"abs", "bool", "float", "int", "len", "range", "round"})


def is_no_raw_variable(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a value surely is no ``tf.Variable``, which TensorFlow may hand on unchanged.

    That is what Keras passes to ``call`` and to losses, and what functions calculate. Weights of
    layers are variables of TensorFlow in Keras 2.
    """
    return _Origins(module, _answers(module)).holds(node)


@once
def _answers(_: Module) -> GreatestFixedPoint[frozenset[int]]:
    return GreatestFixedPoint()


class _Origins:
    """Where the values of one module come from. The answers are kept with the module."""

    def __init__(self, module: Module, answers: GreatestFixedPoint[frozenset[int]]) -> None:
        self._module = module
        self._answers = answers

    def holds(self, node: cst.BaseExpression) -> bool:
        """Say whether a value is no raw variable, and has none for its elements."""
        found = self._module.type_of(node)
        if found is not None and found.kind is not Kind.LIST:
            return found.kind in _TENSORS
        match node:
            case cst.Comparison() | cst.BinaryOperation() | cst.UnaryOperation():
                return True
            case cst.Integer() | cst.Float() | cst.SimpleString():
                return True
            case cst.BooleanOperation(left=one, right=other) | cst.IfExp(body=one, orelse=other):
                return self.holds(one) and self.holds(other)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                return all(self.holds(each.value) for each in elements)
            case cst.Subscript(value=value):
                return self.holds(value)
            case cst.Attribute(attr=cst.Name(value="shape")):
                return True
            case cst.Call():
                return self._returns_none(node)
            case cst.Name(value="None" | "True" | "False"):
                return True
            case cst.Name():
                bindings = self._module.bindings_at(node)
                return bool(bindings) and self._answers.holds(
                    frozenset(map(id, bindings)), lambda: all(map(self._binds_none, bindings))
                )
        return False

    def _binds_none(self, binding: Binding) -> bool:
        match binding:
            case Binding(kind=BindingKind.PARAMETER, node=cst.Param() as parameter):
                return self._takes_none(parameter)
            case Binding(kind=BindingKind.ASSIGN | BindingKind.LOOP, value=value):
                return value is not None and self.holds(value)
            case Binding(kind=BindingKind.AUGMENT):
                return True  # the sum
        return False

    def _takes_none(self, parameter: cst.Param) -> bool:
        if parameter.default is not None and not self.holds(parameter.default):
            return False
        function = self._module.parent(self._module.parent(parameter) or parameter)
        if isinstance(function, cst.FunctionDef) and _is_entered(self._module, function):
            every = [*function.params.posonly_params, *function.params.params]
            is_self = parameter.name.value == "self" and parameter is every[0]
            return not is_self and parameter in (*every, *function.params.kwonly_params)
        if not isinstance(function, cst.FunctionDef):
            return False
        if self._module.name_may_be_imported_elsewhere(function.name.value):
            return False  # another file may pass a variable
        points_to = points_to_of(self._module)
        calls = points_to.callers(function)
        passed = [points_to.passed(each, parameter) or parameter.default for each in calls]
        return bool(passed) and all(each is not None and self.holds(each) for each in passed)

    def _returns_none(self, call: cst.Call) -> bool:
        made_by = self._module.type_of(call.func)
        if made_by is not None:
            return made_by.kind in _LAYERS
        if isinstance(call.func, cst.Name) and call.func.value in _OF_PYTHON:
            return self._module.scope_of(call.func).owner(call.func.value) is None
        name = by_the_short_way(self._module.qualified(call.func) or "")
        split = split_root(name)
        if split is not None:
            is_known = split[1].startswith(("ops.", "random.", "activations.", "backend."))
            short = split[1] if is_known else ""
        else:
            short = name if name.startswith(("tensorflow.", "numpy.")) else ""
        if not short or any(each in short for each in _OF_VARIABLES):
            return False
        if short.rpartition(".")[2] in _HAND_ON:
            given = positional_arguments(call)
            return bool(given) and self.holds(given[0].value)
        return short.rpartition(".")[2].islower()  # no class


def _is_entered(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether Keras itself calls a function, with tensors."""
    block = module.parent(function)
    owner = None if block is None else module.parent(block)
    if isinstance(owner, cst.ClassDef):
        kind = kind_of_class(module, owner)
        name = function.name.value
        return (
            kind is not None
            and name in _ENTERED.get(kind, ())
            and name in methods_run(module, owner)
        )
    return module.context_of(function.body) in _VALUES
