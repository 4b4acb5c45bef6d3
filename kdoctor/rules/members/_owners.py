"""How Python's AttributeError names the owner of a member on Keras 3 with TensorFlow."""

from __future__ import annotations

from kdoctor.kinds import Kind, Type

# Measured on Keras 3.15.1 with TensorFlow 2.21.
_CLASSES = {
    Kind.TENSOR: "KerasTensor",
    Kind.EAGER: "tensorflow.python.framework.ops.EagerTensor",
    Kind.VARIABLE: "Variable",
    Kind.KERAS_HISTORY: "KerasHistory",
}
_WORDS = {
    Kind.MODEL: "a model",
    Kind.LAYER: "a layer",
    Kind.TENSOR: "a symbolic tensor",
    Kind.EAGER: "a tensor with values",
    Kind.VARIABLE: "a weight",
    Kind.OPTIMIZER: "an optimizer",
    Kind.KERAS_HISTORY: "a KerasHistory",
}


def owner_in_words(owner: Type) -> str:
    """Return ``a model``, ``a weight``."""
    return _WORDS.get(owner.kind, f"a {owner.kind}")


def class_of(owner: Type) -> str | None:
    """Return the class as an error message names it, None where it is not known."""
    if owner.kind is Kind.VARIABLE and owner.cls is not None:
        return owner.cls
    return _CLASSES.get(owner.kind) or owner.cls


def attribute_error(owner: Type, member: str) -> str:
    """Return the error of ``owner.member``, as far as the class is known."""
    cls = class_of(owner)
    named = f"'{cls}' object" if cls else "object"
    return f"AttributeError: {named} has no attribute '{member}'"


def symbol(owner: Type, member: str) -> str:
    """Return ``Sequential.backend``."""
    return f"{(class_of(owner) or str(owner.kind)).rpartition('.')[2]}.{member}"
