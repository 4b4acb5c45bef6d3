"""`sample_weight={"a": …, "b": …}`: sample weights keyed by the names of a model's outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.models.output_names import names_of_outputs
from kdoctor.analysis.queries import Call, calls, constructs
from kdoctor.analysis.queries.forms import DictForm, Expression, is_sequence_of_several
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TRAINED = ("evaluate", "fit", "test_on_batch", "train_on_batch")


def _may_hold_a_dict(form: object) -> bool:
    parts = form if isinstance(form, tuple) else (form,)
    return any(
        isinstance(each, DictForm) or (isinstance(each, Expression) and each.kind == "Name")
        for each in parts
    )


@rule(
    "KD321",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_TRAINED, on=Kind.MODEL)
    .passing("sample_weight", "validation_data")
    .passing_one_of(
        (("y", 1), ("sample_weight", None), ("validation_data", None)), where=_may_hold_a_dict
    )
    .beside(constructs(Kind.MODEL).passing("outputs", place=1, where=is_sequence_of_several)),
)
def check(call: Call) -> Iterator[Finding]:
    """Report the weights of each such call."""
    found = [each for each in _given(call) if _is_by_name(call.module, *each)]
    outputs = _outputs(call) if found else None
    if outputs is not None:
        for targets, weights in found:
            yield _finding(call, outputs, (targets, weights))


def _given(call: Call) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Yield the targets and weights that a call gives."""
    targets, weights = call.argument("y", 1), call.argument("sample_weight")
    if targets is not None and weights is not None and literal(weights.value) is not None:
        yield targets.value, weights.value
    match call.value("validation_data"):
        case cst.Tuple(elements=[_, cst.Element(value=y), cst.Element(value=sample_weight)]):
            yield y, sample_weight


def _is_by_name(
    module: Module, targets: cst.BaseExpression, weights: cst.BaseExpression
) -> bool:  # fmt: skip
    return any(isinstance(value_of(module, each), cst.Dict) for each in (targets, weights))


def _outputs(call: Call) -> cst.BaseExpression | None:
    """Return the list of outputs that a model is made with, here or by a function of the file."""
    assert call.use is not None
    module, receiver = call.module, call.use.node.value
    made: Sequence[cst.BaseExpression] = [value_of(module, receiver)]
    known = list(points_to_of(module).of(receiver))
    if len(known) == 1 and not known[0].part:
        returned = points_to_of(module).returned_by(known[0].call)
        made = [value_of(module, each) for each in returned] or [known[0].call]
    if len(made) != 1 or not isinstance(made[0], cst.Call):
        return None
    model = module.type_of(made[0])
    given = argument(made[0], "outputs", 1)
    if model is None or model.cls != "Functional" or given is None:
        return None
    outputs = value_of(module, given.value)
    several = isinstance(outputs, cst.List | cst.Tuple) and len(outputs.elements) > 1
    return outputs if several else None


def _finding(
    call: Call, outputs: cst.BaseExpression, given: tuple[cst.BaseExpression, cst.BaseExpression]
) -> Finding:
    targets, weights = (isinstance(value_of(call.module, each), cst.Dict) for each in given)
    error = (
        "KeyError: 0"
        if targets
        else "ValueError: You should provide one `sample_weight` array per output in `y`."
    )
    which = "weights" if weights else "targets"
    return call.finding(
        f"the model's outputs are a list, but its {which} are a dict: {error}",
        at=given[1] if weights else given[0],
        symbol=f"{call.cls or 'Model'}.{call.leaf}(sample_weight)",
        help="Pass targets and weights as lists in the order of the outputs.",
        fix=_in_order(call, names_of_outputs(call.module, outputs), given),
    )


def _in_order(call: Call, names: Sequence[str], given: Sequence[cst.BaseExpression]) -> Fix | NoFix:
    """Return the fix that makes lists of dicts, none where one does not say it all."""
    module, edits = call.module, []
    for node in given:
        if not isinstance(value_of(module, node), cst.Dict):
            continue
        held = _by_name(node) if isinstance(node, cst.Dict) else {}
        if not names or held.keys() != set(names) or "#" in module.source(node):
            return NoFix("the code does not say which entry belongs to which output")
        parts: list[str | Hole] = []
        for name in names:
            parts += [", " if parts else "[", Hole(module.outer_span(held[name]))]
        edits.append(Edit(module.span(node), (*parts, "]")))
    return call.fix("Pass lists in the order of the outputs", *edits)


def _by_name(node: cst.Dict) -> Mapping[object, cst.BaseExpression]:
    if not all(isinstance(each, cst.DictElement) for each in node.elements):
        return {}
    return {
        literal(each.key): each.value
        for each in node.elements
        if isinstance(each, cst.DictElement)
    }  # fmt: skip
