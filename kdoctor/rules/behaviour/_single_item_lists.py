"""Models created with their single output in a list, and the lists that they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, passed
from kdoctor.analysis.dataflow.points_to_by_call import CallFrame, points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MAX_DEPTH = 16  # models that are made of what others give

Models = frozenset[cst.Call]
"""The calls that make models, as they are written."""

_NONE: Models = frozenset()
_Ask = Callable[[cst.CSTNode, CallFrame | None, int], Models]

# Layers that give a list for a list while a model is built: Keras 3.15.1, with each of its layers.
WITH_AN_AXIS_MORE = frozenset({
    "Activation", "ELU", "LeakyReLU", "ReLU", "Rescaling", "UnitNormalization",
})  # fmt: skip
"""Those of them that stack the tensors of the list when the model runs."""
HANDING_ON = WITH_AN_AXIS_MORE | {
    "ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise",
    "Identity", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
}  # fmt: skip


def outputs_of(module: Module, made: cst.Call) -> cst.BaseExpression | None:
    """Return what a call makes a model of inputs and outputs with, None where it makes none."""
    name = module.qualified(made.func)
    kind = module.oracle.class_type(name) if name else None
    given = passed(made, "outputs", 1)
    return None if kind is None or kind.cls != "Functional" or given is None else given


def models_with_one_in_a_list(
    module: Module, facts: TargetFacts
) -> Iterator[tuple[cst.Call, cst.List]]:
    """Yield the calls that make such a model of Keras 3, each with the list."""
    for call in module.nodes(cst.Call):
        outputs = outputs_of(module, call)
        if not isinstance(outputs, cst.List) or not _is_one_tensor(module, outputs):
            continue
        if is_keras_3(facts, module.qualified(call.func)) and not module.is_guarded(call):
            yield call, outputs


def _is_one_tensor(module: Module, outputs: cst.List) -> bool:
    match outputs.elements:
        case [cst.Element(value=value)]:
            found = module.type_of(value)
            return found is not None and found.kind is Kind.TENSOR
    return False


class SingleItemLists:
    """What is such a list in one module, and by which of its models."""

    def __init__(self, module: Module, models: Models) -> None:
        self.module = module
        self.by_call = points_to_by_call_of(module)
        self._models = models
        self._known: dict[tuple[cst.CSTNode, CallFrame | None, str], Models] = {}

    def behind(self, node: cst.CSTNode) -> Models:
        """Return the models by which an expression is a list of one, none where it may be none."""
        runs = self.by_call.runs(node)
        return _NONE.union(*(self._all(self._of_value, node, each, 0) for each in runs))

    def models(self, node: cst.CSTNode) -> Models:
        """Return the models that an expression may be, where each of them gives such a list."""
        runs = self.by_call.runs(node)
        return _NONE.union(*(self._all(self._of_model, node, each, 0) for each in runs))

    def layer(
        self, node: cst.CSTNode, frame: CallFrame | None = None
    ) -> tuple[str, cst.Call] | None:
        """Return the class of the layer of Keras that an expression is, and what makes it."""
        made = self.by_call.made(node, frame)
        split = None if made is None else split_root(self.module.qualified(made.call.func) or "")
        if made is None or split is None or not split[1].startswith("layers."):
            return None
        return split[1].rpartition(".")[2], made.call

    def is_symbolic(self, call: cst.Call) -> bool:
        """Say whether something is called on a symbolic tensor: with values, it gives a tensor."""
        given = call.args[0].value if call.args else None
        return self._is_tensor(call) or (
            isinstance(given, cst.Name) and self._is_part_of_symbolic(given)
        )

    def _is_tensor(self, node: cst.BaseExpression) -> bool:
        found = self.module.type_of(node)
        return found is not None and found.kind is Kind.TENSOR

    def _is_part_of_symbolic(self, name: cst.Name) -> bool:
        """Say whether it is ``b`` of ``a, b = model(x)``, where ``x`` is symbolic."""
        bound = self.module.bindings_at(name)
        return bool(bound) and all(
            len(each.path) == 1 and isinstance(each.value, cst.Call) and self._is_tensor(each.value)
            for each in bound
        )

    def _all(self, ask: _Ask, node: cst.CSTNode, frame: CallFrame | None, depth: int) -> Models:
        """Return what ``ask`` says of each value of an expression, none if it says so of one."""
        key = (node, frame, ask.__name__)
        if key not in self._known:
            self._known[key] = _NONE  # what leads back to itself is none
            values = self.by_call.values(node, frame) if depth <= _MAX_DEPTH else ()
            found = [ask(value, run, depth + 1) for value, run in values]
            self._known[key] = _NONE.union(*found) if all(found) else _NONE
        return self._known[key]

    def _of_model(self, value: cst.CSTNode, frame: CallFrame | None, depth: int) -> Models:
        if not isinstance(value, cst.Call):
            return _NONE
        if value in self._models:
            return frozenset({value})
        outputs = outputs_of(self.module, value)  # `Model(z, model(z))` gives one, too
        if outputs is None or isinstance(outputs, cst.List | cst.Tuple):
            return _NONE
        return self._all(self._of_value, outputs, frame, depth)

    def _of_value(self, value: cst.CSTNode, frame: CallFrame | None, depth: int) -> Models:
        match value:
            case cst.Attribute(attr=cst.Name(value="output"), value=model):
                return self._all(self._of_model, model, frame, depth)
            case cst.Call(args=[first, *_]) if self.is_symbolic(value):
                layer = self.layer(value.func, frame)
                if layer is None:
                    return self._all(self._of_model, value.func, frame, depth)
                if layer[0] in HANDING_ON:
                    return self._all(self._of_value, first.value, frame, depth)
        return _NONE
