"""Functions of other project files that pass their symbolic tensor to TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of, speller_at
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.model import Applicability, Edit, Fix, Hole
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values


def handed_over(
    module: Module, refuses: Callable[[str], str | None]
) -> Iterator[tuple[cst.Call, str]]:
    """Yield the calls of such functions, each with what of TensorFlow refuses the tensor.

    Where pytest passes the function, all that it passes must be such.
    """
    for call in module.nodes(cst.Call):
        if call.args and isinstance(call.func, cst.Name | cst.Attribute):
            found = [_refused(module, each, call, refuses) for each in _called(module, call.func)]
            if found and found[0] is not None and None not in found:
                yield call, found[0]


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
    module: Module, function: cst.BaseExpression, call: cst.Call, refuses: Callable[[str], object]
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
