"""`Dense(3, weights=[kernel, bias])`: layers no longer accept their initial weights."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, speller_at, value_of
from kdoctor.analysis.dataflow.statements import StatementSlot, free_name, statement_slot
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.bound_calls import bound_calls
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.creations import creates
from kdoctor.keras_api import ClassFamily
from kdoctor.model import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
    Span,
)
from kdoctor.rewrite import Speller, remove_arguments
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.arguments._first_layer import is_built_when_added
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.arguments._weight_initializers import CHANGES_A_WEIGHT, initializers_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.value_types import Kind

_IN_THE_CONFIG = (
    "the values become part of the layer's config: copies, such as those of `clone_model`, also "
    "start with them, where Keras 2 drew new ones"
)
_ELSEWHERE = "weights can only be set once the layer is built, and that happens elsewhere"
_LAYERS = bound_calls(
    lambda each: each.kind is Kind.LAYER and "weights" not in each.takes,
    lambda _facts, _callee, passed: "weights" in passed.keywords,
)


@rule(
    "KD311",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(keyword("weights"), creates(Kind.LAYER, "weights".__eq__)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each layer that is made with its weights."""
    for found in file.find(_LAYERS):
        call = found.bound
        given = call.keyword("weights")
        if given is not None:
            made = _Made(call.call, call.made, call.name, call.confidence)
            yield _finding(file, made, given, _fix(file, call, given))
    for own, given in _own_layers(file.module, file.facts):
        yield _finding(file, own, given, _set_afterwards(file, own, given))


class _Made(Struct, frozen=True):
    """A call that makes a layer."""

    call: cst.Call
    cls: str
    symbol: str
    confidence: Confidence


def _own_layers(module: Module, facts: TargetFacts) -> Iterator[tuple[_Made, cst.Arg]]:
    """Yield the layers of the user's own that hand `weights=` on to one of Keras'."""
    for call in module.nodes(cst.Call):
        given = argument(call, "weights")
        if given is None:
            continue
        base = base_that_gets(module, call.func, "weights")
        if base is None or not _refuses_weights(facts, base) or module.is_guarded(call):
            continue
        symbol = module.qualified(call.func) or module.source(call.func)
        made = _Made(call, symbol.rpartition(".")[2], symbol, Confidence.LIKELY)
        yield made, given


def _refuses_weights(facts: TargetFacts, base: str) -> bool:
    found = facts.lookup(base)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    new = facts.signature(found.qualified)
    return (
        found.family is ClassFamily.LAYER
        and facts.runs_keras_3(found.root or "")
        and new is not None
        and new.parameter("weights") is None
    )


def _finding(file: File, made: _Made, given: cst.Arg, fix: Fix | NoFix) -> Finding:
    return file.finding(
        f"`{made.cls}` no longer accepts `weights=`: ValueError: Unrecognized keyword arguments "
        f"passed to {made.cls}: {{'weights': …}}",
        at=given,
        symbol=f"{made.symbol}(weights)",
        confidence=made.confidence,
        help="Pass initializers, `kernel_initializer=keras.initializers.Constant(kernel)`, or "
        "set the weights once the layer is built: `layer.build(shape)`, then "
        "`layer.set_weights(weights)`.",
        fix=fix,
    )


def _fix(file: File, call: KerasCall, given: cst.Arg) -> Fix | NoFix:
    if file.source(given.value) == "None":
        edits = remove_arguments(file.module, call.call, [given])
        proofs = (each for each in check.invalid if "weights=None" in each.before)
        if edits is not None:
            return file.fix("Leave out `weights=None`", *edits, proven_by=proofs)
    made = _Made(call.call, call.made, call.name, call.confidence)
    return _initializers(file, call, given) or _set_afterwards(file, made, given)


# By initializers: right wherever the layer is made


