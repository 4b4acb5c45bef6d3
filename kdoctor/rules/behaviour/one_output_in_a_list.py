"""A model created with `outputs=[y]` returns a list of one instead of a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.queries import File, Instance, constructs, files
from kdoctor.analysis.queries.forms import is_list_of_one
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._list_uses import UseOfList, uses_of_lists
from kdoctor.rules.behaviour._single_item_lists import SingleItemLists, models_with_one_in_a_list
from kdoctor.rules.behaviour._visible_model_uses import counts_on_no_list
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MAX_QUOTED_LENGTH = 60  # of code that is quoted


@rule(
    "KD450",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_list_of_one
        )
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such list by which something breaks."""
    module, facts = file.module, file.facts
    made = dict(models_with_one_in_a_list(module, facts))
    if not made:
        return
    lists = SingleItemLists(module, frozenset(made))
    found: dict[cst.Call, list[UseOfList]] = {}
    for use in uses_of_lists(module, facts, lists):
        for model in use.models:
            found.setdefault(model, []).append(use)
    for model, outputs in made.items():
        if model in found:
            uses = sorted(found[model], key=lambda each: module.span(each.node))
            yield _finding(file, model, outputs, uses)


def _finding(file: File, model: cst.Call, outputs: cst.List, uses: Sequence[UseOfList]) -> Finding:
    errors = [each for each in uses if each.severity is Severity.ERROR]
    first = (errors or uses)[0]
    more = len({each.node for each in uses}) - 1
    return file.finding(
        f"the output is in a list, so {_quoted(file.module, first)} {first.how} a list of one, "
        f"not a tensor as in Keras 2: {first.what}" + (f" (and {more} more)" if more else ""),
        symbol="keras.Model(outputs)",
        at=outputs,
        severity=first.severity,
        help="Pass the single output without a list.",
        fix=_fix(file, model, outputs),
    )


def _quoted(module: Module, use: UseOfList) -> str:
    place, source = module.place(use.node), " ".join(module.source(use.node).split())
    where = f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"
    shown = source if len(source) <= _MAX_QUOTED_LENGTH else f"{source[: _MAX_QUOTED_LENGTH - 1]}…"
    return f"`{shown}` ({where})"


def _fix(file: File, model: cst.Call, outputs: cst.List) -> Fix | NoFix:
    module = file.module
    output = outputs.elements[0].value
    if module.source(outputs).count("#") > module.source(output).count("#"):
        return NoFix("there is a comment in the list")
    inner = Hole(module.outer_span(output), Precedence.LAMBDA, precedence_of(output))
    is_safe = counts_on_no_list(module, model)
    return file.fix(
        "Remove the list around the single output",
        Edit(module.span(outputs), (inner,)),
        unsafe_because=""
        if is_safe
        else "other code uses the model or its result: `[0]` on that now takes the "
        "tensor out of the list, and would then take the first sample of the batch",
    )
