"""``model.metrics_names``: on Keras 3 it has a single entry for all metrics of `compile`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import MemberTable, attribute
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

ROWS = (
    attribute(
        "keras.Model.metrics_names",
        "list(self.get_metrics_result())",
        unsafe_because="it is empty before the first batch",
    ),
)
_ORDER = (
    "the model has, or may have, several outputs, and then no list has the names in the order of "
    "`evaluate`"
)
_GIVE_VALUES = frozenset({"evaluate", "test_on_batch", "train_on_batch"})
_FURTHER = 3  # From here on they disagree on the places: `test_on_batch` takes `return_dict`.

# A class that has one of these may well update metrics that no `compile` was told of.
_OWN = frozenset({"compute_metrics", "metrics", "train_step"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read that the user's own model does not define."""
    table = MemberTable(ROWS, {"keras.Model": (Kind.MODEL,)}, facts.signature)
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.member == "metrics_names"
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        if _has_metrics_of_its_own(module, use):
            continue
        attempt: Fix | NoFix
        if isinstance(module.parent(use.node), cst.Attribute):
            attempt = NoFix("appending to it changes a temporary list")
        elif (by_name := _asked_by_name(module, use)) is not None:
            attempt = by_name
        elif not _has_one_output(module, use):
            attempt = NoFix(_ORDER)
        else:
            attempt = table.attempt(module, use, lambda _: _proven(facts))
        yield rule.finding(
            module.place(use.node),
            "`metrics_names` has a single entry, `compile_metrics`, for all metrics of `compile`",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="Get the values by name: `model.evaluate(x, y, return_dict=True)`.",
            fix=attempt,
        )


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after))


def _asked_by_name(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix of ``dict(zip(model.metrics_names, model.evaluate(…)))``."""
    zipped = _called_with(module, use.node, "zip", 2)
    whole = None if zipped is None else _called_with(module, zipped, "dict", 1)
    if zipped is None or whole is None or zipped.args[0].value is not use.node:
        return None
    match zipped.args[1].value:
        case cst.Call(func=cst.Attribute(value=model, attr=method)) as call if (
            method.value in _GIVE_VALUES
            and module.source(model) == module.source(use.node.value)
            and not is_hidden(call)
            and argument(call, "return_dict", _FURTHER) is None
        ):
            kept, around = module.outer_span(call), module.span(whole)
        case _:
            return None
    left, right = Span(around.start, kept.start), Span(kept.end, around.end)
    if "#" in module.text[left.start : left.end] + module.text[right.start : right.end]:
        return None
    return Fix(
        "Get the values by name: `return_dict=True`",
        (Edit(left, ()), add_keyword(module, call, "return_dict=True"), Edit(right, ())),
        Applicability.UNSAFE,
        unsafe_because="the dict has another order",
    )


def _called_with(module: Module, node: cst.CSTNode, builtin: str, count: int) -> cst.Call | None:
    """Return the call of a builtin that takes a value among so many, each by its place."""
    passed = module.parent(node)
    match call := None if passed is None else module.parent(passed):
        case cst.Call(func=cst.Name(value=name) as function, args=args) if (
            name == builtin
            and len(args) == count
            and not module.bindings_at(function)
            and not any(each.star or each.keyword for each in args)
        ):
            return call
    return None


def _has_one_output(module: Module, use: MemberUse) -> bool:
    """Say whether it is a ``Sequential``, or made here of one tensor as its output."""
    if use.owner.cls == "Sequential":
        return True
    made = value_of(module, use.node.value)
    if use.owner.cls != "Functional" or not isinstance(made, cst.Call):
        return False
    given = argument(made, "outputs", 1)
    output = None if given is None else module.type_of(given.value)
    return output is not None and output.kind is Kind.TENSOR and output.cls is not None


def _has_metrics_of_its_own(module: Module, use: MemberUse) -> bool:
    """Say whether the model is of a class that sees to its metrics itself: they have their names.

    What the class updates on its own are metrics of the model, each by its name.
    """
    around = next((x for x in module.ancestors(use.node) if isinstance(x, cst.ClassDef)), None)
    for each in module.nodes(cst.ClassDef):
        is_its = each.name.value == use.owner.cls or each is around
        if is_its and any(
            isinstance(part, cst.FunctionDef) and part.name.value in _OWN for part in each.body.body
        ):
            return True
    return False


rule = Rule(
    code="KD216",
    name="metrics-names",
    family="members",
    severity=Severity.CHANGE,
    check=check,
    triggers=member_of({Kind.MODEL}, "metrics_names"),
    since="3.0",
)
