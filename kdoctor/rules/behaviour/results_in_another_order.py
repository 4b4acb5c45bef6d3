"""`evaluate` returns the metrics of several outputs in a different order."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, value_of
from kdoctor.analysis.dataflow.uses import index_read
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.output_names import names_of_outputs
from kdoctor.analysis.triggers import Trigger, attribute, keyword
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind

_GIVE_RESULTS = frozenset({"evaluate", "test_on_batch", "train_on_batch"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    del facts
    for use in module.members:
        call = use.called
        if use.member not in _GIVE_RESULTS or use.owner.kind is not Kind.MODEL or call is None:
            continue
        if use.owner_defines or is_hidden(call) or module.is_guarded(call):
            continue
        if argument(call, "return_dict") is not None:
            continue
        names = _names_of_outputs(module, use)
        if list(names) == sorted(names) or not _measures_several(module, use):
            continue
        if _reads_a_metric(module, call, 1 + len(names)):
            yield _finding(module, use, call, names)


def _finding(module: Module, use: MemberUse, call: cst.Call, names: Sequence[str]) -> Finding:
    first = min(names)
    return rule.finding(
        module.place(call),
        f"the metrics are sorted by output name: those of `{first}` come first, in Keras 2 those "
        f"of `{names[0]}`",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=use.confidence,
        help=f'Pass `return_dict=True` and read the results by name: `results["{names[0]}_…"]`.',
        fix=NoFix("everything that reads the results must read them by name"),
    )


def _names_of_outputs(module: Module, use: MemberUse) -> Sequence[str]:
    """Return the names of the outputs in their order, nothing where one is not written out."""
    made = value_of(module, use.node.value)
    found = module.type_of(made) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or found is None or found.cls != "Functional":
        return []
    given = argument(made, "outputs", 1)
    return names_of_outputs(module, None if given is None else given.value)


def _measures_several(module: Module, use: MemberUse) -> bool:
    """Say whether all that compiles the model gives metrics to several outputs."""
    model = module.source(use.node.value)
    compiled = [
        each.called
        for each in module.members
        if each.member == "compile"
        and each.called is not None
        and module.source(each.node.value) == model
        and module.scope_of(each.node) is module.scope_of(use.node)
    ]
    return bool(compiled) and all(_has_several(module, each) for each in compiled)


def _has_several(module: Module, compiling: cst.Call) -> bool:
    given = argument(compiling, "metrics")
    metrics = None if given is None else value_of(module, given.value)
    if not isinstance(metrics, cst.Dict | cst.List | cst.Tuple):
        return False
    return len(metrics.elements) > 1 and not any(
        isinstance(each, cst.StarredDictElement | cst.StarredElement)
        or (isinstance(each.value, cst.Name) and each.value.value == "None")
        for each in metrics.elements
    )


def _reads_a_metric(module: Module, call: cst.Call, losses: int) -> bool:
    """Say whether one of the results behind the losses is read by its position."""
    parent = module.parent(call)
    if isinstance(parent, cst.Assign):
        target = parent.targets[0].target
        if isinstance(target, cst.Tuple | cst.List):
            return len(target.elements) > losses
    around = [parent] if isinstance(parent, cst.Subscript) else []
    owner = module.scope_of(call).node
    reads = (
        each
        for each in descendants(owner)
        if isinstance(each, cst.Subscript)
        and isinstance(each.value, cst.Name)
        and value_of(module, each.value) is call
    )
    places = map(index_read, (*around, *reads))
    return any(place is not None and place >= losses for place in places)


def _may_differ(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether there may be outputs with names, and results without, each written out."""
    return any(
        "return_dict" not in called.keywords
        for name in _GIVE_RESULTS
        for called in quick.calls_by_leaf.get(name, ())
        if not called.is_hidden
    ) and any(
        _may_name_outputs(quick, called)
        for called in quick.calls
        if called.places > 1 or "outputs" in called.keywords
    )


def _may_name_outputs(quick: QuickFacts, called: QuickCall) -> bool:
    """Say whether a call is passed several outputs that calls made."""
    return any(
        isinstance(outputs, ast.List | ast.Tuple)
        and len(outputs.elts) > 1
        and all(
            any(isinstance(value, ast.Call) for value in quick.values_of(each))
            for each in outputs.elts
        )
        for outputs in quick.values_of(called.argument("outputs", 1))
    )


rule = Rule(
    code="KD426",
    name="results-in-another-order",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_GIVE_RESULTS) & keyword("metrics") & Trigger(_may_differ),
    since="3.0",
)
