"""`layer.output_shape`, `layer.input_shape` of a layer that may be any: a function that asks it.

On Keras 2 an `InputLayer` gave a list of one shape for both, a layer with several inputs or outputs
a list of them, and a model among the layers has its own still.
`tests/rules/test_member_gone_output_shape.py` holds the functions against `tf_keras`.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.keras_api.returns import MERGING_FUNCTIONS
from kdoctor.model import Edit, Fix, Hole, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.loading import load_rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

NAMES: Final = {"output_shape": "output_shape_of", "input_shape": "input_shape_of"}
HELPERS: Final = {
    "output_shape": '''def output_shape_of(layer):
    """Return what `layer.output_shape` was on Keras 2: a shape, or a list."""
    if hasattr(layer, "output_shape"):
        return layer.output_shape  # of a model
    outputs = layer.output
    if isinstance(outputs, list):
        return [each.shape for each in outputs]
    return [outputs.shape] if isinstance(layer, {input_layer}) else outputs.shape''',
    "input_shape": '''def input_shape_of(layer):
    """Return what `layer.input_shape` was on Keras 2: a shape, or a list."""
    if hasattr(layer, "input_shape"):
        return layer.input_shape  # of a model
    if isinstance(layer, {input_layer}):
        return [layer.output.shape]
    inputs = layer.input
    return [each.shape for each in inputs] if isinstance(inputs, list) else inputs.shape''',
}
_SEVERAL: Final = (
    "of a layer that was called on several tensors by position, it was the shape of the first"
)
_INPUT_LAYER: Final = "InputLayer"


def shape_of_input_layer(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix of one read of a shape of what is an `InputLayer` for sure.

    Its shapes were lists of one: `layer.input_shape[0]` is the shape, and so it is written.
    """
    if not _is_read_of_layer(use, _INPUT_LAYER) or not use.owner.is_of_imported_class:
        return None
    owner = use.node.value
    read = Hole(module.outer_span(owner), Precedence.PRIMARY, precedence_of(owner))
    parent = module.parent(use.node)
    match parent:
        case cst.Subscript(
            slice=[cst.SubscriptElement(slice=cst.Index(cst.Integer(value="0"), star=None))]
        ) if parent.value is use.node:
            edit = Edit(module.span(parent), (read, ".output.shape"), Precedence.PRIMARY)
        case _:
            edit = Edit(module.span(use.node), ("[", read, ".output.shape]"), Precedence.PRIMARY)
    rule = load_rule("members.member_gone")
    return rule.fix(
        "Read the shape of `output`: that of an `InputLayer` was in a list",
        edit,
        proven_by=rule.group("of-an-input-layer"),
    )


def shape_of_any_layer(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix of one read; None where the class is known, or it is another member."""
    if not _is_of_any_layer(use):
        return None
    uses = [e.node for e in module.members_named(use.member) if _is_of_any_layer(e)]
    before = top_statement(module, min(uses, key=module.span))
    written, need = speller_at(module, before).spell("keras.layers.InputLayer")
    name = NAMES[use.member]
    text = HELPERS[use.member].format(input_layer=written)
    helper = helper_edits(module, before, name, text)
    if helper is None:
        return None
    owner = use.node.value
    read = Hole(module.outer_span(owner), Precedence.ANY, precedence_of(owner))
    edit = Edit(module.span(use.node), (f"{name}(", read, ")"), Precedence.PRIMARY)
    rule = load_rule("members.member_gone")
    return rule.fix(
        f"Call `{name}`, a function of this file that asks a layer or a model",
        *helper,
        edit,
        imports=(need,),
        unsafe_because=_SEVERAL if use.member == "input_shape" else "",
        proven_by=rule.group("of-any-layer"),
    )


def _is_of_any_layer(use: MemberUse) -> bool:
    """Say whether the shape may be in a list: what merges has several inputs."""
    merges = use.owner.is_of_imported_class and (use.owner.cls or "").lower() in MERGING_FUNCTIONS
    return _is_read_of_layer(use, None) or (
        merges and use.member == "input_shape" and _is_read_of_layer(use, use.owner.cls)
    )


def _is_read_of_layer(use: MemberUse, cls: str | None) -> bool:
    owner = use.owner
    return (
        (owner.kind, owner.cls) == (Kind.LAYER, cls)
        and use.member in NAMES
        and not use.owner_defines
        and not use.called
        and isinstance(use.node, cst.Attribute)
    )
