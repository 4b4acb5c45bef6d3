"""Assignments to read-only members: ``self.model = …`` in a callback, ``model.outputs = …``."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

import libcst as cst

from kdoctor.analysis.models.user_classes import is_in_old_optimizer, owns_its_weights
from kdoctor.analysis.queries import Method, Store, stores
from kdoctor.keras_api import Presence
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._callback_model import by_set_model
from kdoctor.rules.members._error_owner import class_of, symbol
from kdoctor.rules.members._own_weights import left_away
from kdoctor.rules.members._property_conflicts import PROPERTIES, is_bare_property
from kdoctor.rules.rule import rule
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_WEIGHTS = (
    *("weights", "trainable_weights", "non_trainable_weights"),
    *("variables", "trainable_variables", "non_trainable_variables"),
)
_NEW = ("input_dtype", "metrics_variables", "path", "quantization_mode")  # of Keras 3
_OF_BOTH = (*_WEIGHTS, *_NEW, "losses", "metrics", "dtype")
READ_ONLY = {
    Kind.CALLBACK: frozenset({"model"}),
    Kind.LAYER: frozenset({*_OF_BOTH, "output", "input"}),
    Kind.MODEL: frozenset({*_OF_BOTH, "metrics_names", "layers"}),
    Kind.OPTIMIZER: frozenset({"iterations"}),
}
# Of some layers, and of what is made from them.
OF_LAYERS: Final = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D", "Dense", "EinsumDense"), "kernel"),
    "Embedding": "embeddings",
}
# Of models that are built by calls, which a class of the user's own need not be.
OF_FUNCTIONAL = frozenset({"inputs", "outputs", "input", "output"})
_HELP = {
    "model": "Keras sets it: `callback.set_model(model)`. Use another name for your own.",
    "outputs": "Build a new model: `keras.Model(model.inputs, outputs)`.",
    "output": "Build a new model: `keras.Model(model.inputs, output)`.",
    "layers": "Build a new model from these layers: `keras.Sequential(layers)`.",
    "path": "In Keras 3 it is the position of a layer in its model. Use another name for your own.",
    **{
        name: f"It reads `_{name}`: assign that, or derive the layer from `keras.layers.Layer`."
        for name in OF_LAYERS.values()
    },
}
_BINDS = frozenset({BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.LOOP, BindingKind.WITH})
_PRIVATE = (
    "`_{0}` is a private name of the Keras layer, which any release may remove, and `{0}` can be "
    "read only after the layer is built"
)


_ASKED: Final = READ_ONLY | {
    Kind.LAYER: READ_ONLY[Kind.LAYER] | {*OF_LAYERS.values()},
    Kind.MODEL: READ_ONLY[Kind.MODEL] | OF_FUNCTIONAL,
}


@rule(
    "KD214",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reduce(
        or_, (stores(*names, on=kind, overridden=True) for kind, names in _ASKED.items())
    )
    | PROPERTIES,
)
def check(found: Store | Method) -> Finding | None:
    """Report each assignment that the user's own class does not make possible."""
    if isinstance(found, Method):
        return _without_setter(found) if is_bare_property(found) else None
    store = found.store
    if store.how not in _BINDS or store.value is None or store.owner_overrides:
        return None
    if store.owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(found.module, store.node):
        return None  # KD511 and KD512 tell of the class as a whole
    return _finding(found) if _is_read_only(found) else None


def _without_setter(method: Method) -> Finding:
    name, cls = method.name, method.owner.symbol
    return method.finding(
        f"Keras assigns `{name}` when the object is created: AttributeError: property '{name}' of "
        f"'{cls}' object has no setter",
        at=method.node.name,
        help="Pass it to `super().__init__(name=…)`, or rename your property."
        if name == "name"
        else "Rename your property, or add a setter.",
        fix=NoFix("kdoctor does not know which files read it"),
    )


def _is_read_only(store: Store) -> bool:
    owner, member, facts = store.owner, store.member, store.facts
    if member in READ_ONLY.get(owner.kind, ()):
        return member not in _NEW or facts.member(owner, member) is Presence.EXISTS
    if owner.kind is Kind.MODEL:
        return owner.cls == "Functional"
    made = store.module.oracle.class_type(owner.qualified) if owner.qualified else None
    if made is None or made.kind is not Kind.LAYER:
        return False
    return OF_LAYERS.get(made.cls or "") == member and owns_its_weights(facts, made)


def _finding(found: Store) -> Finding:
    module, store, rating = found.module, found.store, check.applicability()
    cls = class_of(store.owner)
    named = f"'{cls}' object" if cls else "object"
    error = (
        f"`{'Sequential' if cls == 'Sequential' else 'Model'}.layers` attribute is reserved and "
        "should not be used"
        if store.member == "layers"
        else f"property '{store.member}' of {named} has no setter"
    )
    return found.finding(
        f"`{store.member}` cannot be assigned: AttributeError: {error}",
        symbol=symbol(store.owner, store.member),
        help=_HELP.get(store.member, "It is computed from the parts of the object."),
        fix=_private(found)
        or by_set_model(module, store, rating)
        or left_away(module, store, rating)
        or NoFix("kdoctor cannot tell what the assignment is meant to do"),
    )


def _private(found: Store) -> Fix | NoFix | None:
    """Return the fix for a weight that a layer makes itself: what the property reads is assigned.

    Unsafe, for that has a private name; and the property can be read once the layer is built only.
    """
    module, store = found.module, found.store
    if store.member not in OF_LAYERS.values() or not store.is_plain:
        return None
    match store.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="add_weight"))):
            pass
        case _:
            return None
    method = next(e for e in module.ancestors(store.node) if isinstance(e, cst.FunctionDef))
    reads = (
        use for use in module.members_named(store.member) if method in module.ancestors(use.node)
    )
    if any(reads):
        return None
    edit = Edit(module.span(store.node.attr), (f"_{store.member}",))
    return found.fix(
        f"Assign the attribute that `{store.member}` reads",
        edit,
        unsafe_because=_PRIVATE.format(store.member),
    )
