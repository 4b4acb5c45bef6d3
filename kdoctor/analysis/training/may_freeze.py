"""What a file must have to freeze and train models as a rule asks: ``freezing``, for the gate."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.freezing import TRAINING
from kdoctor.analysis.triggers import Trigger, assigned, attribute, receivers
from kdoctor.syntax.ast_walk import ast_dotted_name, chain_of, parameters_of
from kdoctor.syntax.quick_facts import QuickFacts


def _names_set_trainable(quick: QuickFacts, value: bool) -> set[str]:  # noqa: FBT001 - it is the value
    """Return the names whose ``trainable`` is set to a value, "" for other targets."""
    return {
        ast_dotted_name(owner) or ""
        for assign, owner in _set(quick)
        if isinstance(assign.value, ast.Constant) and assign.value.value is value
    }


def _may_freeze_a_part(quick: QuickFacts, _: TargetFacts) -> bool:
    calls = [each.node.lineno for each in quick.calls_by_leaf.get("compile", ())]
    frozen = [
        assign.lineno
        for assign, _ in _set(quick)
        if isinstance(assign.value, ast.Constant) and assign.value.value is False
    ]
    is_after = bool(frozen and calls) and max(frozen) >= min(calls)
    return len(calls) > 1 and (is_after or _may_be_given(quick))


# By lines: today's code, too, freezes a part of a model, compiles and trains it.
FREEZES_A_PART: Final = (
    assigned("trainable")
    & attribute("compile")
    & attribute(*TRAINING)
    & Trigger(_may_freeze_a_part)
)
"""A condition: of two models that are compiled, something may be frozen after the first."""


def _set(quick: QuickFacts) -> Iterator[tuple[ast.Assign, ast.expr]]:
    """Yield each assignment to ``trainable``, with what it is an attribute of."""
    for each in quick.nodes.get(ast.Assign, ()):
        for target in each.targets:
            if isinstance(target, ast.Attribute) and target.attr == "trainable":
                yield each, target.value


def _may_be_given(quick: QuickFacts) -> bool:
    """Say whether a function may set ``trainable`` of what it is given: ``Freezing.is_given``."""
    names = {chain_of(owner)[:1] for _, owner in _set(quick)}
    # `for layer in model.layers: layer.trainable = value`
    for each in quick.nodes.get(ast.For, ()) if names else ():
        if chain_of(each.target) in names:
            over = each.iter.value if isinstance(each.iter, ast.Subscript) else each.iter
            names.add(chain_of(over)[:1])
    return bool(names) and any(
        (parameter.arg,) in names
        for function in quick.nodes.get(ast.FunctionDef, ())
        for parameter in parameters_of(function.args)
    )


def _may_freeze_again(quick: QuickFacts, _: TargetFacts) -> bool:
    frozen = _names_set_trainable(quick, False)
    compiled = [each.node.lineno for each in quick.calls_by_leaf.get("compile", ())]
    # `for layer in critic.layers: layer.trainable = False`
    for each in quick.nodes.get(ast.For, ()) if frozen else ():
        is_later = ast.FunctionDef in quick.nodes or each.lineno > min(compiled, default=0)
        is_frozen = is_later and ast_dotted_name(each.target) in frozen
        if is_frozen and isinstance(each.iter, ast.Attribute):
            frozen.add(ast_dotted_name(each.iter.value) or "")
    others = receivers(quick, "compile") | _names_set_trainable(quick, True)
    return not frozen.isdisjoint(others) or _may_be_given(quick)


# By names: today's code, too, freezes one model, and compiles and trains another.
FREEZES_AGAIN: Final = (
    assigned("trainable") & attribute("compile") & attribute(*TRAINING) & Trigger(_may_freeze_again)
)
"""A condition: what is compiled, or unfrozen, is frozen, too, by that name or by a function."""