def _initializers(file: File, call: KerasCall, given: cst.Arg) -> Fix | NoFix | None:
    module = file.module
    keywords = initializers_of(call)
    values = None if keywords is None else _values(module, given.value, len(keywords))
    if keywords is None or values is None or "#" in module.source(given):
        return None
    overruled = [found for each in keywords if (found := call.keyword(each)) is not None]
    flag = CHANGES_A_WEIGHT.get(call.made, "")
    flag = flag if "bias_initializer" in keywords else ""
    overruled += [found for found in [call.keyword(flag)] if found is not None]
    removed = remove_arguments(module, call.call, overruled) if overruled else []
    if removed is None or any(isinstance(each.value, cst.Call) for each in overruled):
        return None
    speller = (
        speller_at(module, call.call)
        if call.reference is None
        else Speller.at(module, call.reference)
    )
    constant, need = speller.spell("keras.initializers.Constant")
    parts: list[str | Hole] = []
    for name, value in zip(keywords, values, strict=True):
        parts += [f"{', ' if parts else ''}{name}={constant}(", *value, ")"]
    parts += [f", {flag}=False"] if flag else []
    return file.fix(
        f"Pass them as `{keywords[0]}=` and so on",
        Edit(module.span(given), tuple(parts)),
        *removed,
        imports=(need,),
        unsafe_because=_IN_THE_CONFIG,
    )


def _values(
    module: Module, weights: cst.BaseExpression, count: int
) -> list[list[str | Hole]] | None:
    """Return what stands for each weight: the elements of a list, or ``weights[0]``."""
    if isinstance(weights, cst.List | cst.Tuple):
        elements = elements_of(weights)
        if elements is None or len(elements) != count:
            return None
        return [
            [Hole(module.outer_span(each), Precedence.LAMBDA, precedence_of(each))]
            for each in elements
        ]
    known = value_of(module, weights)
    if isinstance(known, cst.List | cst.Tuple) and len(known.elements) != count:
        return None
    if not isinstance(weights, cst.Name):
        return None
    name = module.source(weights)
    return [[f"{name}[{index}]"] for index in range(count)]


# By `set_weights`, on the next line: where the layer is built then


def _set_afterwards(file: File, made: _Made, given: cst.Arg) -> Fix | NoFix:
    module = file.module
    removed = remove_arguments(module, made.call, [given])
    line = statement_slot(module, made.call)
    if removed is None or line is None or "#" in module.source(given):
        return NoFix(_ELSEWHERE)
    weights = module.source(given.value)
    more = _in_an_add(module, made, line) or _called_at_once(module, made, line)
    if more is None:
        return NoFix(_ELSEWHERE)
    edits, layer = more
    return file.fix(
        "Set them when the layer is built",
        *removed,
        *edits,
        line.behind(f"{layer}.set_weights({weights})"),
        unsafe_because="they are set on the next line: if the layer is shared and was built "
        "before, its weights are overwritten",
    )


def _in_an_add(module: Module, made: _Made, line: StatementSlot) -> tuple[list[Edit], str] | None:
    """``model.add(Dense(3, weights=w))``: it is the last layer of a model that is built."""
    model = is_built_when_added(module, made.call, line)
    return None if model is None else ([], f"{model}.layers[-1]")


def _called_at_once(
    module: Module, made: _Made, line: StatementSlot
) -> tuple[list[Edit], str] | None:
    """``y = Dense(3, weights=w)(x)``: the layer gets a name."""
    outer, statement = module.parent(made.call), line.statement
    if not isinstance(outer, cst.Call) or outer.func is not made.call:
        return None
    if not isinstance(statement, cst.Assign) or statement.value is not outer:
        return None
    found = module.type_of(outer)
    if found is None or found.kind is not Kind.TENSOR:
        return None
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", made.cls).lower()
    name = free_name(module, made.call, f"{words}_layer")
    span = module.span(made.call)
    target = module.text[line.span.start : span.start]
    edits = [
        Edit(Span(line.span.start, span.start), (f"{name} = ",)),
        Edit(Span(span.end, span.end), (f"\n{line.indent}{target}{name}",)),
    ]
    return edits, name
