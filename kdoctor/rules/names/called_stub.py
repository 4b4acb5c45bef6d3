"""Stub classes that only raise that they are gone: `keras.optimizers.legacy.Adam`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import Presence
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import Rewrite, RewriteTable, rewrite
from kdoctor.rules.names._class_checks import asked_alone, class_question
from kdoctor.rules.names._forwarded_classes import is_asserted, is_handed_on_to_be_made
from kdoctor.rules.names._missing_names import is_tried
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_CLIPS = "clipnorm=None, clipvalue=None, global_clipnorm=None"
_METHODS = (
    "Keras 3 never calls `_resource_apply_dense` or `get_updates`: it calls `build` and "
    "`update_step`, and `super().__init__` takes learning_rate="
)
_HANDED_ON = "whatever creates it must pass arguments that the Keras 3 class accepts"
_ASSERTED = "the object that is checked must be a Keras 3 optimizer"
_ASK_FOR_TODAY = "Check for the class in `keras.optimizers`, or remove the branch."
_TRUE_OF_ALL = (
    "it is true for every Keras 3 `{}`; in Keras 2 it was true only for those of "
    "`keras.optimizers.legacy`"
)
_NO_LONGER = "the new object is no longer a `{}`: the check in line {} was True, and becomes False"
_ROOT = "epsilon is added at another place in the formula: steps differ where gradients are tiny"


def _row(name: str, parameters: str) -> Rewrite:
    names = [each.partition("=")[0] for each in f"{parameters}, {_CLIPS}".split(", ")]
    return rewrite(
        f"keras.optimizers.legacy.{name}({parameters}, name=None, {_CLIPS})",
        f"keras.optimizers.{name}({', '.join(f'{each}={each}' for each in names)}, name=name)",
    )


def _is_stub(facts: TargetFacts, dotted: str) -> bool:
    """Say whether a name stands for what is gone; elsewhere, to raise is what a function is for."""
    return "legacy" in dotted.split(".") and bool(facts.lookup(dotted).stub)


@rule(
    "KD105",
    severity=Severity.ERROR,
    since="3.0",
    look_for=references(where=_is_stub).beside(word("legacy")),
)
def check(use: Name) -> Finding | None:
    """Report each call of a stub, and each class that is derived from one."""
    module, facts, reference = use.module, use.facts, use.reference
    if reference.kind is not ReferenceKind.LOAD:
        return None
    parent = module.parent(use.node)
    is_base = isinstance(parent, cst.Arg) and isinstance(module.parent(parent), cst.ClassDef)
    handed_on = not is_base and is_handed_on_to_be_made(module, reference.node)
    asserted = not is_base and is_asserted(module, reference.node)
    asked = None if asserted else asked_alone(module, reference.node)
    if use.call is None and not (is_base or handed_on or asserted or asked):
        return None
    found = facts.lookup(use.name)
    if found.presence is not Presence.EXISTS or is_tried(module, reference):
        return None
    fix = _attempt(module, _table(facts), reference, facts)
    if isinstance(fix, Fix) and (handed_on or asserted):
        fix = replace(fix, unsafe_because=_ASSERTED if asserted else _HANDED_ON)
    if asked:
        fix = _asked(module, facts, reference, fix)
    elif isinstance(fix, Fix) and not asserted:
        fix = _beside_questions(module, facts, reference, fix)
    says = f"that raises when it is created: {found.stub}"
    if asserted:
        says = "that nothing is an instance of: AssertionError"
    if asked:
        says = f"that nothing is an instance of: {asked} is never true"
    return use.finding(
        f"`{use.name}` is a stub {says}",
        severity=Severity.CHANGE if asked else None,
        help=_ASK_FOR_TODAY if asked else _help(reference, fix),
        fix=fix,
    )


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> RewriteTable:
    return RewriteTable(_ROWS, facts.signature)


def _attempt(
    module: Module, table: RewriteTable, reference: Reference, facts: TargetFacts
) -> Fix | NoFix:
    if reference.call is None:
        return _derived(module, reference, facts)
    attempt = table.attempt(module, reference, _rated)
    if isinstance(attempt, Fix) and attempt.applicability is Applicability.UNSAFE:
        return replace(attempt, unsafe_because=_ROOT)
    return attempt


def _asked(
    module: Module, facts: TargetFacts, reference: Reference, attempt: Fix | NoFix
) -> Fix | NoFix:
    """Ask for the class of today where the file makes such optimizers itself: they are of that."""
    if not isinstance(attempt, Fix):
        return attempt
    if not any(_answers(reference.name, each.name) for each in _made(module, facts)):
        return NoFix("kdoctor cannot tell whether it checks for the old optimizers only")
    leaf = reference.name.rpartition(".")[2]
    return replace(attempt, unsafe_because=_TRUE_OF_ALL.format(leaf))


def _beside_questions(module: Module, facts: TargetFacts, reference: Reference, fix: Fix) -> Fix:
    """Return the fix of what makes an optimizer, unsafe where the file asks if it is an old one."""
    asking = next(
        (
            each
            for each in module.references
            if each.kind is ReferenceKind.LOAD
            and _is_stub(facts, each.name)
            and _answers(each.name, reference.name)
            and class_question(module, each.node)
            and not is_asserted(module, each.node)
        ),
        None,
    )
    if asking is None:
        return fix
    line, was_safe = module.place(asking.node).line, fix.applicability is Applicability.SAFE
    because = _NO_LONGER.format(module.source(asking.node), line)
    reasons = [each for each in ("" if was_safe else fix.unsafe_because, because) if each]
    return replace(fix, applicability=Applicability.UNSAFE, unsafe_because="; ".join(reasons))


def _made(module: Module, facts: TargetFacts) -> Iterator[Reference]:
    """Yield where the file makes an object of a stub, or hands one on to be made."""
    for each in module.references:
        if each.kind is not ReferenceKind.LOAD or not _is_stub(facts, each.name):
            continue
        if each.call is not None or is_handed_on_to_be_made(module, each.node):
            yield each


def _answers(asked: str, made: str) -> bool:
    """Say whether objects of one class of `keras.optimizers.legacy` were instances of another."""
    leaf = asked.rpartition(".")[2]
    return leaf in ("Optimizer", made.rpartition(".")[2])


def _derived(module: Module, reference: Reference, facts: TargetFacts) -> Fix | NoFix:
    """Return the fix of a base class: a stub has not even the attributes of the class."""
    leaf = reference.name.rpartition(".")[2]
    row = rewrite(f"keras.optimizers.legacy.{leaf}", f"keras.optimizers.{leaf}")
    table = RewriteTable((row,), facts.signature)
    attempt = table.attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(attempt, NoFix):
        return NoFix("optimizers have other methods in Keras 3")
    return replace(attempt, unsafe_because=_METHODS)


def _rated(row: Rewrite) -> Applicability:
    if row in _UNLIKE:
        return Applicability.UNSAFE
    return check.applicability([check.group("steps")[0]])


def _help(reference: Reference, attempt: Fix | NoFix) -> str:
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    if reference.call is None:
        return (
            "Derive from keras.optimizers.Optimizer and define build(variables) and "
            "update_step(gradient, variable, learning_rate)."
        )
    leaf = reference.name.rpartition(".")[2]
    return (
        f"Write keras.optimizers.{leaf}(learning_rate=…); for decay= pass a "
        "keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay) as learning_rate."
    )


_UNLIKE = (
    _row("RMSprop", "learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-07, centered=False"),
    _row("Adagrad", "learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-07"),
)
_ROWS = (
    _row("SGD", "learning_rate=0.01, momentum=0.0, nesterov=False"),
    _row("Adam", "learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, amsgrad=False"),
    _row(
        "Ftrl",
        "learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1, "
        "l1_regularization_strength=0.0, l2_regularization_strength=0.0",
    ),
    *_UNLIKE,
)
