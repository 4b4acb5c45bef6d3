"""`fit(flow, steps_per_epoch=n // 32)`: every other epoch is just the remaining batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, plain_literal, value_of
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, methods_in, only_base
from kdoctor.analysis.training.batch_sizes import batch_size_of_flow
from kdoctor.analysis.training.generators import has_several_epochs
from kdoctor.analysis.triggers import Trigger, attribute, word
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.behaviour._counted_steps import (
    Division,
    fixed_or_written,
    leaves_some,
    rounded_down,
)
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_FITS = {"fit": "x", "fit_generator": "generator"}
_STEPS = "steps_per_epoch"
_UP = frozenset({"math.ceil", "numpy.ceil"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such number of steps."""
    by_call = points_to_by_call_of(module)
    for use in module.members:
        if use.member not in _FITS or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        steps = argument(use.called, _STEPS, 1 if use.member == "fit_generator" else None)
        if steps is None or use.owner_defines or module.is_guarded(use.called):
            continue
        if not has_several_epochs(module, use.called, use.member):
            continue
        data = argument(use.called, _FITS[use.member], 0)
        division = rounded_down(module, steps.value)
        if data is None or division is None:
            continue
        for run in by_call.runs(use.node):
            made = by_call.made(data.value, run)
            if made is not None and _is_cut(module, facts, data.value, made.call, division):
                yield _finding(module, use, steps, division)
                break


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
    value = plain_literal(value_of(module, division.batch))
    known = {plain_literal(value_of(module, each.value)) for each in made.args} if own else set()
    known |= {int(size)} if size is not None and size.isdigit() else set()
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


def _finding(module: Module, use: MemberUse, steps: cst.Arg, division: Division) -> Finding:
    assert use.called is not None
    edits = None if steps.keyword is None else remove_arguments(module, use.called, [steps])
    counted = f"{module.source(division.samples)} // {module.source(division.batch)}"
    return rule.finding(
        module.place(steps.value),
        f"`{counted}` does not count a partial last batch, and Keras 3 makes an epoch of it: "
        "every other epoch is this one batch",
        symbol=f"Model.{use.member}({_STEPS})",
        confidence=use.confidence,
        help="Remove `steps_per_epoch`: an epoch then covers all of the data.",
        fix=Fix(
            "Remove `steps_per_epoch`",
            tuple(edits),
            Applicability.UNSAFE,
            unsafe_because="each epoch gets one more batch: the remaining samples",
        )
        if edits is not None
        else NoFix(
            "a comment would be removed with it"
            if steps.keyword is not None
            else "the steps are passed by position"
        ),
    )


def _may_be_cut(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether steps may be counted by a division."""
    steps = (
        called.argument(_STEPS, 1)
        for method in _FITS
        for called in quick.calls_by_leaf.get(method, ())
    )
    return any(
        isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div | ast.FloorDiv)
        for each in quick.reached(each for each in steps if each is not None)
    )


rule = Rule(
    code="KD461",
    name="epochs-cut-short",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_FITS) & word("ImageDataGenerator", "__len__") & Trigger(_may_be_cut),
    since="3.0",
)
