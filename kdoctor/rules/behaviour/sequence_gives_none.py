"""A `Sequence` whose batches end with None: Keras 3 takes None for a part of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.parts import ANYTHING, OneOf
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._asked_for import outcomes
from kdoctor.rules.behaviour._taken_batches import are_taken_by_hand, is_imported_elsewhere
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.scopes import Binding, BindingKind

_SEQUENCES: Final = ("utils.Sequence", "utils.PyDataset", "utils.data_utils.Sequence")
_ERROR: Final = (
    "InvalidArgumentError: `generator` yielded an element that did not match the expected structure"
)
_OTHERS: Final = "who else takes batches of it may count on their length"


def _may_end_with_none(batch: object) -> bool:
    if not isinstance(batch, list | tuple) or not 1 < len(batch) < 4:
        return False
    last = batch[-1]
    return last is None or last == ANYTHING or (isinstance(last, OneOf) and None in last.forms)


@rule(
    "KD489",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=methods("__getitem__", of=_SEQUENCES, returning=_may_end_with_none, guarded=True),
)
def check(method: Method) -> Iterator[Finding]:
    """Report each such batch."""
    for each in own_nodes(method.node.body):
        batch = each.value if isinstance(each, cst.Return) else None
        if not isinstance(batch, cst.Tuple | cst.List) or not 1 < len(batch.elements) < 4:
            continue
        last = batch.elements[-1].value
        is_none = _is_none(last)
        if is_none or _may_be_none(method.module, last):
            yield method.finding(
                f"a batch with None in it {'is' if is_none else 'may come, which is'} refused: "
                f"{_ERROR}",
                at=batch,
                symbol="keras.Model.predict",
                help="Return a tuple without it: `(x,)` to predict, `(x, y)` to train.",
                fix=_fix(method, batch),
            )


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _may_be_none(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a branch of the method assigns None, and no test keeps it from this place."""
    return isinstance(node, cst.Name) and any(
        not _is_passed_over(module, node, each) for each in _as_none(module, node)
    )


def _as_none(module: Module, name: cst.Name) -> list[Binding]:
    return [
        each
        for each in module.bindings_at(name)
        if each.kind is BindingKind.ASSIGN
        and each.value is not None
        and _is_none(each.value)
        and not each.path
    ]


def _is_passed_over(module: Module, node: cst.Name, binding: Binding) -> bool:
    """Say whether a test of the name, while it is None by ``binding``, leads past this place."""
    above = {id(each) for each in module.ancestors(node)}
    return any(
        id(part) in above
        for each in descendants(module.scope_of(node).node)
        if isinstance(each, cst.Name) and each.value == node.value and each is not node
        if binding in _as_none(module, each)
        for outcome in outcomes(module, each, None)
        for part in outcome.passed_over
    )


def _fix(method: Method, batch: cst.Tuple | cst.List) -> Fix | NoFix:
    module = method.module
    kept = [each.value for each in batch.elements]
    while kept and _is_none(kept[-1]):
        kept.pop()
    if are_taken_by_hand(module, method.owner.symbol) or is_imported_elsewhere(module):
        return NoFix(_OTHERS)
    if not isinstance(batch, cst.Tuple) or not kept or "#" in _text(module, batch):
        return NoFix("what it is made of has to be taken apart")
    sources = [module.source(each) for each in kept]
    if len(kept) < len(batch.elements):
        written = _tuple_of(sources)
    elif all(isinstance(each, cst.Name) for each in kept):
        without, last = _tuple_of(sources[:-1]), sources[-1]
        written = f"{without} if {last} is None else {_tuple_of(sources)}"
    else:
        return NoFix("what comes before it would be written twice")
    edit = Edit(module.outer_span(batch), (written,))
    return method.fix("Leave None out of the batch", edit)


def _tuple_of(sources: list[str]) -> str:
    return f"({sources[0]},)" if len(sources) == 1 else f"({', '.join(sources)})"


def _text(module: Module, node: cst.CSTNode) -> str:
    span = module.outer_span(node)
    return module.text[span.start : span.end]
