"""Uses of a list of one tensor as if it were the tensor, and their effect on Keras 3.

Each was run on Keras 3.15.1, and most on releases from 3.0 to 3.14: the words of some changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst
from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.calls import keras_version
from kdoctor.analysis.dataflow.statements import statement_slot
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.model import Severity
from kdoctor.rules.behaviour._single_item_lists import (
    HANDING_ON,
    WITH_AN_AXIS_MORE,
    Models,
    SingleItemLists,
    outputs_of,
)
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Scope
from kdoctor.value_types import Kind

_ASKING = frozenset({"isinstance", "len", "type"})
_AWAITING = ("raises", "assertRaises", "suppress")
_LISTED = frozenset(dir(list))
_MADE_BY_SIZE = frozenset({
    "BatchNormalization", "Bidirectional", "Dense", "GRU", "LSTM", "LayerNormalization",
    "MultiHeadAttention", "SimpleRNN",
})  # fmt: skip
_SHAPED = frozenset({"Embedding", "Flatten", "Permute"})
_MERGING = frozenset({
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract",
})  # fmt: skip
REFUSING = _MADE_BY_SIZE | _SHAPED | {
    "AveragePooling2D", "AveragePooling3D", "Conv1D", "Conv1DTranspose", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D",
    "Convolution1D", "Convolution2D", "Convolution3D", "Cropping1D", "Cropping2D", "Cropping3D",
    "DepthwiseConv1D", "DepthwiseConv2D", "GroupNormalization", "Masking", "MaxPool2D", "MaxPool3D",
    "MaxPooling2D", "MaxPooling3D", "Normalization", "PReLU", "RNN", "RepeatVector", "Reshape",
    "Resizing", "SeparableConv1D", "SeparableConv2D", "SpectralNormalization", "TimeDistributed",
    "UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D",
}  # fmt: skip
GIVING_TWO = frozenset({
    "AveragePooling1D", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D",
    "MaxPooling1D",
})  # fmt: skip
_TELLING = REFUSING | GIVING_TWO | WITH_AN_AXIS_MORE
REFUSING_OPS = frozenset({
    "abs", "add", "argmax", "cast", "clip", "divide", "exp", "expand_dims", "log", "max", "maximum",
    "mean", "min", "minimum", "multiply", "power", "relu", "repeat", "reshape", "sigmoid",
    "softmax", "sqrt", "square", "squeeze", "subtract", "sum", "tanh", "tile", "transpose",
})  # fmt: skip
_NESTED = Version("3.4")  # since when outputs may stand in lists of lists, and shapes are computed
_WORDED_ANEW = Version("3.13")  # since when a shape of shapes is refused in these words


class UseOfList(Struct, frozen=True):
    """One place that takes a list of one for the tensor.

    ``node`` is such a list, or gets or gives one (``how``); ``what`` tells what comes of that.
    """

    node: cst.CSTNode
    models: Models
    what: str
    severity: Severity = Severity.ERROR
    how: str = "is"


def uses_of_lists(
    module: Module, facts: TargetFacts, lists: SingleItemLists
) -> Iterator[UseOfList]:
    """Yield the places that surely break, or mean something else, in no order."""
    finder = _Finder(module, facts, lists)
    for use in finder.uses():
        if not use.models or module.is_guarded(use.node) or _is_tried(module, use.node):
            continue
        if not finder.knows(use.node):
            yield use


def _is_tried(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the code around waits for an error: with ``except``, ``raises``, ``suppress``."""
    inner = node
    for each in module.ancestors(node):
        match each:
            case cst.FunctionDef():
                return False
            case cst.Try(handlers=[_, *_]) if inner is each.body:
                return True
            case cst.With():
                managers = (item.item for item in each.items)
                called = (dotted_name(e.func) or "" for e in managers if isinstance(e, cst.Call))
                if any(name.rpartition(".")[2].startswith(_AWAITING) for name in called):
                    return True
        inner = each
    return False


