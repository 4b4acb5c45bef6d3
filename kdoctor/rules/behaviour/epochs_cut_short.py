"""`fit(flow, steps_per_epoch=n // 32)`: every other epoch is just the remaining batch."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_hidden, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.training.batch_sizes import batch_size_of_flow
from kdoctor.analysis.training.generators import has_several_epochs
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.behaviour._counted_steps import (
    Division,
    fixed_or_written,
    leaves_some,
    rounded_down,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_DATA = {"fit": "x", "fit_generator": "generator"}
_STEPS = "steps_per_epoch"
_UP = frozenset({"math.ceil", "numpy.ceil"})


def _may_round_down(form: object) -> bool:
    """Say whether it is a division, or a call other than ``max(len(flow), 1)``."""
    if not isinstance(form, Expression):
        return False
    return (form.kind == "Call" and form.name not in {"len", "max"}) or form.name in {"/", "//"}


@rule(
    "KD461",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=(
        calls("fit", on=Kind.MODEL).even(hidden=True).argument(_STEPS, where=_may_round_down)
        | calls("fit_generator", on=Kind.MODEL)
        .even(hidden=True)
        .argument(_STEPS, 1, where=_may_round_down)
    ).beside(word("ImageDataGenerator", "__len__")),
)
def check(steps: Argument) -> Finding | None:
    """Report each such number of steps."""
    module = steps.module
    division = rounded_down(module, steps.node)
    data = steps.argument(_DATA[steps.leaf], 0)
    if data is None or division is None:
        return None
    if not has_several_epochs(module, steps.call, steps.leaf):
        return None
    by_call = points_to_by_call_of(module)
    assert steps.use is not None
    made = (by_call.made(data.value, run) for run in by_call.runs(steps.use.node))
    if not any(
        each is not None and _is_cut(module, steps.facts, data.value, each.call, division)
        for each in made
    ):
        return None
    counted = f"{module.source(division.samples)} // {module.source(division.batch)}"
    return steps.finding(
        f"`{counted}` does not count a partial last batch, and Keras 3 makes an epoch of it: "
        "every other epoch is this one batch",
        symbol=f"Model.{steps.leaf}({_STEPS})",
        help="Remove `steps_per_epoch`: an epoch then covers all of the data.",
        fix=_removed(steps),
    )


def _removed(steps: Argument) -> Fix | NoFix:
    if steps.arg.keyword is None:
        return NoFix("the steps are passed by position")
    edits = remove_arguments(steps.module, steps.call, [steps.arg])
    if edits is None:
        return NoFix("a comment would be removed with it")
    return steps.fix(
        "Remove `steps_per_epoch`",
        *edits,
        unsafe_because="each epoch gets one more batch: the remaining samples",
    )


def _is_cut(
    module: Module, facts: TargetFacts, data: cst.BaseExpression, made: cst.Call, division: Division
) -> bool:
    """Say whether all of what a call gives is counted, in its own batches, and may leave some."""
    own = class_named(module, made.func)
    size = batch_size_of_flow(module, facts, made) if own is None else None
    if is_hidden(made) or (own is None and size is None):
        return False
    if own is not None and not _rounds_up(module, own):
        return False
    texts = {fixed_or_written(module, each.value) for each in made.args}
    itself = module.source(data)
    batch = module.source(division.batch)
    sizes = {f"{itself}.batch_size", *(texts if own is not None else {size})}
    value = literal(value_of(module, division.batch))
    known = [literal(value_of(module, each.value)) for each in made.args] if own else []
    known += [int(size)] if size is not None and size.isdigit() else []
    if batch not in sizes and (not isinstance(value, int) or value not in known):
        return False
    is_folder = isinstance(made.func, cst.Attribute) and "directory" in made.func.attr.value
    return leaves_some(module, division, {itself, *texts}, is_counted=is_folder)


def _rounds_up(module: Module, cls: cst.ClassDef) -> bool:
    """Say whether the length of a ``Sequence`` of the file counts what is left over as a batch."""
    length = methods_in(cls).get("__len__")
    returned = [] if length is None else returned_in(length)
    only = only_base(module, cls)
    if len(returned) != 1 or returned[0] is None or only is None:
        return False
    base = module.qualified(only) or ""
    if not base.endswith((".Sequence", ".PyDataset")):
        return False
    value = value_of(module, returned[0])
    while isinstance(value, cst.Call) and len(value.args) == 1:
        if module.qualified(value.func) in _UP:
            return True
        value = value_of(module, value.args[0].value)
    return False
