"""What the form of an expression tells about its value: sign, type, shape.

Only what is certain counts. A local name is as good as what is assigned to it, if everything that
may have been assigned to it by then is known to hold.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import libcst as cst

from kdoctor.analysis.calls import passed, positional_arguments
from kdoctor.analysis.dataflow.possible_values import all_arguments_of
from kdoctor.analysis.fixed_points import Expansion, GreatestFixedPoint
from kdoctor.analysis.node_values import (
    has_number_as_default,
    is_prediction,
    rank_as_written,
    values_of_member,
)
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.rules.names._backend.float_by_use import FloatByUse, is_of_trained_model
from kdoctor.rules.names._backend.result_types import (
    ARITHMETIC,
    BOOL,
    EITHER_TYPE,
    ELEMENTWISE,
    FIRST_ONLY,
    FLOAT,
    FLOAT_LAYERS,
    INPUT_ARGUMENTS,
    LIBRARIES,
    MADE_AS_FLOAT,
    NOT_NEGATIVE,
    REDUCING,
    SAME_SIGN,
    SAME_TYPE,
    TYPE_OF_PREDICTION,
)
from kdoctor.rules.names._backend.self_attributes import all_kept_in
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

Shape = frozenset[tuple[str, int]]
"""The tensors, by name and scope, that stretch over each other: none for a scalar."""


class ValueFacts:
    """Answers for the expressions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._answers: GreatestFixedPoint[tuple[str, object]] = GreatestFixedPoint()
        self._shapes: Expansion[int, Shape | None] = Expansion()
        self._ranked: set[int] = set()

    # The answers

    def is_not_integer(self, node: cst.BaseExpression) -> bool:
        """Say whether the numbers are surely floats or bools."""
        match node:
            case cst.Float() | cst.Comparison():
                return True
            case cst.BinaryOperation(operator=cst.Divide()):
                return True
            case cst.BinaryOperation():
                # TensorFlow takes no floats and integers in one operation.
                return self.is_not_integer(node.left) or self.is_not_integer(node.right)
            case cst.UnaryOperation(operator=cst.Minus()):
                return self.is_not_integer(node.expression)
            case cst.IfExp():
                return self.is_not_integer(node.body) and self.is_not_integer(node.orelse)
            case cst.Subscript():
                return self.is_not_integer(node.value)
            case cst.Call():
                return self._makes_no_integers(node)
            case cst.Attribute():
                return self._is_float_weight(node)
            case cst.Name():
                return is_prediction(self._module, node) or self._of_all_bindings(
                    "type", node, self.is_not_integer
                )
        return False

    def works_as_no_integer(self, node: cst.BaseExpression) -> bool:
        """Say whether it is no integer, or would have raised on Keras 2 if it were one."""
        if self.is_not_integer(node):
            return True
        match node:
            case cst.BinaryOperation(operator=cst.Add() | cst.Subtract() | cst.Multiply()):
                if self.works_as_no_integer(node.left) or self.works_as_no_integer(node.right):
                    return True
            case cst.Call() if self._leaf(node) in SAME_TYPE and (
                first := positional_arguments(node)
            ):
                if self.works_as_no_integer(first[0].value):
                    return True
        use = FloatByUse(self._module, node, self._leaf, self.is_not_integer, SAME_TYPE)
        return use.holds()

    def is_not_negative(self, node: cst.BaseExpression) -> bool:
        """Say whether all numbers are surely 0 or more (or NaN)."""
        match node:
            case cst.Integer() | cst.Float():
                return True
            case cst.BinaryOperation(operator=cst.Power()):
                return literal(node.right) in (2, 4) or self.is_not_negative(node.left)
            case cst.BinaryOperation(operator=cst.Add() | cst.Multiply() | cst.Divide()):
                squared = isinstance(node.operator, cst.Multiply) and (
                    isinstance(node.left, cst.Name) and node.left.deep_equals(node.right)
                )
                both = self.is_not_negative(node.left) and self.is_not_negative(node.right)
                return squared or both
            case cst.IfExp():
                return self.is_not_negative(node.body) and self.is_not_negative(node.orelse)
            case cst.Subscript():
                return self.is_not_negative(node.value)
            case cst.Call():
                return self._makes_no_negatives(node)
            case cst.Name():
                return self._of_all_bindings("sign", node, self.is_not_negative)
        return False

    def is_tensor(self, node: cst.BaseExpression) -> bool:
        """Say whether it is surely one tensor or variable: no list, no NumPy array, no number."""
        kind = self._module.type_of(node)
        if kind is not None:
            return kind.kind in (Kind.TENSOR, Kind.EAGER, Kind.VARIABLE)
        match node:
            case cst.Call():
                leaf = self._leaf(node)
                known = ELEMENTWISE | FLOAT | SAME_TYPE | EITHER_TYPE | REDUCING
                return leaf in known - {"stop_gradient", "identity", "epsilon", "cast_to_floatx"}
            case cst.BinaryOperation():
                return self.is_tensor(node.left) or self.is_tensor(node.right)
            case cst.UnaryOperation(operator=cst.Minus()):
                return self.is_tensor(node.expression)
            case cst.Subscript():
                return self.is_tensor(node.value)
            case cst.Name():
                return is_prediction(self._module, node) or self._of_all_bindings(
                    "tensor", node, self.is_tensor
                )
        return False

    def is_never_variable(self, node: cst.BaseExpression) -> bool:
        """Say whether a tensor surely is no variable: nothing can be assigned to it."""
        kind = self._module.type_of(node)
        if kind is not None:
            return kind.kind is Kind.TENSOR
        if isinstance(node, cst.Name):
            return is_prediction(self._module, node) or self._of_all_bindings(
                "no variable", node, self.is_never_variable
            )
        return self.is_tensor(node)  # what is calculated

    def is_no_tensor(self, node: cst.BaseExpression) -> bool:
        """Say whether it is surely a Python number or a NumPy array."""
        match node:
            case cst.Integer() | cst.Float():
                return True
            case cst.UnaryOperation(operator=cst.Minus()):
                return self.is_no_tensor(node.expression)
            case cst.BinaryOperation():
                return self.is_no_tensor(node.left) and self.is_no_tensor(node.right)
            case cst.Call():
                return (self._module.qualified(node.func) or "").startswith("numpy.")
            case cst.Name():
                bindings = self._module.scope_of(node).bindings_of(node.value)
                if len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER:
                    return has_number_as_default(bindings[0])
                return self._of_all_bindings("no tensor", node, self.is_no_tensor)
        return False

    def is_whole(self, node: cst.BaseExpression) -> bool:
        """Say whether it is surely a Python integer, or one size of a tensor."""
        match node:
            case cst.Integer():
                return True
            case cst.UnaryOperation(operator=cst.Minus()):
                return self.is_whole(node.expression)
            case cst.BinaryOperation(
                operator=cst.Add() | cst.Subtract() | cst.Multiply() | cst.FloorDivide()
            ):
                return self.is_whole(node.left) and self.is_whole(node.right)
            case cst.Call(func=cst.Name(value="len" | "int" as name) as function):
                return self._module.is_free(name, [function])
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index())]):
                if isinstance(value, cst.Attribute):
                    return value.attr.value == "shape"
                return isinstance(value, cst.Call) and self._leaf(value) in ("shape", "int_shape")
            case cst.Name():
                return self._of_all_bindings("whole", node, self.is_whole)
            case cst.Attribute():
                kept = all_kept_in(self._module, node)
                return bool(kept) and all(type(literal(each)) is int for each in kept)
        return False

    def is_text(self, node: cst.BaseExpression) -> bool:
        """Say whether it is surely a string."""
        if isinstance(node, cst.Name):
            return self._of_all_bindings("text", node, self.is_text)
        return isinstance(node, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString)

    def is_function(self, node: cst.BaseExpression) -> bool:
        """Say whether a name is that of a function which the module defines."""
        if not isinstance(node, cst.Name):
            return False
        bindings = self._module.scope_of(node).bindings_of(node.value)
        return bool(bindings) and all(each.kind is BindingKind.FUNCTION for each in bindings)

    def shape(self, node: cst.BaseExpression) -> Shape | None:
        """Return which tensors the shape comes from, element by element; None if unknown."""
        match node:
            case cst.Integer() | cst.Float():
                return frozenset()
            case cst.BinaryOperation() if isinstance(node.operator, ARITHMETIC):
                return self._shape_of_all([node.left, node.right])
            case cst.Comparison(comparisons=[one]):
                return self._shape_of_all([node.left, one.comparator])
            case cst.UnaryOperation(operator=cst.Minus() | cst.BitInvert()):
                return self.shape(node.expression)
            case cst.Call():
                return self._shape_of_call(node)
            case cst.Name():
                return self._shape_of_name(node)
        return None

    def rank(self, node: cst.BaseExpression) -> int | None:
        """Return how many axes a tensor surely has, as far as the layer that made it tells."""
        match node:
            case cst.Name():
                bindings = self._module.scope_of(node).bindings_of(node.value)
                value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
                if value is None or id(value) in self._ranked:
                    return None
                self._ranked.add(id(value))
                try:
                    return self.rank(value)
                finally:
                    self._ranked.discard(id(value))
            case cst.Call(func=cst.Name() | cst.Attribute()):
                split = split_root(self._module.qualified(node.func) or "")
                if split is None or split[1].rpartition(".")[2] != "Input":
                    return None
                shape = passed(node, "shape", 0)
                if isinstance(shape, cst.Tuple | cst.List):
                    return len(shape.elements) + 1
            case cst.Attribute():
                return self._rank_of_weight(node)
        return None

    def _rank_of_weight(self, node: cst.Attribute) -> int | None:
        """Return how many axes a weight has by the shape that its layer writes out."""
        ranks = {rank_as_written(each) for each in self._made_as_weight(node)}
        return ranks.pop() if len(ranks) == 1 else None

    def _made_as_weight(self, node: cst.Attribute) -> list[cst.BaseExpression]:
        """Return what the class around it assigns to a weight; nothing for all else."""
        kind = self._module.type_of(node)
        if kind is None or kind.kind is not Kind.VARIABLE:
            return []
        cls = next(
            (each for each in self._module.ancestors(node) if isinstance(each, cst.ClassDef)), None
        )
        return [] if cls is None else list(values_of_member(self._module, cls, node.attr.value))

    # Calls

    def _leaf(self, call: cst.Call) -> str | None:
        """Return the last part of a known function's name."""
        name = self._module.qualified(call.func)
        if name is None:
            return None
        split = split_root(name)
        parent, _, leaf = (split[1] if split else name).rpartition(".")
        if split:
            return leaf if parent in ("backend", "ops") else None
        return leaf if f"{parent}." in LIBRARIES else None

    def _makes_no_integers(self, call: cst.Call) -> bool:
        leaf, arguments = self._leaf(call), _by_position(call)
        if leaf in FLOAT or leaf in BOOL:
            return True
        if leaf == "cast":
            return self._is_float_dtype(passed(call, "dtype", 1))
        if leaf == "one_hot" and self._is_of_the_backend(call):
            return True
        if leaf in MADE_AS_FLOAT and self._is_of_the_backend(call):
            dtype = passed(call, "dtype", 1)
            return dtype is None or self._is_float_dtype(dtype)
        if leaf in SAME_TYPE and arguments:
            return self.is_not_integer(arguments[0])
        if leaf in EITHER_TYPE:
            return any(self.is_not_integer(each) for each in arguments[:2])
        if leaf == "switch":
            return any(self.is_not_integer(each) for each in arguments[1:3])
        return self._is_loss(call) or self._is_float_layer(call) or self._is_float_input(call)

    def _makes_no_negatives(self, call: cst.Call) -> bool:
        leaf, arguments = self._leaf(call), _by_position(call)
        if leaf in NOT_NEGATIVE:
            return True
        if leaf == "relu":
            return len(call.args) == 1
        if leaf in SAME_SIGN and arguments:
            return self.is_not_negative(arguments[0])
        if leaf == "maximum":
            return any(self.is_not_negative(each) for each in arguments[:2])
        if leaf == "clip":
            low = passed(call, "min_value", 1)
            return low is not None and self.is_not_negative(low)
        return False

    def _shape_of_call(self, call: cst.Call) -> Shape | None:
        leaf, arguments = self._leaf(call), _by_position(call)
        if leaf in REDUCING and len(call.args) == 1:
            return frozenset()
        if leaf == "epsilon":
            return frozenset()
        if leaf in FIRST_ONLY:
            return self.shape(arguments[0]) if arguments else None
        if leaf in ELEMENTWISE and len(arguments) == len(call.args):
            return self._shape_of_all(arguments)
        return None

    def _shape_of_all(self, nodes: list[cst.BaseExpression]) -> Shape | None:
        found: Shape = frozenset()
        for node in nodes:
            shape = self.shape(node)
            if shape is None:
                return None
            found |= shape
        return found

    def _shape_of_name(self, node: cst.Name) -> Shape | None:
        bindings = self._module.scope_of(node).bindings_of(node.value)
        if len(bindings) != 1:
            return None
        binding = bindings[0]
        if binding.kind is BindingKind.PARAMETER and has_number_as_default(binding):
            return frozenset()
        itself, value = frozenset({(node.value, id(binding.scope))}), binding.value
        if binding.kind is not BindingKind.ASSIGN or value is None or binding.path:
            return itself
        known = self._shapes.of(id(binding), itself, lambda: self.shape(value))
        return itself if known is None else known

    def _is_of_the_backend(self, call: cst.Call) -> bool:
        split = split_root(self._module.qualified(call.func) or "")
        return split is not None and split[1].startswith("backend.")

    def _is_loss(self, call: cst.Call) -> bool:
        """Losses and metrics as functions give floats, or what they are given for predictions."""
        split = split_root(self._module.qualified(call.func) or "")
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        if parent not in ("losses", "metrics", "objectives") or not leaf.islower():
            return False
        predicted = passed(call, "y_pred", 1) if leaf in TYPE_OF_PREDICTION else None
        return leaf not in TYPE_OF_PREDICTION or (
            predicted is not None
            and (self.is_not_integer(predicted) or is_of_trained_model(self._module, predicted))
        )

    def _is_float_layer(self, call: cst.Call) -> bool:
        made = self._module.type_of(call.func)
        if made is not None and made.kind is Kind.LOSS:
            return True  # a loss converts what it is given
        return made is not None and made.kind is Kind.LAYER and made.cls in FLOAT_LAYERS

    def _is_float_input(self, call: cst.Call) -> bool:
        """Say whether it is ``keras.Input`` of a float type, which is meant where none is said."""
        split = split_root(self._module.qualified(call.func) or "")
        if (
            split is None
            or split[1].rpartition(".")[2] != "Input"
            or len(positional_arguments(call)) > 1
        ):
            return False
        given = {each.keyword.value if each.keyword else each.star for each in call.args}
        dtype = passed(call, "dtype", 3)
        return given <= INPUT_ARGUMENTS and (dtype is None or self._is_float_dtype(dtype))

    def _is_float_weight(self, node: cst.Attribute) -> bool:
        """Say whether it is a weight that the layer adds, of the type that its numbers have."""
        made = self._made_as_weight(node)
        return bool(made) and all(
            isinstance(each, cst.Call)
            and isinstance(each.func, cst.Attribute)
            and each.func.attr.value == "add_weight"
            and ((dtype := passed(each, "dtype", 2)) is None or self._is_float_dtype(dtype))
            for each in made
        )

    def _is_float_dtype(self, node: cst.BaseExpression | None) -> bool:
        match node:
            case cst.SimpleString():
                return str(literal(node)).startswith(("float", "bfloat", "bool"))
            case cst.Call():
                return self._leaf(node) == "floatx"
            case cst.Attribute():
                name = self._module.qualified(node) or ""
                return name.startswith(("tensorflow.float", "tensorflow.bool", "numpy.float"))
        return False

    # Names

    def _of_all_bindings(
        self, what: str, node: cst.Name, holds: Callable[[cst.BaseExpression], bool]
    ) -> bool:
        values = self._module.bindings_at(node)
        if not values:
            return False
        return self._answers.holds(
            (what, frozenset(map(id, values))),
            lambda: all(self._holds_of(what, each, holds) for each in values),
        )

    def _holds_of(
        self, what: str, binding: Binding, holds: Callable[[cst.BaseExpression], bool]
    ) -> bool:
        value, parameter = binding.value, binding.node
        if binding.kind is BindingKind.PARAMETER and isinstance(parameter, cst.Param):

            def all_hold() -> bool:
                values = all_arguments_of(self._module, parameter)
                return bool(values) and all(map(holds, values))

            return self._answers.holds((what, id(binding)), all_hold)
        if binding.kind is not BindingKind.ASSIGN or binding.path or value is None:
            return False
        return self._answers.holds((what, id(binding)), lambda: holds(value))


def _by_position(call: cst.Call) -> list[cst.BaseExpression]:
    return [each.value for each in positional_arguments(call)]


@once
def inference_of(module: Module) -> ValueFacts:
    """Return what answers for a module: it keeps what it has found out about its names."""
    # A ring would keep the tree until a collector comes: the module keeps this answer.
    return ValueFacts(weakref.proxy(module))
