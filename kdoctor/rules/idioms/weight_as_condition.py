"""A weight as a condition: a variable of Keras 3 is neither true nor false."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries.sorts import of_kind
from kdoctor.analysis.queries.tested import Tested, decisions
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind, Type


def _is_of_keras(variable: Type) -> bool:
    """Say whether it is none of TensorFlow's variables, which have a truth value."""
    return variable.cls != "ResourceVariable"


@rule(
    "KD526",
    severity=Severity.ERROR,
    since="3.0",
    look_for=decisions(of=of_kind(Kind.VARIABLE, where=_is_of_keras)),
)
def check(found: Tested) -> Finding | None:
    """Report each weight that decides a condition."""
    if isinstance(found.node, cst.Comparison):
        return None  # it gives a tensor
    return found.finding(
        "a weight has no truth value: TypeError: A Keras Variable cannot be used as a boolean.",
        symbol="keras.Variable",
        help="Write `if self.bias is not None:`; to ask for its number, write "
        "`keras.ops.where(condition, a, b)`.",
        fix=_asked_for_none(found),
    )


def _asked_for_none(found: Tested) -> Fix | NoFix:
    """Ask whether there is a weight, where the file says that there may be none."""
    module, node = found.module, found.node
    if not isinstance(node, cst.Attribute):
        return NoFix("kdoctor cannot tell what is asked")
    stores = [each for each in module.member_stores if each.member == node.attr.value]
    may_be_none = any(
        isinstance(each.value, cst.Name) and each.value.value == "None" for each in stores
    )
    if stores and not may_be_none:
        return NoFix("the file gives it no other value, so it may be asked for its number")
    hole = Hole(module.outer_span(node), Precedence.COMPARE, precedence_of(node))
    parent = module.parent(node)
    if isinstance(parent, cst.UnaryOperation):
        edit = Edit(module.span(parent), (hole, " is None"), Precedence.COMPARE)
    else:
        edit = Edit(module.outer_span(node), (hole, " is not None"), Precedence.COMPARE)
    return found.fix(
        "Ask whether it is None",
        edit,
        unsafe_because="a weight of a single number was asked for its value by Keras 2",
    )
