"""`evaluate` returns the metrics of several outputs in a different order."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.uses import index_read
from kdoctor.analysis.models.output_names import names_of_outputs
from kdoctor.analysis.queries import Call, Instance, calls, constructs
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.forms import is_sequence_of_several
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_GIVE_RESULTS = frozenset({"evaluate", "test_on_batch", "train_on_batch"})


@rule(
    "KD426",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls(*_GIVE_RESULTS, on=Kind.MODEL)
    .without("return_dict")
    .beside(
        keyword("metrics"),
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_sequence_of_several
        ),
    ),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    module, model = call.module, call.node.func
    assert isinstance(model, cst.Attribute)
    names = _names_of_outputs(module, model)
    if list(names) == sorted(names) or not _measures_several(module, model):
        return None
    if not _reads_a_metric(module, call.node, 1 + len(names)):
        return None
    first = min(names)
    return call.finding(
        f"the metrics are sorted by output name: those of `{first}` come first, in Keras 2 those "
        f"of `{names[0]}`",
        symbol=call.name.removeprefix("keras."),
        help=f'Pass `return_dict=True` and read the results by name: `results["{names[0]}_…"]`.',
        fix=NoFix("everything that reads the results must read them by name"),
    )


def _names_of_outputs(module: Module, method: cst.Attribute) -> Sequence[str]:
    """Return the names of the outputs in their order, nothing where one is not written out."""
    made = value_of(module, method.value)
    found = module.type_of(made) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or found is None or found.cls != "Functional":
        return []
    given = argument(made, "outputs", 1)
    return names_of_outputs(module, None if given is None else given.value)


def _measures_several(module: Module, method: cst.Attribute) -> bool:
    """Say whether all that compiles the model gives metrics to several outputs."""
    model = module.source(method.value)
    compiled = [
        each.called
        for each in module.members_named("compile")
        if each.called is not None
        and module.source(each.node.value) == model
        and module.scope_of(each.node) is module.scope_of(method)
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
