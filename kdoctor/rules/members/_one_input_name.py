"""`model.input_names[0]`: one name alone, of one input, which needs no list of them."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Fix, Span
from kdoctor.rules.loading import load_rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind


def one_input_name(module: Module, use: MemberUse, facts: TargetFacts) -> Fix | None:
    """Return the fix of one read by a number; None where it is another member, or no such read."""
    if use.member != "input_names" or use.owner.kind is not Kind.MODEL or use.owner_defines:
        return None
    match module.parent(use.node):
        case (
            cst.Subscript(
                value=node, slice=[cst.SubscriptElement(slice=cst.Index(star=None))]
            ) as read
        ) if node is use.node and isinstance(node, cst.Attribute):
            end = module.span(read).end
            edits = (Edit(module.span(node.attr), ("inputs",)), Edit(Span(end, end), (".name",)))
            return Fix(
                "Write `….inputs[…].name`",
                edits,
                facts.applicability(*load_rule("members.member_gone").group("by-number")),
            )
    return None
