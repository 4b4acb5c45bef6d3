"""A model compiled with `loss="mse"` and saved to `.h5` cannot be loaded again."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.analysis.triggers import text, word
from kdoctor.model import Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._possible_endings import LOADS_H5
from kdoctor.rules.saving._save_and_load_calls import (
    PathUse,
    compiles,
    is_h5,
    is_same_path,
    loads,
    model_of,
    saves,
)
from kdoctor.syntax import Module
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each load of a file that this module writes with a short loss name."""
    for use in loads(module):
        if not is_h5(use) or not compiles(use) or module.is_guarded(use.call):
            continue
        losses = _short_losses(module, use)
        if not losses:
            continue
        name = str(literal(losses[0]))
        yield rule.finding(
            module.place(use.call),
            f"the file is saved with the short loss name `{name}`: ValueError: Could not "
            f"deserialize 'keras.metrics.{name}' because it is not a KerasSaveable subclass",
            symbol=use.symbol,
            confidence=use.confidence,
            help="Compile with the full name of the loss; load older files with `compile=False`.",
            fix=Fix(
                "Compile with the full name of the loss",
                tuple(_long_name(module, loss) for loss in losses),
                facts.applicability(*(each for each in rule.invalid if each.after)),
            ),
        )


def _short_losses(module: Module, load: PathUse) -> list[cst.SimpleString]:
    """Return the short names with which the models are compiled that are saved where this loads."""
    return [
        name
        for save in saves(module)
        if is_same_path(module, save, load)
        for name in _names(_last_loss(module, save))
        if literal(name) in LONG_NAMES
    ]


def _names(loss: cst.BaseExpression | None) -> Iterator[cst.SimpleString]:
    """Yield the strings of a loss: of one, of a list for several outputs, of a dict by output."""
    match loss:
        case cst.SimpleString():
            yield loss
        case cst.List() | cst.Tuple():
            for each in loss.elements:
                yield from _names(each.value)
        case cst.Dict():
            for entry in loss.elements:
                yield from _names(entry.value)


def _last_loss(module: Module, save: PathUse) -> cst.BaseExpression | None:
    """Return the loss that the saved model was last compiled with, in the same run of code."""
    saved = model_of(save)
    if saved is None:
        return None
    scope, place, name = module.scope_of(saved), module.span(save.call), module.source(saved)
    compiled = [
        use.called
        for use in module.members
        if use.member == "compile"
        and use.owner.kind is Kind.MODEL
        and use.called is not None
        and module.source(use.node.value) == name
        and module.scope_of(use.node) is scope
        and module.span(use.node) < place
    ]
    loss = argument(max(compiled, key=module.span), "loss", 1) if compiled else None
    return None if loss is None else loss.value


def _long_name(module: Module, loss: cst.SimpleString) -> Edit:
    quote = loss.quote
    return Edit(module.span(loss), (f"{quote}{LONG_NAMES[str(literal(loss))]}{quote}",))


rule = Rule(
    code="KD607",
    name="short-names-in-h5",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=LOADS_H5 & word("save", "save_model") & text(LONG_NAMES.__contains__),
    since="3.0",
)
