"""`optimizer.minimize(loss, variables)`: a function of the file that does what Keras 2 did.

Keras 2 ran the loss under a tape of its own, or under the one that it was given.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.memoize import once
from kdoctor.model import Edit, Fix, ImportNeed
from kdoctor.rules.fixes.helper_definition import (
    helper_edits,
    is_name_of_module,
    top_statement,
)
from kdoctor.rules.loading import load_rule
from kdoctor.rules.members._predicted_classes import called_with
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER: Final = "minimize"
NAME: Final = "minimize_with"
HELPER: Final = '''def minimize_with(optimizer, loss, var_list, tape=None):
    """Do what `optimizer.minimize(loss, var_list)` of Keras 2 did."""
    if callable(loss):
        with tape or {tape}() as tape:
            loss = loss()
    variables = var_list() if callable(var_list) else var_list
    return optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))'''
_TAKEN: Final = ("loss", "var_list", "tape")
_BY_POSITION: Final = 2  # what comes behind differs among the releases of Keras 2


def minimized_by_hand(module: Module, use: MemberUse, facts: TargetFacts) -> Fix | None:
    """Return the fix of one call; None where it passes something else, or has no place."""
    call, owner = use.called, use.node.value
    if not _is_call(use) or call is None or not _is_understood(call):
        return None
    edit = called_with(module, call, owner, NAME)
    helper = _definition(module)
    if edit is None or helper is None or not is_name_of_module(module, NAME, call):
        return None
    edits, imports = helper
    return Fix(
        f"Call `{NAME}`, a function of this file that does what `minimize` did",
        (*edits, edit),
        facts.applicability(*load_rule("members.member_gone").group("minimize")),
        imports,
    )


@once
def _definition(module: Module) -> tuple[tuple[Edit, ...], tuple[ImportNeed, ...]] | None:
    """Return the edits that define the function, and its import: the same for all calls."""
    uses = [each.node for each in module.members_named(_MEMBER) if _is_call(each)]
    before = top_statement(module, min(uses, key=module.span))
    spelled, need = speller_at(module, before).spell("tensorflow.GradientTape")
    edits = helper_edits(module, before, NAME, HELPER.format(tape=spelled))
    return None if edits is None else (tuple(edits), (need,) if edits and need else ())


def _is_call(use: MemberUse) -> bool:
    is_of_one = use.owner.kind is Kind.OPTIMIZER and use.member == _MEMBER
    return is_of_one and use.called is not None and not use.owner_defines


def _is_understood(call: cst.Call) -> bool:
    names = [each.keyword.value for each in call.args if each.keyword]
    by_position = len(call.args) - len(names)
    return (
        not any(each.star for each in call.args)
        and by_position <= _BY_POSITION
        and {*_TAKEN[:by_position], *names} <= {*_TAKEN}
        and {*_TAKEN[:by_position], *names} >= {*_TAKEN[:_BY_POSITION]}
        and call.args[0].keyword is None
    )
