"""How Python's AttributeError names the owner of a member, and what else is read off the owner."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence
from kdoctor.keras_api.surface import without_legacy
from kdoctor.rules.members._advice import is_gone_in_private
from kdoctor.syntax import Module
from kdoctor.value_types import Kind, Type

# Measured on Keras 3.15.1 with TensorFlow 2.21.
_CLASSES = {
    Kind.TENSOR: "KerasTensor",
    Kind.EAGER: "tensorflow.python.framework.ops.EagerTensor",
    Kind.VARIABLE: "Variable",
    Kind.KERAS_HISTORY: "KerasHistory",
}
# In `model.metrics` Keras 3 has an object that holds those of `compile`, of a private class.
_OF_COMPILED_METRICS = frozenset({"metrics"})
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
    if owner.is_tf_variable:
        return "a `tf.Variable`"
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


def asks_for_several_calls(module: Module) -> bool:
    """Say whether the file asks for more than the first call of a layer."""
    indices = [
        use.called.args[0].value
        for use in module.members
        if use.member.startswith("get_") and use.member.endswith("_at")
        if use.called is not None and use.called.args
    ]
    return any(not isinstance(each, cst.Integer) or each.value != "0" for each in indices)


def last_release_with(facts: TargetFacts, owner: Type, member: str) -> str | None:
    """Return the last release that had the member; None where the target may have it."""
    if owner.is_tf_variable:
        return None  # `tf.Variable`, which is TensorFlow's
    if owner == Type(Kind.METRIC) and member in _OF_COMPILED_METRICS:
        return None
    if is_gone_in_private(owner.kind, member):
        return "2"
    if facts.member(owner, member) is not Presence.MISSING:
        return None
    plain = without_legacy(owner.qualified or "")
    if plain != owner.qualified and owner.qualified is not None:
        # What raises is the class, a stub: KD105 tells of it, and what is written for it has these.
        today = Type(owner.kind, plain.rpartition(".")[2], plain)
        if facts.member(today, member) is not Presence.MISSING:
            return None
    return facts.member_until(owner, member)
