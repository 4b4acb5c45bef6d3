"""A model frozen only while another model compiles with it is trained by that other model."""

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
    name_at,
)
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule


@rule("KD437", severity=Severity.CHANGE, since="3.0", look_for=FREEZES)
def check(file: File) -> Iterator[Finding]:
    """Report each thawing after the ``compile`` of a model that holds what is thawed."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    for thawing in freezing.settings:
        if thawing.value is not True or not thawing.is_whole:
            continue
        if file.module.is_guarded(thawing.node) or not freezing.is_model(thawing.model):
            continue
        for compiled in freezing.uses(COMPILE):
            steps = _steps(freezing, thawing, compiled)
            if steps:
                yield _finding(file, freezing, thawing, compiled, steps)
                break


def _steps(freezing: Freezing, thawing: Setting, compiled: Use) -> Sequence[Use]:
    """Return how a model is trained that was compiled while what is thawed now was frozen."""
    part, whole = thawing.model, compiled.model
    if freezing.is_same(part, whole) or not freezing.is_after(thawing.node, compiled.call, None):
        return ()
    settings = [each for each in freezing.settings if freezing.is_same(each.model, part)]
    frozen = [each for each in settings if each.value is False]
    is_left = all(freezing.is_after(compiled.call, each.node, None) for each in frozen)
    if not is_left or not any(_is_a_pair(freezing, each, thawing) for each in frozen):
        return ()
    # Between the two it must stay frozen.
    if any(
        each.value is not False
        and freezing.may_be_before(each.node, compiled.call, None)
        and any(freezing.may_be_before(one.node, each.node, None) for one in frozen)
        for each in settings
    ):
        return ()
    again = [
        use
        for use in freezing.uses(COMPILE)
        if use.call is not compiled.call and freezing.is_same(use.model, whole)
    ]
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, whole)]
    if again or any(freezing.may_be_before(use.call, thawing.node, None) for use in steps):
        return ()
    return steps if steps and freezing.is_in(part, whole) else ()


def _is_a_pair(freezing: Freezing, frozen: Setting, thawing: Setting) -> bool:
    """Say whether it is frozen and thawed by one name, or by functions."""
    source = freezing.module.source
    return source(frozen.model) == source(thawing.model) or (
        freezing.is_given(frozen) or freezing.is_given(thawing)
    )


def _finding(
    file: File, freezing: Freezing, thawing: Setting, compiled: Use, steps: Sequence[Use]
) -> Finding:
    part, whole = file.source(thawing.model), file.source(compiled.model)
    names = [name_at(freezing, thawing.model, use.call) for use in steps]
    named = [(use.call, name) for use, name in zip(steps, names, strict=True) if name is not None]
    title = f"Freeze `{part}` around the training of `{whole}`"
    fix = (
        fix_around(freezing, title, thawing.model, named, (False, True))
        if len(named) == len(names)
        else None
    )
    return file.finding(
        f"`{part}` is unfrozen after `{whole}` was compiled: Keras 2 kept it frozen in `{whole}`, "
        f"on Keras 3 training `{whole}` trains `{part}` too",
        at=thawing.node,
        symbol="Model.trainable",
        help=f"Set `{part}.trainable = False` before a training step of `{whole}`, and True after.",
        fix=fix
        or NoFix(
            "there is no place for a statement next to the training call, or the model has "
            "another name there"
        ),
    )