class _Finder:
    def __init__(self, module: Module, facts: TargetFacts, lists: SingleItemLists) -> None:
        self._module = module
        self._lists = lists
        version = keras_version(facts)
        self._of_sizes = (
            "ValueError: Cannot convert '((…), …)' to a shape"
            if version >= _WORDED_ANEW
            else "ValueError: Invalid dtype: tuple"
        )
        self._nests = version >= _NESTED

    def knows(self, node: cst.CSTNode) -> bool:
        """Say whether the code around asks if it is a list, or takes an element out of it."""
        return (self._module.scope_of(node), self._module.source(node)) in self._known

    @cached_property
    def _known(self) -> frozenset[tuple[Scope, str]]:
        asked = (
            call.args[0].value
            for call in self._module.nodes(cst.Call)
            if isinstance(call.func, cst.Name) and call.func.value in _ASKING and call.args
        )
        taken_apart = (
            each.value
            for each in self._module.nodes(cst.Subscript)
            if isinstance(each.slice[0].slice, cst.Index) and len(each.slice) == 1
            if isinstance(each.slice[0].slice.value, cst.Integer)
        )
        return frozenset(
            (self._module.scope_of(each), self._module.source(each))
            for each in (*asked, *taken_apart)
        )

    def uses(self) -> Iterator[UseOfList]:
        for call in self._module.nodes(cst.Call):
            yield from self._called(call)
        for attribute in self._module.attributes:
            yield from self._read(attribute)
        for subscript in self._module.nodes(cst.Subscript):
            yield from self._indexed(subscript)
        for operation in self._module.nodes(cst.BinaryOperation):
            yield from self._calculated(operation)
        for negated in self._module.nodes(cst.UnaryOperation):
            if isinstance(negated.operator, cst.Minus):
                what = "TypeError: bad operand type for unary -: 'list'"
                yield self._use(negated.expression, f"`-` before it is {what}")
        for added in self._added():
            yield from self._in_a_row(added)

    def _use(
        self, node: cst.BaseExpression, what: str, severity: Severity = Severity.ERROR
    ) -> UseOfList:
        return UseOfList(node, self._behind(node), what, severity)

    def _behind(self, node: cst.CSTNode) -> Models:
        is_one = isinstance(node, cst.Name | cst.Attribute | cst.Call)
        return self._lists.behind(node) if is_one else frozenset()

    # -- calls

    def _called(self, call: cst.Call) -> Iterator[UseOfList]:
        if not call.args:
            return
        for each in _plain_elements(outputs_of(self._module, call)):
            yield self._use(each, *self._among_outputs())
        name = self._module.qualified(call.func)
        if name is not None:
            yield from self._in_a_row(self._layers_of(call, name))
            yield from self._given_to_function(call, name)
            return
        found = self._lists.layer(call.func) if self._lists.is_symbolic(call) else None
        if found is not None:
            yield from self._given_to_layer(call, *found)

    def _given_to_layer(self, call: cst.Call, layer: str, made: cst.Call) -> Iterator[UseOfList]:
        given = [each.value for each in call.args]
        if layer in _MERGING:
            yield from self._merged(given[0], layer)
        elif layer == "MultiHeadAttention":
            for each in given:
                yield self._use(each, *self._by_layer(layer))
        elif layer in _TELLING:
            yield self._use(given[0], *self._by_layer(layer))
        if layer == "TimeDistributed" and made.args:
            yield self._in_steps(made)

    def _given_to_function(self, call: cst.Call, name: str) -> Iterator[UseOfList]:
        parent, _, leaf = (split_root(name) or ("", ""))[1].rpartition(".")
        if parent == "layers" and leaf.islower() and leaf.title() in _MERGING:
            yield from self._merged(call.args[0].value, leaf.title())
        elif parent == "ops" and leaf in REFUSING_OPS:
            for each in call.args[:2]:
                yield self._use(each.value, f"`{leaf}` rejects it")

    def _merged(self, inputs: cst.BaseExpression, layer: str) -> Iterator[UseOfList]:
        what = f"`{layer}` rejects a list among its inputs"
        if layer in _MERGING - {"Concatenate", "Dot"}:
            what += f": AttributeError: {_called(layer)}"
        for each in _plain_elements(inputs):
            yield self._use(each, what)

    def _in_steps(self, made: cst.Call) -> UseOfList:
        model = made.args[0].value
        error = "ValueError" if self._nests else "NotImplementedError"
        what = f"`TimeDistributed` rejects it: {error}: {_called('TimeDistributed')}"
        return UseOfList(model, self._lists.models(model), what, how="returns")

    def _among_outputs(self) -> tuple[str, Severity]:
        if self._nests:
            what = "among outputs, it is a list in a list, and so is what `predict` returns"
            return what, Severity.CHANGE
        raised = "ValueError: When providing `outputs` as a list/tuple, all values"
        return f"among outputs, it raises {raised} …", Severity.ERROR

    def _by_layer(self, layer: str) -> tuple[str, Severity]:
        if layer in GIVING_TWO:
            return f"`{layer}` returns two tensors for it", Severity.CHANGE
        if layer in WITH_AN_AXIS_MORE:
            return f"`{layer}` turns it into a tensor with an extra axis", Severity.CHANGE
        if layer in _MADE_BY_SIZE:
            return f"`{layer}` on it raises {self._of_sizes}", Severity.ERROR
        if layer in _SHAPED:
            return f"`{layer}` on it raises AttributeError: {_called(layer)}", Severity.ERROR
        return f"`{layer}` rejects it", Severity.ERROR

    # -- layers one behind the other

    def _layers_of(self, call: cst.Call, name: str) -> Sequence[cst.BaseExpression]:
        """Return the layers of ``Sequential([first, second])``."""
        made = self._module.oracle.class_type(name)
        is_one = made is not None and made.cls == "Sequential"
        return [*_plain_elements(call.args[0].value)] if is_one else ()

    def _added(self) -> Iterator[Sequence[cst.BaseExpression]]:
        """Yield the layers that are added to one ``Sequential`` in one block."""
        found: dict[tuple[object, ...], list[cst.BaseExpression]] = {}
        for each in self._module.attributes:
            call, owner = self._module.parent(each), each.value
            if each.attr.value != "add" or not isinstance(call, cst.Call) or not call.args:
                continue
            made = self._module.type_of(owner) if isinstance(owner, cst.Name) else None
            line = statement_slot(self._module, call)
            if line is not None and made is not None and made.cls == "Sequential":
                assert isinstance(owner, cst.Name)
                key = (id(line.block), *self._module.bindings_at(owner))
                found.setdefault(key, []).append(call.args[0].value)
        yield from found.values()

    def _in_a_row(self, layers: Sequence[cst.BaseExpression]) -> Iterator[UseOfList]:
        given: Models = frozenset()  # by which the one before gives a list
        for one in layers:
            found = self._lists.layer(one)
            if found is None:
                given = self._lists.models(one)
                continue
            layer, made = found
            if given and layer in _TELLING:
                yield UseOfList(one, given, *self._by_layer(layer), how="gets")
            given = given if layer in HANDING_ON else frozenset()
            if layer == "TimeDistributed" and made.args:
                yield self._in_steps(made)

    # -- what Python itself does with a list

    def _read(self, attribute: cst.Attribute) -> Iterator[UseOfList]:
        member = attribute.attr.value
        if member not in _LISTED:
            what = (
                f"`.{member}` on it raises AttributeError: 'list' object has no attribute "
                f"'{member}'"
            )
            yield self._use(attribute.value, what)

    def _indexed(self, subscript: cst.Subscript) -> Iterator[UseOfList]:
        match subscript.slice:
            case [_, _, *_]:
                by = "tuple"
            case [cst.SubscriptElement(slice=cst.Index(value=cst.Ellipsis()))]:
                by = "ellipsis"
            case _:
                return
        raised = f"TypeError: list indices must be integers or slices, not {by}"
        yield self._use(subscript.value, f"with such an index, it raises {raised}")

    def _calculated(self, operation: cst.BinaryOperation) -> Iterator[UseOfList]:
        left, right = self._behind(operation.left), self._behind(operation.right)
        if left and right:
            yield UseOfList(operation.left, left | right, *_two_meeting(operation.operator))
        elif left or right:
            other = operation.right if left else operation.left
            told = self._meeting(operation.operator, other, is_left=bool(left))
            if told is not None:
                node = operation.left if left else operation.right
                yield UseOfList(node, left | right, *told)

    def _meeting(
        self, operator: cst.BaseBinaryOp, other: cst.BaseExpression, *, is_left: bool
    ) -> tuple[str, Severity] | None:
        """Return what comes of a list beside something else."""
        number = literal(other)
        if isinstance(number, int | float):
            if isinstance(operator, cst.Multiply) and isinstance(number, int):
                return "`*` repeats the list instead of multiplying", Severity.CHANGE
            raised = "unsupported operand type(s)"
            if isinstance(operator, cst.Multiply):
                raised = "can't multiply sequence by non-int of type 'float'"
            elif isinstance(operator, cst.Add) and is_left:
                raised = f'can only concatenate list (not "{type(number).__name__}") to list'
            return f"with a number, it raises TypeError: {raised}", Severity.ERROR
        found = self._module.type_of(other)
        if found is not None and found.kind is Kind.TENSOR:
            return "with a tensor, it raises ValueError: Invalid dtype: list", Severity.ERROR
        return None


def _called(layer: str) -> str:
    return f"Exception encountered when calling {layer}.call()"


def _two_meeting(operator: cst.BaseBinaryOp) -> tuple[str, Severity]:
    if isinstance(operator, cst.Add):
        return "`+` concatenates two such lists instead of adding", Severity.CHANGE
    return "lists do not support arithmetic: TypeError", Severity.ERROR


def _plain_elements(node: cst.BaseExpression | None) -> Iterator[cst.BaseExpression]:
    """Yield what stands in a list or a tuple that is written out."""
    if isinstance(node, cst.List | cst.Tuple):
        yield from (each.value for each in node.elements if isinstance(each, cst.Element))
