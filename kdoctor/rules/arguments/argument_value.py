"""Argument values that Keras 2 accepted and the target refuses."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.keras_calls import KerasCall, keras_calls
from kdoctor.analysis.queries import File, files
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._crossentropies import crossentropy
from kdoctor.rules.arguments._int_expressions import an_int_is_passed, is_int
from kdoctor.rules.arguments._layer_name_parts import Functions
from kdoctor.rules.arguments._loss_reductions import reduction
from kdoctor.rules.arguments._padding_case import padding
from kdoctor.rules.arguments._refused_forms import REFUSED
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.arguments._retired_string_values import dtype, initializer, known_as, regularizer
from kdoctor.rules.arguments._short_names import CONSTRAINTS, LOSSES, METRICS, OF_KERAS_1
from kdoctor.rules.arguments._slashed_names import (
    is_named,
    of_own,
    slashed_name,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind


@rule("KD305", severity=Severity.ERROR, since="3.0", look_for=files(REFUSED))
def check(file: File) -> Iterator[Finding]:
    """Report each value that is surely refused."""
    module, facts = file.module, file.facts
    calls = [*keras_calls(module, facts)]
    functions = Functions(module, {each.call: each for each in calls if is_named(each)})
    refused = [(call, each) for call in calls for each in _values(module, functions, call)]
    refused += of_own(module, facts, functions)
    for call, each in refused:
        if not module.is_guarded(call.call):
            yield _finding(file, call, each)


def _values(module: Module, functions: Functions, call: KerasCall) -> Iterator[Refused]:
    if call.leaf == "Input":
        yield from _shape(module, call)
    if call.leaf == "BatchNormalization":
        yield from _axis(module, call)
    if call.kind is Kind.LOSS:
        yield from reduction(module, call.call)
    if is_named(call):
        yield from slashed_name(module, functions, argument(call.call, "name"))
    if call.kind is Kind.LAYER:
        for each in call.args:
            keyword = "" if each.keyword is None else each.keyword.value
            if keyword.endswith("_constraint"):
                yield from known_as(module, each.value, CONSTRAINTS, "constraint")
            if keyword.endswith("_regularizer"):
                yield from regularizer(module, each)
            if keyword.endswith("_initializer"):
                yield from initializer(module, each)
    yield from dtype(module, call)
    yield from padding(module, call)
    if call.owner is not None and call.leaf == "compile":
        yield from _compiled(module, call)
    if call.owner is not None and call.leaf == "fit":
        yield from _class_weight(module, call)


def _shape(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "shape", 0)
    if given is None:
        return
    passed = an_int_is_passed(module, given.value)
    if not passed and not is_int(module, given.value):
        return
    span = module.outer_span(given.value)
    source = module.source(given.value)
    # `(4)` is an int in parentheses: the comma goes inside them.
    inside = module.span(given.value)
    edit = (
        Edit(span, ("(", Hole(span), ",)")) if inside == span else Edit(inside, (Hole(inside), ","))
    )
    yield Refused(
        given,
        f"ValueError: Cannot convert '{literal(value_of(module, given.value))}' to a shape."
        if isinstance(value_of(module, given.value), cst.Integer)
        else "ValueError: Cannot convert an int to a shape.",
        "A shape is a tuple.",
        (edit,),
        f"Write `({source},)`",
        unsafe_because="another call may pass a shape" if passed else "",
        proofs=("Input(",),
    )


def _axis(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "axis", 0)
    if given is None or not isinstance(given.value, cst.List | cst.Tuple):
        return
    kind = "list" if isinstance(given.value, cst.List) else "tuple"
    error = (
        "TypeError: int() argument must be a string, a bytes-like object or a real number, not "
        f"'{kind}'"
    )
    if len(given.value.elements) != 1:
        yield Refused(
            given,
            error,
            "Reshape the input, so that the axes to normalize become one axis.",
            no_fix_because="Keras 3 normalizes along one axis only",
        )
        return
    element = given.value.elements[0].value
    edit = Edit(module.outer_span(given.value), (Hole(module.outer_span(element)),))
    yield Refused(
        given, error, "An axis is an int.", (edit,), f"Write `{module.source(element)}`",
        proofs=("axis=[",),
    )  # fmt: skip


def _class_weight(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "class_weight")
    if given is None or not isinstance(literal(given.value), str):
        return
    edits = remove_arguments(module, call.call, [given])
    yield Refused(
        given,
        "AttributeError: 'str' object has no attribute 'get'",
        "Pass a dict from class to weight, for example `dict(enumerate(weights))` with the "
        "weights of `sklearn.utils.class_weight.compute_class_weight`.",
        tuple(edits or ()),
        f"Leave out `class_weight={module.source(given.value)}`",
        unsafe_because="all classes then have the same weight, as in the releases that accepted it",
        no_fix_because="there is a comment or an assignment inside it",
    )


def _compiled(module: Module, call: KerasCall) -> Iterator[Refused]:
    loss, metrics = argument(call.call, "loss", 1), argument(call.call, "metrics")
    if loss is not None:
        for each in _elements(loss.value):
            yield from known_as(module, each, LOSSES, "loss")
    if metrics is None:
        return
    if isinstance(metrics.value, cst.SimpleString):
        span = module.outer_span(metrics.value)
        yield Refused(
            metrics,
            "ValueError: Expected `metrics` argument to be a list, tuple, or dict. Received "
            f"instead: metrics={metrics.value.raw_value} of type <class 'str'>",
            "`metrics` is a list.",
            (Edit(span, ("[", Hole(span), "]")),),
            f"Write `[{module.source(metrics.value)}]`",
            proofs=("metrics=",),
        )
    for each in _elements(metrics.value):
        if isinstance(each, cst.SimpleString) and each.raw_value in OF_KERAS_1:
            yield Refused(
                each,
                f"ValueError: Could not interpret metric identifier: {each.raw_value}",
                f"It was removed after Keras 1: pass `{OF_KERAS_1[each.raw_value]}`, or a "
                "custom metric.",
                no_fix_because="it was the mean over batches, which no metric computes any more",
            )
        yield from known_as(
            module,
            each,
            METRICS,
            "metric",
            "the history then logs the metric under its new name",
        )
        yield from crossentropy(module, each, loss)


def _elements(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match node:
        case cst.List() | cst.Tuple():
            yield from (each.value for each in node.elements)
        case cst.Dict():
            yield from (each.value for each in node.elements if isinstance(each, cst.DictElement))
        case _:
            yield node


def _finding(file: File, call: KerasCall, refused: Refused) -> Finding:
    return file.finding(
        f"`{call.leaf}` no longer accepts this value: {refused.error}",
        at=refused.node,
        symbol=call.name,
        confidence=call.confidence,
        help=refused.help,
        fix=_fix(file, refused),
    )


def _fix(file: File, refused: Refused) -> Fix | NoFix:
    if not refused.edits:
        return NoFix(refused.no_fix_because)
    proven = [
        each
        for each in check.invalid
        if each.after and not each.unsafe and any(word in each.before for word in refused.proofs)
    ]
    return file.fix(
        refused.title,
        *refused.edits,
        imports=refused.imports,
        unsafe_because=refused.unsafe_because,
        proven_by=proven,
    )
