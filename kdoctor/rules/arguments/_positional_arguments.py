"""What layers and models take by position, where Keras 3 takes tensors alone so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind, Type

TRAINING_IS_SECOND: Final = frozenset({
    "AlphaDropout", "BatchNormalization", "Dropout", "GaussianDropout", "GaussianNoise",
    "Sequential", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "TimeDistributed",
})  # fmt: skip
"""What of Keras takes ``training`` behind its input, on Keras 2 as on Keras 3."""
TRAINING: Final = "training"
CALL: Final = "__call__"
KINDS: Final = frozenset({Kind.LAYER, Kind.MODEL})
FUNCTIONAL: Final = "Functional"
_PLAIN_ARGUMENTS: Final = frozenset(
    {"name", "dtype", "trainable", "dynamic", "activity_regularizer"}
)


def parameters(module: Module, facts: TargetFacts, owner: Type) -> Sequence[str] | None:
    """Return what the ``call`` of an object takes by position, None where Keras may take a bool."""
    if owner.kind not in KINDS or owner.cls is None:
        return None
    if owner.cls == FUNCTIONAL:
        return ("inputs", TRAINING)
    if owner.is_of_imported_class and split_root(owner.qualified or "") is not None:
        return ("inputs", TRAINING) if owner.cls in TRAINING_IS_SECOND else None
    own = class_of(module, owner)
    if own is None or CALL in methods_in(own):
        return None
    return _parameters_of_call(module, facts, owner, own)


def parameters_of_super(module: Module, facts: TargetFacts, owner: Type) -> Sequence[str] | None:
    """Return the same for `super().__call__(…)` in a class of one's own, of a Keras base."""
    own = class_of(module, owner)
    if own is None or owner.kind not in KINDS:
        return None
    if "call" not in methods_in(own):
        base = (owner.qualified or "").rpartition(".")[2]
        return ("inputs", TRAINING) if base in TRAINING_IS_SECOND else None
    return _parameters_of_call(module, facts, owner, own)


def _parameters_of_call(
    module: Module, facts: TargetFacts, owner: Type, own: cst.ClassDef
) -> Sequence[str] | None:
    call = methods_in(own).get("call")
    if call is None or call.params.posonly_params:
        return None
    if ".preprocessing." in facts.lookup(owner.qualified or "").home:
        return None
    if any(_allows_all(module, owner, each) for each in descendants(own.body)):
        return None
    return [each.name.value for each in call.params.params[1:]]


def _allows_all(module: Module, owner: Type, node: cst.CSTNode) -> bool:
    """Say whether it makes a class one that takes all: a model of inputs and outputs is one."""
    match node:
        case cst.Name(value="_allow_non_tensor_positional_args"):
            return True
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value="__init__")), args=args):
            is_model = owner.kind is Kind.MODEL and module.source(base).startswith("super(")
            return is_model and not all(each.star == "**" or _is_plain(each) for each in args)
    return False


def _is_plain(argument: cst.Arg) -> bool:
    """Say whether it is neither inputs nor outputs of a model, nor may be."""
    return argument.keyword is not None and argument.keyword.value in _PLAIN_ARGUMENTS
