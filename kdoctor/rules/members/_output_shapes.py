"""`layer.output_shape` of a layer that may be any: a function of the file that asks what it has.

On Keras 2 an `InputLayer` gave a list of one shape, a layer with several outputs a list of them,
and a model among the layers has its `output_shape` still.
`tests/rules/test_member_gone_output_shape.py` holds the function against `output_shape` of
`tf_keras`.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Fix, Hole, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.loading import load_rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

NAME = "output_shape_of"
HELPER = '''def output_shape_of(layer):
    """Return what `layer.output_shape` was on Keras 2: a shape, or a list."""
    if hasattr(layer, "output_shape"):
        return layer.output_shape  # of a model
    outputs = layer.output
    if isinstance(outputs, list):
        return [each.shape for each in outputs]
    return [outputs.shape] if isinstance(layer, {input_layer}) else outputs.shape'''


def shape_of_any_layer(module: Module, use: MemberUse, facts: TargetFacts) -> Fix | None:
    """Return the fix of one read; None where the class is known, or it is another member."""
    if not _is_of_any_layer(use):
        return None
    uses = [e.node for e in module.members_named(use.member) if _is_of_any_layer(e)]
    before = top_statement(module, min(uses, key=module.span))
    written, need = speller_at(module, before).spell("keras.layers.InputLayer")
    helper = helper_edits(module, before, NAME, HELPER.format(input_layer=written))
    if helper is None:
        return None
    owner = use.node.value
    read = Hole(module.outer_span(owner), Precedence.ANY, precedence_of(owner))
    edit = Edit(module.span(use.node), (f"{NAME}(", read, ")"), Precedence.PRIMARY)
    return Fix(
        f"Call `{NAME}`, a function of this file that asks a layer or a model",
        (*helper, edit),
        facts.applicability(*load_rule("members.member_gone").group("of-any-layer")),
        () if need is None else (need,),
    )


def _is_of_any_layer(use: MemberUse) -> bool:
    owner = use.owner
    return (
        (owner.kind, owner.cls, use.member) == (Kind.LAYER, None, "output_shape")
        and not use.owner_defines
        and not use.called
        and isinstance(use.node, cst.Attribute)
    )
