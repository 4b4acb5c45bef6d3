"""`metrics=["binary_crossentropy"]` with targets of one axis: Keras 3 makes no column of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_keras_3, passed, replace_expression, speller_at, value_of
from kdoctor.analysis.dataflow.points_to_by_call import MadeObject, points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.conditions import attribute, word
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._output_size import output_of
from kdoctor.rules.behaviour._training_targets import BY_GENERATORS, TRAINED, targets_given
from kdoctor.rules.fixes.helper_definition import (
    helper_edits,
    is_name_of_module,
    not_added,
    top_statement,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_RAISES: Final = (
    "ValueError: Arguments `target` and `output` must have the same rank (ndim). Received: "
    "target.shape=(None,), output.shape=(None, 1)"
)
_CHANGES: Final = "each prediction is compared with the targets of all samples"
# What each metric of Keras that combines both element by element does then.
_FUNCTIONS: Final = {
    "binary_crossentropy": _RAISES,
    "binary_focal_crossentropy": _RAISES,
    **dict.fromkeys(("hinge", "squared_hinge", "poisson", "kl_divergence"), _CHANGES),
}
_CLASSES: Final = {
    "BinaryCrossentropy": "binary_crossentropy",
    "Hinge": "hinge",
    "SquaredHinge": "squared_hinge",
    "Poisson": "poisson",
    "KLDivergence": "kl_divergence",
}
HELPER: Final = '''def {name}(y_true, y_pred):
    """Measure targets of one axis as a column, as Keras 2 did."""
    return {losses}.{name}({ops}.reshape(y_true, {ops}.shape(y_pred)), y_pred)'''


def _may_name_one(form: object) -> bool:
    """Say whether `metrics=` may have one of them: a name may stand for any."""
    if isinstance(form, list | tuple):
        return any(map(_may_name_one, form))
    if isinstance(form, str):
        return form in _FUNCTIONS or form in _CLASSES
    if isinstance(form, Expression):
        _, dot, leaf = form.name.rpartition(".")
        is_plain = bool(dot) and form.kind in {"Attribute", "Call"}
        return not is_plain or leaf in _FUNCTIONS or leaf in _CLASSES
    return form is not None


class _Metric(Struct, frozen=True):
    """An entry of ``metrics=``; ``is_made``: an instance, which has a state and settings."""

    node: cst.BaseExpression
    name: str
    is_made: bool


@rule(
    "KD491",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(
        called("compile").passing("metrics", place=2, where=_may_name_one),
        word(*_FUNCTIONS, *_CLASSES),
        attribute(*TRAINED, *BY_GENERATORS),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each metric of a model with one column that gets targets without."""
    module = file.module
    compiled: dict[MadeObject, list[_Metric]] = {}
    flat: dict[MadeObject, cst.BaseExpression] = {}
    by_call, arrays = points_to_by_call_of(module), ranks_of(module)
    for use in module.members_named("compile", *TRAINED, *BY_GENERATORS):
        if use.owner.kind is not Kind.MODEL or use.called is None or use.owner_defines:
            continue
        metrics = _metrics(module, file.facts, use.called) if use.member == "compile" else ()
        given = (
            ()
            if use.member == "compile"
            else [
                node
                for node, data in targets_given(module, arrays, use.member, use.called)
                if data.form is ArrayForm.ARRAY and data.axes == 1
            ]
        )
        for run in by_call.runs(use.node) if metrics or given else ():
            model = by_call.made(use.node.value, run)
            if model is None or not is_keras_3(file.facts, module.qualified(model.call.func)):
                continue
            compiled.setdefault(model, []).extend(metrics)
            for each in given:
                flat.setdefault(model, each)
    measured: dict[cst.CSTNode, tuple[_Metric, cst.BaseExpression]] = {}
    for model, targets in flat.items():
        output = output_of(module, by_call, model) if compiled.get(model) else None
        if output is not None and output.units == 1:
            for metric in compiled[model]:
                if not module.is_guarded(metric.node):
                    measured.setdefault(metric.node, (metric, targets))
    for metric, targets in measured.values():
        alike = (each.node for each, _ in measured.values() if each.name == metric.name)
        yield _finding(file, metric, targets, min(alike, key=module.span))


def _metrics(module: Module, facts: TargetFacts, call: cst.Call) -> tuple[_Metric, ...]:
    value = value_of(module, passed(call, "metrics", 2))
    if value is None:
        return ()
    listed = elements_of(value) if isinstance(value, cst.List | cst.Tuple) else None
    found = (_metric(module, facts, each) for each in ([value] if listed is None else listed))
    return tuple(each for each in found if each is not None)


def _metric(module: Module, facts: TargetFacts, node: cst.BaseExpression) -> _Metric | None:
    value = value_of(module, node)
    text = literal(value)
    if isinstance(text, str):
        name = _CLASSES.get(text, text)
        return _Metric(node, name, is_made=False) if name in _FUNCTIONS else None
    is_made = isinstance(value, cst.Call)
    qualified = module.qualified(value.func if isinstance(value, cst.Call) else value) or ""
    split = split_root(qualified)
    if split is None or not is_keras_3(facts, qualified):
        return None
    leaf = split[1].rpartition(".")[2]
    name = _CLASSES.get(leaf, "") if is_made else leaf
    return _Metric(node, name, is_made=is_made) if name in _FUNCTIONS else None


def _finding(
    file: File, metric: _Metric, targets: cst.BaseExpression, first: cst.CSTNode
) -> Finding:
    what = _FUNCTIONS[metric.name]
    line = file.module.place(targets).line
    return file.finding(
        "the targets have shape (n,), which Keras 2 reshaped to a column before it measured; "
        f"Keras 3 does so for the loss and for accuracy, but not for `{metric.name}`: {what}",
        at=metric.node,
        symbol=f"keras.metrics.{metric.name}",
        severity=Severity.ERROR if what is _RAISES else Severity.CHANGE,
        help=f"Pass the targets of line {line} as a column, `y.reshape(-1, 1)`.",
        fix=_fix(file, metric, first),
    )


def _fix(file: File, metric: _Metric, first: cst.CSTNode) -> Fix | NoFix:
    """Measure by a function of the file that makes a column of the targets.

    It stands above the ``first`` metric that needs it.
    """
    module, name = file.module, metric.name
    if metric.is_made:
        return NoFix("a metric that is an instance has settings of its own: pass a column")
    before = top_statement(module, first)
    speller = speller_at(module, before)
    (losses, of_losses), (ops, of_ops) = (
        speller.spell(f"keras.{each}") for each in ("losses", "ops")
    )
    text = HELPER.format(name=name, losses=losses, ops=ops)
    edits = helper_edits(module, before, name, text)
    if edits is None or not is_name_of_module(module, name, metric.node):
        return not_added(name)
    return file.fix(
        f"Measure by `{name}`, a new function in this file that makes a column of the targets",
        *edits,
        replace_expression(module, metric.node, name),
        imports=(of_losses, of_ops),
        unsafe_because="a model that is saved with it needs `custom_objects` to be loaded compiled",
    )
