"""Assignments to read-only members: ``self.model = …`` in a callback, ``model.outputs = …``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer, owns_its_weights
from kdoctor.analysis.triggers import Trigger, changes_of, word
from kdoctor.keras_api import Presence
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._callback_model import by_set_model
from kdoctor.rules.members._error_owner import class_of, symbol
from kdoctor.rules.members._own_weights import left_away
from kdoctor.rules.members._property_conflicts import bare_properties, may_be_bare
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberStore, Module
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
_IN_ANOTHER_WAY = "kdoctor cannot tell what the assignment is meant to do"
_BINDS = frozenset({BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.LOOP, BindingKind.WITH})
_PRIVATE = (
    "`_{0}` is a private name of the Keras layer, which any release may remove, and `{0}` can be "
    "read only after the layer is built"
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each assignment that the user's own class does not make possible."""
    for store in module.member_stores:
        if store.how not in _BINDS or store.value is None or store.owner_overrides:
            continue
        if store.owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(module, store.node):
            continue  # KD511 and KD512 tell of the class as a whole
        if _is_read_only(module, facts, store) and not module.is_guarded(store.node):
            yield _finding(module, facts, store)
    for node, method in bare_properties(module, facts):
        if not module.is_guarded(node):
            yield _without_setter(module, node, method)


def _without_setter(module: Module, node: cst.ClassDef, method: cst.FunctionDef) -> Finding:
    name = method.name.value
    return rule.finding(
        module.place(method.name),
        f"Keras assigns `{name}` when the object is created: AttributeError: property '{name}' of "
        f"'{node.name.value}' object has no setter",
        symbol=f"{node.name.value}.{name}",
        confidence=Confidence.LIKELY,
        help="Pass it to `super().__init__(name=…)`, or rename your property."
        if name == "name"
        else "Rename your property, or add a setter.",
        fix=NoFix("kdoctor does not know which files read it"),
    )


def _is_read_only(module: Module, facts: TargetFacts, store: MemberStore) -> bool:
    if store.member in READ_ONLY.get(store.owner.kind, ()):
        is_old = store.member not in _NEW
        return is_old or facts.member(store.owner, store.member) is Presence.EXISTS
    if store.member in OF_LAYERS.values():
        base = store.owner.qualified
        made = module.oracle.class_type(base) if base else None
        if made is None or made.kind is not Kind.LAYER:
            return False
        return OF_LAYERS.get(made.cls or "") == store.member and owns_its_weights(facts, made)
    is_functional = store.owner.kind is Kind.MODEL and store.owner.cls == "Functional"
    return is_functional and store.member in OF_FUNCTIONAL


def _finding(module: Module, facts: TargetFacts, store: MemberStore) -> Finding:
    cls = class_of(store.owner)
    named = f"'{cls}' object" if cls else "object"
    error = (
        f"`{'Sequential' if cls == 'Sequential' else 'Model'}.layers` attribute is reserved and "
        "should not be used"
        if store.member == "layers"
        else f"property '{store.member}' of {named} has no setter"
    )
    proofs = [each for each in rule.invalid if each.after and not each.unsafe]
    fix = (
        _private(module, store)
        or by_set_model(module, facts, store, *proofs)
        or left_away(module, facts, store, *proofs)
    )
    return rule.finding(
        module.place(store.node),
        f"`{store.member}` cannot be assigned: AttributeError: {error}",
        symbol=symbol(store.owner, store.member),
        confidence=store.confidence,
        help=_HELP.get(store.member, "It is computed from the parts of the object."),
        fix=fix or NoFix(_IN_ANOTHER_WAY),
    )


def _private(module: Module, store: MemberStore) -> Fix | None:
    """Return the fix for a weight that a layer makes itself: what the property reads is assigned.

    Unsafe, for that has a private name; and the property can be read once the layer is built only.
    """
    if store.member not in OF_LAYERS.values() or not store.is_plain:
        return None
    match store.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="add_weight"))):
            pass
        case _:
            return None
    method = next(e for e in module.ancestors(store.node) if isinstance(e, cst.FunctionDef))
    reads = (
        use
        for use in module.members
        if use.member == store.member and method in module.ancestors(use.node)
    )
    if any(reads):
        return None
    edit = Edit(module.span(store.node.attr), (f"_{store.member}",))
    return Fix(
        f"Assign the attribute that `{store.member}` reads",
        (edit,),
        Applicability.UNSAFE,
        unsafe_because=_PRIVATE.format(store.member),
    )


rule = Rule(
    code="KD214",
    name="read-only-member",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=reduce(
        or_,
        (changes_of({kind}, *members) for kind, members in READ_ONLY.items()),
        changes_of({Kind.MODEL}, *OF_FUNCTIONAL)
        | changes_of({Kind.LAYER}, *sorted({*OF_LAYERS.values()})),
    )
    | word("property") & Trigger(lambda quick, _: may_be_bare(quick)),
    since="3.0",
)
