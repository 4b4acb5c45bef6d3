"""A model frozen after `compile` no longer trains on its own: GANs stop learning."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.freezing import (
    COMPILE,
    TRAINING,
    Freezing,
    Setting,
    Use,
    fix_around,
    may_be_given,
    names_set_trainable,
)
from kdoctor.analysis.triggers import Trigger, assigned, attribute, receivers
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.quick_facts import QuickFacts


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each model that is frozen between ``compile`` and its first training."""
    freezing = Freezing(module)
    if freezing.is_too_much:
        return
    compiled = {module.source(use.model) for use in freezing.uses(COMPILE)}
    for setting in (*freezing.models_frozen(), *freezing.layers_frozen()):
        # The trigger knows no more than this.
        if module.source(setting.model) not in compiled and not freezing.is_given(setting):
            continue
        steps = _steps(freezing, setting)
        if steps:
            found = _finding if setting.is_whole else _finding_of_layers
            yield found(freezing, setting, steps)


def _steps(freezing: Freezing, setting: Setting) -> Sequence[Use]:
    """Return how a model is trained that is frozen after ``compile``, and stays so."""
    model = setting.model
    compiled = [use for use in freezing.uses(COMPILE) if freezing.is_same(use.model, model)]
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, model)]
    thawed = any(
        each.value is not False and freezing.is_same(each.model, model)
        for each in freezing.settings
    )
    if not compiled or not steps or thawed:
        return ()
    for origin in freezing.points_to.of(model) or (None,):
        if not all(freezing.is_after(setting.node, use.call, origin) for use in compiled):
            return ()
        if any(freezing.may_be_before(use.call, setting.node, origin) for use in steps):
            return ()
    return steps


def _finding(freezing: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    module, name = freezing.module, freezing.module.source(setting.model)
    made = module.type_of(setting.model)
    trained = module.source(steps[0].model)
    fix = _thawing(freezing, setting, steps, f"Unfreeze `{trained}` around its own training")
    return rule.finding(
        module.place(setting.node),
        f"`{name}` is frozen after `compile`: Keras 2 kept training it, on Keras 3 its own "
        "training step changes nothing",
        symbol=f"{made.cls if made and made.cls else 'Model'}.trainable",
        confidence=Confidence.LIKELY,
        help=f"Set `{trained}.trainable = True` before its own training step and False after it.",
        fix=fix or NoFix("there is no place for a statement next to the training call"),
    )


def _finding_of_layers(freezing: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    """Return what is said where a loop freezes the layers of a model."""
    module, name = freezing.module, freezing.module.source(setting.model)
    trained = module.source(steps[0].model)
    return rule.finding(
        module.place(setting.node),
        f"layers of `{name}` are frozen after `compile`: Keras 2 kept training them, on Keras 3 "
        "they stay frozen in its own training step too",
        symbol="Model.trainable",
        confidence=Confidence.LIKELY,
        help=f"Unfreeze them one by one before the training step of `{trained}`, and freeze them "
        "again after it.",
        # `model.trainable = True` sets nothing where it is True (KD233).
        fix=NoFix("the loop that freezes them has to be repeated after each training step"),
    )


def _thawing(freezing: Freezing, setting: Setting, steps: Sequence[Use], title: str) -> Fix | None:
    """Return the lines around its training; None where another model may be trained there, too."""
    frozen = freezing.points_to.of(setting.model)
    if frozen and any(freezing.points_to.of(use.model) - frozen for use in steps):
        return None
    named = [(use.call, freezing.module.source(use.model)) for use in steps]
    return fix_around(freezing, title, setting.model, named, (True, False))


def _may_be_frozen(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether what is frozen somewhere may be compiled, too."""
    frozen = names_set_trainable(quick, False)
    compiled = [each.node.lineno for each in quick.calls_by_leaf.get("compile", ())]
    # `for layer in critic.layers: layer.trainable = False`
    for each in quick.nodes.get(ast.For, ()) if frozen else ():
        is_later = ast.FunctionDef in quick.nodes or each.lineno > min(compiled, default=0)
        if (
            is_later
            and ast_dotted_name(each.target) in frozen
            and isinstance(each.iter, ast.Attribute)
        ):
            frozen.add(ast_dotted_name(each.iter.value) or "")
    return bool(frozen and frozen & receivers(quick, "compile")) or may_be_given(quick)


rule = Rule(
    code="KD403",
    name="frozen-before-training",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=assigned("trainable")
    & attribute("compile")
    & attribute(*TRAINING)
    & Trigger(_may_be_frozen),
    since="3.0",
)
