"""A model frozen after `compile` no longer trains on its own: GANs stop learning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.analysis.queries import File
from kdoctor.analysis.training.freezing import (
    COMPILE,
    FREEZES,
    TRAINING,
    Freezing,
    Setting,
    Use,
    fix_around,
)
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule


@rule("KD403", severity=Severity.CHANGE, since="3.0", look_for=FREEZES)
def check(file: File) -> Iterator[Finding]:
    """Report each model that is frozen between ``compile`` and its first training."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    compiled = {file.source(use.model) for use in freezing.uses(COMPILE)}
    for setting in (*freezing.models_frozen(), *freezing.layers_frozen()):
        # What is compiled by another name is not reported.
        if file.source(setting.model) not in compiled and not freezing.is_given(setting):
            continue
        steps = _steps(freezing, setting)
        if steps:
            found = _finding if setting.is_whole else _finding_of_layers
            yield found(file, freezing, setting, steps)


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


def _finding(file: File, freezing: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    made = file.module.type_of(setting.model)
    trained = file.source(steps[0].model)
    fix = _thawing(freezing, setting, steps, f"Unfreeze `{trained}` around its own training")
    return file.finding(
        f"`{file.source(setting.model)}` is frozen after `compile`: Keras 2 kept training it, on "
        "Keras 3 its own training step changes nothing",
        at=setting.node,
        symbol=f"{made.cls if made and made.cls else 'Model'}.trainable",
        help=f"Set `{trained}.trainable = True` before its own training step and False after it.",
        fix=fix or NoFix("there is no place for a statement next to the training call"),
    )


def _finding_of_layers(file: File, _: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    """Return what is said where a loop freezes the layers of a model."""
    return file.finding(
        f"layers of `{file.source(setting.model)}` are frozen after `compile`: Keras 2 kept "
        "training them, on Keras 3 they stay frozen in its own training step too",
        at=setting.node,
        symbol="Model.trainable",
        help="Unfreeze them one by one before the training step of "
        f"`{file.source(steps[0].model)}`, and freeze them again after it.",
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
