"""TensorFlow functions called with a symbolic tensor while a model is built."""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.dataflow.captures import read_in_a_loss, read_in_a_possible_loss
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.own_functions import HandingOn, calls_handing_on
from kdoctor.analysis.tensors.symbolic import (
    REFUSED,
    RUN_WITH_VALUES,
    SYMBOLIC,
    has_other_sizes_known,
    holds_symbolic,
    infer_size_fix,
    is_inferable_reshape_size,
)
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.idioms._tensorflow import (
    BY_HAND,
    REWRITES,
    canonical,
    is_of_tensorflow_1,
    only_1,
    refuses_symbolic_tensors,
)
from kdoctor.rules.idioms._tensorflow.attempt import FunctionTable, sentence
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind

# What fails for another reason, as measured on Keras 3.15.1.
_OTHER_ERRORS = {
    "constant": "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype.",
    "map_fn": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported type",
    "scan": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported type",
    "while_loop": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported "
    "type",
    "cond": REFUSED,
    "Variable": REFUSED,
}
_MAY_BE_NONE = (
    "a size that depends on the data, such as the batch size, is None while the model is built"
)
_NO_CURE = "a loss gets values, but `{}` has none: `keras.ops` would fail there too"
_MAY_BE_NO_CURE = (
    "if the function is a loss or a metric, it would fail with `keras.ops` too: `{}` has no "
    "value there"
)
_LAYER_WITH_LOSS = (
    "compute it in the `call` of a custom layer, and pass it to `self.add_loss(value)`; `kdoctor "
    "explain KD213` shows a complete one"
)
_TABLE = FunctionTable(REWRITES)
_LAYER_OF_ITS_OWN = "move it into the `call` of a custom layer"


@lru_cache(maxsize=2048)
def error_of_name(name: str) -> str | None:
    """Return what a function of TensorFlow raises that gets a symbolic tensor, None if nothing."""
    rest = re.sub(r"^tensorflow\.(compat\.v[12]\.)?", "", name)
    gone = only_1(name) if is_of_tensorflow_1(name) else None
    if gone is not None:
        return f"AttributeError: module '{gone.parent}' has no attribute '{gone.leaf}'"
    if rest in _OTHER_ERRORS:
        return _OTHER_ERRORS[rest] if name.startswith("tensorflow.") else None
    return REFUSED if refuses_symbolic_tensors(name) else None


@rule(
    "KD503",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(
        imported_calls(lambda _, name: error_of_name(name) is not None)
        .even(hidden=True)
        .passing_symbolic()
        | calls_handing_on(lambda name: error_of_name(name) is not None)
    ).beside(SYMBOLIC),
)
def check(call: Call) -> Finding | None:
    """Report each call with a symbolic tensor."""
    if isinstance(call, HandingOn):
        runs = call.module.context_of(call.node)
        is_it = runs not in RUN_WITH_VALUES and (call.sure or not call.to_objects)
        return _of_own_function(call) if is_it else None
    if call.reference is None:
        return None
    error = error_of_symbolic(call.module, call.reference)
    return _finding(call, call.reference, error) if error else None


def error_of_symbolic(module: Module, reference: Reference) -> str | None:
    """Return what a call raises because of a symbolic tensor, None of all else."""
    call = reference.call
    if reference.kind is not ReferenceKind.LOAD or call is None:
        return None
    error = error_of_name(reference.name)
    if error is None or not any(holds_symbolic(module, each.value) for each in call.args):
        return None
    if module.context_of(call) not in RUN_WITH_VALUES or read_in_a_loss(module, call):
        return error
    return None


def _of_own_function(call: HandingOn) -> Finding:
    shown = canonical(call.symbol).replace("tensorflow.", "tf.", 1)
    callee = call.node.func
    name = f"{call.source(callee.func)}(…)" if isinstance(callee, cst.Call) else call.source(callee)
    error = error_of_name(call.symbol)
    return call.finding(
        f"`{name}` passes its symbolic tensor to `{shown}`: {error}"
        if call.sure
        else f"`{name}` may pass its symbolic tensor to `{shown}`, which refuses it: {error}",
        at=callee,
        severity=Severity.ERROR if call.sure else Severity.LEGACY,
        help="Turn it into a layer, `keras.layers.Lambda(function)(x)`; or write the function "
        "with `keras.ops`, which accept both kinds of tensors.",
        fix=NoFix("it may call layers, whose weights a `Lambda` layer would not keep")
        if call.to_objects
        else _as_layer(call.module, call.node) or NoFix("it takes more arguments than the tensor"),
    )


def _as_layer(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix that makes a layer of the function; None where it takes more than tensors."""
    if any(each.star or each.keyword for each in call.args):
        return None
    if not all(holds_symbolic(module, each.value) for each in call.args):
        return None
    spelled, need = speller_at(module, call.func).spell("keras.layers.Lambda")
    span = module.outer_span(call.func)
    edits = [Edit(span, (f"{spelled}(", Hole(span), ")"))]
    if len(call.args) > 1:
        if not isinstance(call.func, cst.Name | cst.Attribute):
            return None
        first, last = (module.outer_span(call.args[at].value) for at in (0, -1))
        edits = [
            Edit(span, (f"{spelled}(lambda tensors: ", Hole(span), "(*tensors))")),
            Edit(Span(first.start, first.start), ("[",)),
            Edit(Span(last.end, last.end), ("]",)),
        ]
    return Fix(
        "Turn the function into a layer",
        tuple(edits),
        Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="a model with a `Lambda` layer can only be loaded with `safe_mode=False`",
    )


def _finding(found: Call, reference: Reference, error: str) -> Finding:
    module, facts, call = found.module, found.facts, found.call
    known = canonical(reference.name)
    attempt = _attempt(module, facts, replace(reference, name=known, names=(known,)), call)
    name = known.removeprefix("tensorflow.")
    by_hand = BY_HAND.get(name, _LAYER_OF_ITS_OWN)
    outer = read_in_a_loss(module, call)
    if outer is not None:
        by_hand, attempt = _LAYER_WITH_LOSS, NoFix(_NO_CURE.format(outer))
    elif not isinstance(attempt, NoFix) and (outer := read_in_a_possible_loss(module, call)):
        attempt = replace(
            attempt,
            applicability=Applicability.UNSAFE,
            unsafe_because=_MAY_BE_NO_CURE.format(outer),
        )
    return found.finding(
        f"`{module.source(reference.node)}` is called with a symbolic tensor: {error}",
        at=reference.node,
        confidence=Confidence.LIKELY,
        help=f"{sentence(by_hand)}." if isinstance(attempt, NoFix) else f"{attempt.title}.",
        fix=_TABLE.reason(attempt, known, facts) if isinstance(attempt, NoFix) else attempt,
    )


def _attempt(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call
) -> Fix | NoFix:
    size = is_inferable_reshape_size(module, call) if reference.name == "tensorflow.shape" else None
    if size is not None:
        sure = has_other_sizes_known(module, size)
        return infer_size_fix(
            module,
            size,
            check.applicability([check.group("open-size")[0]]) if sure else Applicability.UNSAFE,
        )
    attempt = _TABLE.attempted(module, facts, reference)
    if isinstance(attempt, Fix) and reference.name == "tensorflow.shape":
        return replace(attempt, unsafe_because=_MAY_BE_NONE)
    return attempt
