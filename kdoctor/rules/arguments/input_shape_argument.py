"""``input_shape=``, ``input_dim=``, ``batch_input_shape=`` and ``input_length=`` on a layer."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, keyword
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._first_layer import first_layer_place
from kdoctor.rules.arguments._move_input_shape import (
    ARGUMENTS,
    calls_something,
    fix_of,
    gives_steps,
    input_first,
    is_length,
    own_parameters,
    shape_arguments,
    shape_of,
    takes_steps,
)
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.loading import load_rule
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickCall


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such argument once."""
    for reference in module.references:
        if reference.call is None:
            continue
        arguments = shape_arguments(facts, reference, reference.call)
        for argument in arguments:
            yield _finding(module, facts, reference, reference.call, argument, len(arguments))


def _may_refuse(facts: TargetFacts, called: QuickCall) -> bool:
    given = called.keywords.intersection(ARGUMENTS)
    return bool(given) and any(
        (own := own_parameters(facts, name)) is not None and bool(given - own)
        for name in called.names
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    reference: Reference,
    call: cst.Call,
    argument: cst.Arg,
    how_many: int,
) -> Finding:
    assert argument.keyword is not None
    name = argument.keyword.value
    # `Convolution1D` is a `Conv1D`, as the error calls it.
    leaf = (facts.lookup(reference.name).home or reference.name).rpartition(".")[2]
    span = module.outer_span(argument.value)
    is_plain = isinstance(argument.value, cst.Tuple | cst.List | cst.Integer)
    shown = module.text[span.start : span.end] if is_plain else "…"
    attempt = (
        _fix(module, facts, reference, call, argument)
        if how_many == 1
        else NoFix("the layer has more than one of these arguments")
    )
    is_first = first_layer_place(module, call) is not None
    signature = facts.signature(reference.name)
    if signature is not None and not signature.takes_any_keyword:
        error = f"TypeError: {leaf}.__init__() got an unexpected keyword argument '{name}'"
        message, severity = f"`{leaf}` does not accept `{name}=`: {error}", Severity.ERROR
    elif gives_steps(reference, argument):
        message, severity = _of_steps(name, leaf, shown, is_first=is_first)
    else:
        message, severity = _message(name, leaf, shown, is_first=is_first)
    return rule.finding(
        module.place(argument),
        message,
        symbol=f"{reference.name}({name})",
        confidence=reference.confidence,
        severity=severity,
        help=_help(module, reference, call, argument, is_first=is_first),
        fix=attempt,
    )


def _message(name: str, leaf: str, shown: str, *, is_first: bool) -> tuple[str, Severity]:
    match name:
        case "batch_input_shape":
            error = f"Unrecognized keyword arguments passed to {leaf}: {{'{name}': {shown}}}"
            return f"`{leaf}` does not accept `{name}=`: ValueError: {error}", Severity.ERROR
        case "input_length" if is_first:
            return (
                (
                    f"`{name}=` is ignored with a warning: the model has no shape and no weights "
                    "until it sees data"
                ),
                Severity.CHANGE,
            )
        case "input_length":
            return f"`{name}=` is ignored with a warning", Severity.LEGACY
    asked = "Keras warns and asks for `keras.Input` as the first layer"
    return f"`{name}=` on a layer is deprecated: {asked}", Severity.LEGACY


def _of_steps(name: str, leaf: str, shown: str, *, is_first: bool) -> tuple[str, Severity]:
    if name == "input_length":
        error = f"Unrecognized keyword arguments passed to {leaf}: {{'{name}': {shown}}}"
        return f"`{leaf}` does not accept `{name}=`: ValueError: {error}", Severity.ERROR
    if not is_first:
        return _message(name, leaf, shown, is_first=False)
    if leaf == "RNN":
        error = "Shapes used to initialize variables must be fully-defined"
    else:
        least, layer = ("min_", "conv1d") if leaf == "Conv1D" else ("", in_snake_case(leaf))
        error = (
            f"Input 0 with name 'None' of layer '{layer}' is incompatible with the layer: "
            f"expected {least}ndim=3, found ndim=2"
        )
    return (
        f"Keras 3 takes `{name}=` as the whole shape, without time steps: ValueError: {error}",
        Severity.ERROR,
    )


def _help(
    module: Module, reference: Reference, call: cst.Call, argument: cst.Arg, *, is_first: bool
) -> str:
    if is_length(argument) and not is_first and not takes_steps(reference):
        return "Leave it out."
    shape = shape_of(reference, call, argument).written(module)
    written = f"Write `keras.Input({shape})` as the first layer."
    is_both = is_length(argument) and not is_first
    return f"{written} Leave it out on every other layer." if is_both else written


def _fix(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call, argument: cst.Arg
) -> Fix | NoFix:
    if is_length(argument) and first_layer_place(module, call) is None:
        if not takes_steps(reference):
            return _left_out(module, facts, call, [argument])
        holder = module.parent(call)
        if isinstance(holder, cst.Call) and holder.func is call:
            shape = [each for each in call.args if each.keyword and each.keyword.value in ARGUMENTS]
            return _left_out(module, facts, call, shape)
    moved = input_first(module, reference, call, argument)
    if isinstance(moved, NoFix):
        return moved
    return fix_of(moved, _proof(facts))


def _proof(facts: TargetFacts) -> Applicability:
    """The size of a batch that moves along is proven where it is the error: by KD303."""
    own = (each for each in rule.invalid if each.after and not each.unsafe)
    return facts.applicability(
        *own, *load_rule("arguments.argument_gone").group("moved-with-the-shape")
    )


def _left_out(
    module: Module, facts: TargetFacts, call: cst.Call, arguments: list[cst.Arg]
) -> Fix | NoFix:
    """Leave out what is passed over, where nothing goes with it."""
    edits = remove_arguments(module, call, arguments)
    if edits is None or any(calls_something(each.value) for each in arguments):
        return NoFix("there is a comment beside it, or its value calls something")
    return Fix("Leave out the ignored argument", tuple(edits), _proof(facts))


rule = Rule(
    code="KD301",
    name="input-shape-argument",
    family="arguments",
    severity=Severity.LEGACY,
    check=check,
    triggers=keyword(*ARGUMENTS) & calls(_may_refuse),
    since="3.0",
)
