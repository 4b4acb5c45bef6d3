"""Functions of other project files that pass their symbolic tensor to TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import binding_of, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Match, Query
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Applicability, Confidence, Edit, Fix, Hole
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.quick_facts import QuickFacts


class Forwarded(Match):
    """A call of such a function; ``symbol`` is what of TensorFlow refuses the tensor."""

    node: cst.Call


def hand_tensors_over(refuses: Callable[[str], bool]) -> Query[Forwarded]:
    """Return the query for calls of such functions.

    Where pytest passes the function, all that it passes must be such.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Forwarded]:
        for call in module.nodes(cst.Call):
            if not call.args or not isinstance(call.func, cst.Name | cst.Attribute):
                continue
            found = [_refused(module, each, call, refuses) for each in _called(module, call.func)]
            if not found or found[0] is None or None in found or module.is_guarded(call):
                continue
            yield Forwarded(module, facts, call, symbol=found[0], confidence=Confidence.LIKELY)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        by_pytest = "parametrize" in quick.attributes
        named = (each for each in quick.calls if isinstance(each.node.func, ast.Name))
        forwarding = (
            called
            for name, calls in quick.calls_by_meaning.items()
            if any(refuses(callee) for _, callee in quick.parameter_callees(name))
            for called in calls
        )
        return any(
            may_get_a_tensor(quick, facts, called)
            for called in chain(forwarding, named if by_pytest else ())
        )

    return Query(find, Trigger(holds))


def as_layer(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix that makes a layer of the function; None where it takes more than a tensor."""
    if len(call.args) != 1:
        return None
    spelled, need = speller_at(module, call.func).spell("keras.layers.Lambda")
    span = module.outer_span(call.func)
    return Fix(
        "Turn the function into a layer",
        (Edit(span, (f"{spelled}(", Hole(span), ")")),),
        Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="a model with a `Lambda` layer can only be loaded with `safe_mode=False`",
    )


def _refused(
    module: Module, function: cst.BaseExpression, call: cst.Call, refuses: Callable[[str], bool]
) -> str | None:
    for position, name in module.parameter_callees_in_project(function):
        given = call.args[: position + 1]
        if len(given) <= position or any(each.star or each.keyword for each in given):
            continue
        if refuses(name) and holds_symbolic(module, given[-1].value):
            return name
    return None


def _called(module: Module, callee: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what may be called: the callee, or all that pytest passes for it."""
    bound = binding_of(module, callee)
    return list(pytest_parameter_values(bound) if bound else ()) or [callee]
