"""Tensors that code of TensorFlow made itself: TensorFlow's, whatever backend Keras has."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax import Module

_ROOT = "tensorflow."
_KERAS = "tensorflow.keras."


def is_made_by_tensorflow(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression, or some value of a name, is what a function of TensorFlow gives.

    ``if not isinstance(x, tf.Tensor): x = tf.convert_to_tensor(x)``: after that it surely is.
    """
    if isinstance(node, cst.Name):
        return any(
            isinstance(each.value, cst.Call) and _is_of_tensorflow(module, each.value)
            for each in module.scope_of(node).bindings_of(node.value)
        )
    return isinstance(node, cst.Call) and _is_of_tensorflow(module, node)


def _is_of_tensorflow(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func) or ""
    return name.startswith(_ROOT) and not name.startswith(_KERAS)
