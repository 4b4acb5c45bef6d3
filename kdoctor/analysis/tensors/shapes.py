"""Shapes that Keras passes to layer methods, and shapes of symbolic tensors."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

GIVEN_A_SHAPE: Final = frozenset({"build", "compute_output_shape"})
"""The methods of a layer to which Keras passes a shape first."""
# They give what a layer or function of one's own gives.
_OF_OTHERS = frozenset({
    *("Bidirectional", "Lambda", "RNN", "SpectralNormalization", "TimeDistributed", "Wrapper"),
})  # fmt: skip


_MAKE_A_TUPLE: Final = frozenset({
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "Bidirectional", "Conv1D", "Conv2D",
    "Conv3D", "Cropping1D", "Cropping2D", "Cropping3D", "Dense", "DepthwiseConv1D",
    "DepthwiseConv2D", "Embedding", "Flatten", "GRU", "GlobalAveragePooling1D",
    "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
    "GlobalMaxPooling3D", "LSTM", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Permute",
    "RepeatVector", "Reshape", "SeparableConv1D", "SeparableConv2D", "SimpleRNN",
    "TimeDistributed", "UpSampling2D", "UpSampling3D", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D",
})  # fmt: skip
"""Layers whose `compute_output_shape` makes a tuple of a list and of a `TensorShape`, too.

`TimeDistributed` refuses the latter.
"""


def is_shape_parameter(module: Module, node: cst.Name) -> bool:
    """Say whether a name is the shape parameter of a user layer's method."""
    owner = module.scope_of(node).owner(node.value)
    function = owner.node if owner is not None else None
    if owner is None or not isinstance(function, cst.FunctionDef):
        return False
    if function.name.value not in GIVEN_A_SHAPE or len(owner.bindings[node.value]) != 1:
        return False
    parameters = function.params.params
    return (
        len(parameters) > 1
        and parameters[1].name.value == node.value
        and _layer_around(module, function) is not None
    )


def is_shape_tuple(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression is a symbolic tensor's shape, or a part of one."""
    if isinstance(node, cst.Name):
        whole = whole_of(module, node)  # of a layer with several inputs
        return (
            is_shape_parameter(module, node)
            or ((value := value_of(module, node)) is not node and is_shape_tuple(module, value))
            or (isinstance(whole, cst.Name) and is_shape_parameter(module, whole))
        )
    match node:
        case cst.Attribute(value=cst.Name()) if is_stored_build_shape(module, node):
            return True
        case cst.Attribute(attr=cst.Name(value="shape")):
            return is_symbolic(module, node.value)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape")) as function):
            return is_symbolic(module, function.value)
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="compute_output_shape"), value=layer),
            args=[cst.Arg(keyword=None, star="", value=given)],
        ):
            if class_made(module, layer) in _MAKE_A_TUPLE:
                return True
            is_tuple = isinstance(value_of(module, given), cst.Tuple)
            return (is_tuple or is_shape_tuple(module, given)) and (
                returns_shape_tuple(module, layer) or _is_model_of_keras(module, layer)
            )
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return is_shape_tuple(module, node.value)
        case cst.Subscript(value=cst.Name() as shapes, slice=[cst.SubscriptElement()]):
            return is_shape_parameter(module, shapes)  # of a layer with several inputs
    return False


def whole_of(module: Module, node: cst.Name) -> cst.BaseExpression | None:
    """Return what a name only ever is one item of: ``for name in whole``, ``name, _ = whole``."""
    owner = module.scope_of(node).owner(node.value)
    match [] if owner is None else owner.bindings[node.value]:
        case [
            Binding(kind=BindingKind.LOOP, path=(), value=whole)
            | Binding(kind=BindingKind.ASSIGN, path=(int(),), value=whole)
        ]:
            return whole
    return None


def returns_shape_tuple(module: Module, layer: cst.BaseExpression) -> bool:
    """Say whether it is a layer of Keras itself: one's own may return a `TensorShape`."""
    made = module.type_of(layer)
    return (
        made is not None
        and made.kind is Kind.LAYER
        and made.cls not in _OF_OTHERS
        and made.is_of_imported_class
    )


def class_made(module: Module, layer: cst.BaseExpression) -> str | None:
    """Return the class of a layer that is one of Keras itself."""
    made = module.type_of(layer)
    is_one = made is not None and made.kind is Kind.LAYER and made.is_of_imported_class
    return made.cls if made is not None and is_one else None


def _is_model_of_keras(module: Module, model: cst.BaseExpression) -> bool:
    """Say whether it is a functional model, or a `Sequential` of layers of Keras alone."""
    made = module.type_of(model)
    if made is None or made.kind is not Kind.MODEL:
        return False
    if made.cls == "Functional":
        return True
    created = value_of(module, model)
    if made.cls != "Sequential" or not isinstance(created, cst.Call) or not created.args:
        return False
    layers = elements_of(created.args[0].value) or []
    return bool(layers) and all(class_made(module, each) is not None for each in layers[-1:])


def _layer_around(module: Module, function: cst.FunctionDef) -> cst.ClassDef | None:
    """Return the user's layer or model of which a function is a method."""
    body = module.parent(function)
    cls = None if body is None else module.parent(body)
    if not isinstance(cls, cst.ClassDef):
        return None
    return cls if kind_of_class(module, cls) in {Kind.LAYER, Kind.MODEL} else None


def is_stored_build_shape(module: Module, node: cst.Attribute) -> bool:
    """Say whether ``self.shape`` is the shape that `build` stored.

    What else it may be set to must not be a `TensorShape`, as far as the class shows.
    """
    receiver = _receiver(module, node)
    cls = None if receiver is None else _layer_around(module, receiver)
    if cls is None:
        return False
    values = [
        each.value
        for each in descendants(cls)
        if isinstance(each, cst.Assign)
        for target in each.targets
        if isinstance(target.target, cst.Attribute)
        if target.target.attr.value == node.attr.value
        if _receiver(module, target.target) is not None
    ]
    return any(
        isinstance(each, cst.Name) and is_shape_parameter(module, each) for each in values
    ) and (not any(_may_be_tensorflows(module, each) for each in values))


def _receiver(module: Module, node: cst.Attribute) -> cst.FunctionDef | None:
    """Return the method whose ``self`` an attribute is read from."""
    if not isinstance(node.value, cst.Name):
        return None
    owner = module.scope_of(node).owner(node.value.value)
    function = None if owner is None else owner.node
    if not isinstance(function, cst.FunctionDef) or not function.params.params:
        return None
    return function if function.params.params[0].name.value == node.value.value else None


def _may_be_tensorflows(module: Module, value: cst.BaseExpression) -> bool:
    match value:
        case cst.Attribute(attr=cst.Name(value="shape")):
            return not is_symbolic(module, value.value)
        case cst.Call():
            return True  # `tf.TensorShape(shape)`, `x.get_shape()`, or who knows
    return False
