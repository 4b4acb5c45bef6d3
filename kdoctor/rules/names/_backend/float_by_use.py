"""What is done with a tensor tells that it holds no integers: `K.std(x)` raises for them.

On Keras 2 TensorFlow took no integers in `exp`, `sqrt`, `sigmoid` and their like, and no float and
integer in one operation. Code that gets there has floats, or never worked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.keras_api import split_root
from kdoctor.rules.names._backend.result_types import EITHER_TYPE
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

# `test_float_by_use.py` passes integers to each of them on Keras 2.
RAISE_FOR_INTEGERS = frozenset({
    "exp", "log", "sqrt", "sin", "cos", "sigmoid", "softmax", "softplus", "softsign", "tanh",
    "std", "var", "logsumexp", "rsqrt", "log1p", "expm1", "erf",
})  # fmt: skip
_BRANCHES = (
    cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.With, cst.Match, cst.FunctionDef,
    cst.ClassDef, cst.Lambda, cst.IfExp, cst.BooleanOperation, cst.ListComp, cst.SetComp,
    cst.DictComp, cst.GeneratorExp, cst.Else, cst.ExceptHandler, cst.Finally, cst.MatchCase,
)  # fmt: skip
_WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_LEAVE = (cst.Return, cst.Raise, cst.Break, cst.Continue, cst.Yield)
_KEEP_THE_TYPE = (cst.Add, cst.Subtract, cst.Multiply)

LeafOf = Callable[[cst.Call], str | None]
"""The last part of the name of a known function."""
IsFloat = Callable[[cst.BaseExpression], bool]


class FloatByUse:
    """Answers about one place of a module: what must be true whenever it is reached."""

    def __init__(
        self,
        module: Module,
        place: cst.BaseExpression,
        leaf_of: LeafOf,
        is_float: IsFloat,
        same_type: frozenset[str],
    ) -> None:
        self._module = module
        self._place = place
        self._leaf_of = leaf_of
        self._is_float = is_float
        self._same_type = same_type
        self._around = self._branches(place)
        self._asked: set[int] = set()

    def holds(self) -> bool:
        """Say whether what stands at the place is surely no integer."""
        node = self._place
        if self._flows_into_floats(node):
            return True
        return isinstance(node, cst.Name) and self._name_does(node)

    def _name_does(self, name: cst.Name) -> bool:
        uses = list(self._uses(name))
        return any(self._is_reached(each) and self._flows_into_floats(each) for each in uses)

    def _uses(self, name: cst.Name) -> Iterator[cst.Name]:
        """Yield each read of a name that is bound once in a function, to one value."""
        bindings = self._module.scope_of(name).bindings_of(name.value)
        function = bindings[0].scope.node if len(bindings) == 1 else None
        if not isinstance(function, cst.FunctionDef):
            return
        if bindings[0].kind not in {BindingKind.PARAMETER, BindingKind.ASSIGN} or bindings[0].path:
            return
        if id(bindings[0]) in self._asked:
            return
        self._asked.add(id(bindings[0]))
        for node in own_nodes(function.body):
            if isinstance(node, cst.Name) and node.value == name.value:
                parent = self._module.parent(node)
                if isinstance(parent, cst.Attribute) and parent.attr is node:
                    continue
                if not isinstance(parent, cst.AssignTarget) and not (
                    isinstance(parent, cst.Arg) and parent.keyword is node
                ):
                    yield node

    def _is_reached(self, node: cst.CSTNode) -> bool:
        """Say whether code that gets to the place gets to ``node`` as well."""
        if not self._branches(node) <= self._around:
            return False
        first, last = sorted((self._module.span(node), self._module.span(self._place)))
        function = next(
            (each for each in self._module.ancestors(node) if isinstance(each, cst.FunctionDef)),
            None,
        )
        return function is not None and not any(
            first.start < span.start and span.end <= last.start
            for each in descendants(function.body)
            if isinstance(each, _LEAVE)
            for span in [self._module.span(each)]
        )

    def _branches(self, node: cst.CSTNode) -> frozenset[cst.CSTNode]:
        return frozenset(
            each for each in self._module.ancestors(node) if isinstance(each, _BRANCHES)
        )

    def _flows_into_floats(self, node: cst.BaseExpression) -> bool:
        """Say whether an expression goes, with its type, into what takes no integers."""
        parent = self._module.parent(node)
        match parent:
            case cst.BinaryOperation() if isinstance(parent.operator, _KEEP_THE_TYPE):
                other = parent.right if parent.left is node else parent.left
                return self._is_float(other) or self._flows_into_floats(parent)
            case cst.UnaryOperation(operator=cst.Minus()):
                return self._flows_into_floats(parent)
            case cst.Subscript() if parent.value is node:
                return self._flows_into_floats(parent)
            case cst.Arg():
                return self._is_passed_on(parent)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
                return self._name_does(target)
        return False

    def _is_passed_on(self, argument: cst.Arg) -> bool:
        call = self._module.parent(argument)
        if not isinstance(call, cst.Call) or argument.keyword or argument.star:
            return False
        leaf = None if self._is_of_keras_3(call) else self._leaf_of(call)
        if leaf in EITHER_TYPE and argument in call.args[:2]:
            return self._flows_into_floats(call)
        if call.args[0] is not argument:
            return False
        if leaf in RAISE_FOR_INTEGERS:
            return True
        return leaf in self._same_type and self._flows_into_floats(call)

    def _is_of_keras_3(self, call: cst.Call) -> bool:
        """Say whether it calls ``keras.ops``, which makes floats of integers where others raise."""
        split = split_root(self._module.qualified(call.func) or "")
        return split is not None and split[1].startswith("ops.")


def is_of_trained_model(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is what a model gives whose weights are trained by a tape in the same file.

    Of integers a tape has no gradients, and an optimizer of Keras 2 took none for all weights.
    """
    made = value_of(module, node)
    model = made.func if isinstance(made, cst.Call) else None
    kind = module.type_of(model) if isinstance(model, cst.Name) else None
    if not isinstance(model, cst.Name) or kind is None or kind.kind is not Kind.MODEL:
        return False
    bound = module.bindings_at(model)
    return len(bound) == 1 and any(
        module.bindings_at(each) == bound for each in _trained_by_a_tape(module)
    )


def _trained_by_a_tape(module: Module) -> Iterator[cst.Name]:
    """Yield ``model`` of each ``tape.gradient(loss, model.trainable_weights)``."""
    for each in module.attributes:
        call = module.parent(each) if each.attr.value == "gradient" else None
        if isinstance(call, cst.Call) and call.func is each:
            match passed(call, "sources", 1):
                case cst.Attribute(value=cst.Name() as model, attr=cst.Name(value=weights)):
                    if weights in _WEIGHTS:
                        yield model
