"""A model compiled with `loss="mse"` and saved to `.h5` cannot be loaded again."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.node_values import elements_in
from kdoctor.analysis.queries.conditions import text, word
from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._save_and_load_calls import (
    LOADS_H5,
    FileUse,
    PathUse,
    compiles,
    file_uses,
    is_h5,
    is_same_path,
    model_of,
    saves,
)
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind


@rule(
    "KD607",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load").beside(
        LOADS_H5, word("save", "save_model"), text(LONG_NAMES.__contains__)
    ),
)
def check(load: FileUse) -> Finding | None:
    """Report each load of a file that this module writes with a short loss name."""
    if not is_h5(load.use) or not compiles(load.use):
        return None
    losses = _short_losses(load.module, load.use)
    if not losses:
        return None
    name = str(literal(losses[0]))
    return load.finding(
        f"the file is saved with the short loss name `{name}`: ValueError: Could not "
        f"deserialize 'keras.metrics.{name}' because it is not a KerasSaveable subclass",
        help="Compile with the full name of the loss; load older files with `compile=False`.",
        fix=load.fix(
            "Compile with the full name of the loss",
            *(_long_name(load.module, loss) for loss in losses),
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
    for each in () if loss is None else elements_in(loss):
        if isinstance(each, cst.SimpleString):
            yield each


def _last_loss(module: Module, save: PathUse) -> cst.BaseExpression | None:
    """Return the loss that the saved model was last compiled with, in the same run of code."""
    saved = model_of(save)
    if saved is None:
        return None
    scope, place, name = module.scope_of(saved), module.span(save.call), module.source(saved)
    compiled = [
        use.called
        for use in module.members_named("compile")
        if use.owner.kind is Kind.MODEL
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
