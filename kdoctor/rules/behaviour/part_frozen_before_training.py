"""A submodel frozen after `compile` is no longer trained by the compiled model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.conditions import several
from kdoctor.analysis.training.freezing import (
    COMPILE,
    FREEZES,
    TRAINING,
    Freezing,
    Setting,
    Use,
    fix_around,
    name_at,
)
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule


@rule(
    "KD447",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(FREEZES, several(called("compile").even(hidden=True))),
)
def check(file: File) -> Iterator[Finding]:
    """Report each part that is frozen between two models, of which the first is to train it."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    for setting in freezing.models_frozen():
        if sum(freezing.is_same(each.model, setting.model) for each in freezing.settings) > 1:
            continue
        for compiled in freezing.uses(COMPILE):
            steps = _steps(freezing, setting, compiled)
            if steps:
                yield _finding(file, freezing, setting, compiled, steps)


def _steps(freezing: Freezing, setting: Setting, compiled: Use) -> Sequence[Use]:
    """Return how a model is trained that was compiled before a part of it was frozen for another.

    Nothing where it is compiled again, or trained before: then it was frozen for that model.
    """
    module, part, whole = freezing.module, setting.model, compiled.model
    is_earlier = module.span(compiled.call) < module.span(setting.node)
    # What is compiled further down, in a function that is called before, is not reported.
    if not is_earlier and not freezing.is_given(setting):
        return ()
    if freezing.is_same(part, whole) or not freezing.is_after(setting.node, compiled.call, None):
        return ()
    others = [use for use in freezing.uses(COMPILE) if use.call is not compiled.call]
    if any(freezing.is_same(use.model, whole) for use in others):
        return ()
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, whole)]
    if any(freezing.may_be_before(use.call, setting.node, None) for use in steps):
        return ()
    is_for_another = any(
        freezing.is_after(use.call, setting.node, None) and freezing.is_in(part, use.model)
        for use in others
    )
    return steps if is_for_another and freezing.is_in(part, whole) else ()


def _finding(
    file: File, freezing: Freezing, setting: Setting, compiled: Use, steps: Sequence[Use]
) -> Finding:
    module = freezing.module
    part, whole = module.source(setting.model), module.source(compiled.model)
    names = [(use.call, name_at(freezing, setting.model, use.call)) for use in steps]
    named = [(call, name) for call, name in names if name is not None]
    title = f"Unfreeze `{part}` around the training of `{whole}`"
    fix = None
    if len(named) == len(names):
        fix = fix_around(freezing, title, compiled.model, named, (True, False))
    return file.finding(
        f"`{part}` is frozen after `{whole}` was compiled: Keras 2 kept training it in `{whole}`, "
        "on Keras 3 it stays frozen there too",
        symbol="Model.trainable",
        at=setting.node,
        help=f"Set `{part}.trainable = True` before a training step of `{whole}`, False after it.",
        fix=fix
        or NoFix(
            "there is no place for a statement next to the training call, or the model has "
            "another name there"
        ),
    )
