"""`sample_weight={"a": …, "b": …}`: sample weights keyed by the names of a model's outputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.output_names import names_of_outputs
from kdoctor.analysis.triggers import Trigger, attribute, has_several_outputs, keyword
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TRAINED = ("evaluate", "fit", "test_on_batch", "train_on_batch")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report the weights of each such call."""
    for use in module.members:
        call = use.called
        if use.member not in _TRAINED or use.owner.kind is not Kind.MODEL or call is None:
            continue
        if use.owner_defines or is_hidden(call) or module.is_guarded(call):
            continue
        found = [each for each in _given(module, call) if _is_by_name(module, *each)]
        outputs = _outputs(module, use) if found else None
        if outputs is not None:
            for targets, weights in found:
                yield _finding(module, facts, use, outputs, (targets, weights))


def _given(
    module: Module, call: cst.Call
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Yield the targets and weights that a call gives."""
    targets, weights = argument(call, "y", 1), argument(call, "sample_weight")
    if targets is not None and weights is not None and literal(weights.value) is not None:
        yield targets.value, weights.value
    held_out = argument(call, "validation_data")
    match None if held_out is None else value_of(module, held_out.value):
        case cst.Tuple(elements=[_, cst.Element(value=y), cst.Element(value=sample_weight)]):
            yield y, sample_weight


def _is_by_name(
    module: Module, targets: cst.BaseExpression, weights: cst.BaseExpression
) -> bool:  # fmt: skip
    return any(isinstance(value_of(module, each), cst.Dict) for each in (targets, weights))


def _outputs(module: Module, use: MemberUse) -> cst.BaseExpression | None:
    """Return the list of outputs that a model is made with, here or by a function of the file."""
    made: Sequence[cst.BaseExpression] = [value_of(module, use.node.value)]
    known = list(points_to_of(module).of(use.node.value))
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
    module: Module,
    facts: TargetFacts,
    use: MemberUse,
    outputs: cst.BaseExpression,
    given: tuple[cst.BaseExpression, cst.BaseExpression],
) -> Finding:
    edits = _in_order(module, names_of_outputs(module, outputs), given)
    targets, weights = (isinstance(value_of(module, each), cst.Dict) for each in given)
    error = (
        "KeyError: 0"
        if targets
        else "ValueError: You should provide one `sample_weight` array per output in `y`."
    )
    which = "weights" if weights else "targets"
    return rule.finding(
        module.place(given[1] if weights else given[0]),
        f"the model's outputs are a list, but its {which} are a dict: {error}",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}(sample_weight)",
        confidence=use.confidence,
        help="Pass targets and weights as lists in the order of the outputs.",
        fix=Fix(
            "Pass lists in the order of the outputs",
            edits,
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        if edits is not None
        else NoFix("the code does not say which entry belongs to which output"),
    )


def _in_order(
    module: Module, names: Sequence[str], given: Sequence[cst.BaseExpression]
) -> tuple[Edit, ...] | None:
    """Return the edits that make lists of dicts, None where one does not say it all."""
    edits: list[Edit] = []
    for node in given:
        if not isinstance(value_of(module, node), cst.Dict):
            continue
        held = _by_name(node) if isinstance(node, cst.Dict) else {}
        if not names or held.keys() != set(names) or "#" in module.source(node):
            return None
        parts: list[str | Hole] = []
        for name in names:
            parts += [", " if parts else "[", Hole(module.outer_span(held[name]))]
        edits.append(Edit(module.span(node), (*parts, "]")))
    return tuple(edits)


def _by_name(node: cst.Dict) -> Mapping[object, cst.BaseExpression]:
    if not all(isinstance(each, cst.DictElement) for each in node.elements):
        return {}
    return {
        literal(each.key): each.value
        for each in node.elements
        if isinstance(each, cst.DictElement)
    }  # fmt: skip


def _may_be_by_name(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether targets or weights may be a dict, and a model may have several outputs."""
    calls = [*chain.from_iterable(map(quick.calls_of, _TRAINED))]
    given = chain.from_iterable(each.values for each in calls)
    return any(
        isinstance(part, ast.Dict)
        for each in given
        for value in quick.values_of(each)
        for node in (value.elts if isinstance(value, ast.Tuple) else [value])
        for part in quick.values_of(node)
    ) and any(has_several_outputs(quick, each) for each in quick.calls)


rule = Rule(
    code="KD321",
    name="sample-weight-by-name",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute(*_TRAINED)
    & (keyword("sample_weight") | keyword("validation_data"))
    & Trigger(_may_be_by_name),
    since="3.0",
)
