"""TensorFlow functions called with a symbolic tensor while a model is built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.dataflow.captures import read_in_a_loss, read_in_a_possible_loss
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import (
    REFUSED,
    RUN_WITH_VALUES,
    SYMBOLIC,
    has_other_sizes_known,
    holds_symbolic,
    infer_size_fix,
    is_inferable_reshape_size,
)
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import Presence
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.idioms._tensorflow import (
    BY_HAND,
    REWRITES,
    canonical,
    forgets,
    is_of_tensorflow_1,
    only_1,
    refuses_symbolic_tensors,
)
from kdoctor.rules.idioms._tensorflow.differences import DIFFERENCES
from kdoctor.rules.idioms._tensorflow.forwarded_tensors import as_layer, handed_over
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.quick_facts import QuickFacts

_NEW = pattern(r"\bkeras(?:\.\w+)+")
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
_NOT_EQUAL = "for some arguments TensorFlow returns something else, see `kdoctor rules KD503`"
_MAY_BE_NONE = (
    "a size that depends on the data, such as the batch size, is None while the model is built"
)
_NAMELESS = "the operation loses its name, which other code may look for"
_NO_CURE = "a loss gets values, but `{}` has none: `keras.ops` would fail there too"
_MAY_BE_NO_CURE = (
    "if the function is a loss or a metric, it would fail with `keras.ops` too: `{}` has no "
    "value there"
)
_LAYER_WITH_LOSS = (
    "compute it in the `call` of a custom layer, and pass it to `self.add_loss(value)`; `kdoctor "
    "explain KD213` shows a complete one"
)
_LAYER_OF_ITS_OWN = "move it into the `call` of a custom layer"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call with a symbolic tensor."""
    for reference in module.references:
        error = error_of_symbolic(module, reference)
        if error and reference.call and not module.is_guarded(reference.node):
            yield _finding(module, facts, reference, reference.call, error)
    for call, name in handed_over(module, error_of_name):
        if module.context_of(call) not in RUN_WITH_VALUES and not module.is_guarded(call):
            yield _of_own_function(module, call, name)


def _may_be_called_with_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    by_pytest = "parametrize" in quick.attributes
    named = (called for called in quick.calls if isinstance(called.node.func, ast.Name))
    refused = (
        called
        for name, calls in quick.calls_by_meaning.items()
        if _may_refuse(quick, name)
        for called in calls
    )
    return any(
        may_get_a_tensor(quick, facts, called)
        for called in chain(refused, named if by_pytest else ())
    )


def _may_refuse(quick: QuickFacts, name: str) -> bool:
    return error_of_name(name) is not None or any(
        error_of_name(callee) is not None for _, callee in quick.parameter_callees(name)
    )


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


def _of_own_function(module: Module, call: cst.Call, name: str) -> Finding:
    shown = canonical(name).replace("tensorflow.", "tf.", 1)
    fix = as_layer(module, call)
    return rule.finding(
        module.place(call.func),
        f"`{module.source(call.func)}` passes its symbolic tensor to `{shown}`: "
        f"{error_of_name(name)}",
        symbol=name,
        confidence=Confidence.LIKELY,
        help="Turn it into a layer, `keras.layers.Lambda(function)(x)`; or write the function "
        "with `keras.ops`, which accept both kinds of tensors.",
        fix=fix or NoFix("it takes more arguments than the tensor"),
    )


def _finding(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call, error: str
) -> Finding:
    known = canonical(reference.name)
    attempt = _attempt(module, facts, replace(reference, name=known, names=(known,)), call)
    name = known.removeprefix("tensorflow.")
    by_hand = BY_HAND.get(name, _LAYER_OF_ITS_OWN)
    outer = read_in_a_loss(module, call)
    if outer is not None:
        by_hand, attempt = _LAYER_WITH_LOSS, NoFix(_NO_CURE.format(outer))
    elif isinstance(attempt, Fix) and (outer := read_in_a_possible_loss(module, call)):
        attempt = replace(
            attempt,
            applicability=Applicability.UNSAFE,
            unsafe_because=_MAY_BE_NO_CURE.format(outer),
        )
    return rule.finding(
        module.place(reference.node),
        f"`{module.source(reference.node)}` is called with a symbolic tensor: {error}",
        symbol=reference.name,
        confidence=Confidence.LIKELY,
        help=f"{attempt.title}." if isinstance(attempt, Fix) else f"{_sentence(by_hand)}.",
        fix=attempt if isinstance(attempt, Fix) else _reason(attempt, known, facts),
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
            facts.applicability(*rule.group("open-size")) if sure else Applicability.UNSAFE,
        )
    table, nameless = _tables(facts)
    attempt = table.attempt(module, reference, facts.applicability)
    if isinstance(attempt, Fix):
        is_size = reference.name == "tensorflow.shape"
        known = DIFFERENCES.get(reference.name.rpartition(".")[2], _NOT_EQUAL)
        return replace(attempt, unsafe_because=_MAY_BE_NONE if is_size else known)
    unnamed = nameless.attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(unnamed, Fix):
        return replace(unnamed, title=f"{unnamed.title}, without name=", unsafe_because=_NAMELESS)
    return attempt


def _reason(refused: NoFix, name: str, facts: TargetFacts) -> NoFix:
    if _tables(facts)[0].rows_for(name):
        return refused
    return NoFix("there is no single replacement expression in Keras 3")


def _sentence(text: str) -> str:
    return text if text.startswith(("keras.", "tf.")) else f"{text[:1].upper()}{text[1:]}"


@cache
def _tables(facts: TargetFacts) -> tuple[RewriteTable, RewriteTable]:
    """Return the rows whose right sides the target has; and the same for calls with ``name=``."""
    rows = [
        row
        for row in REWRITES
        if all(
            facts.lookup(name).presence is not Presence.MISSING for name in _NEW.findall(row.right)
        )
    ]
    named = [row for row in rows if "name" in row.left and "name" in row.pattern.parameters]
    nameless = [
        rewrite(row.left, row.right, forgets() if row.when is None else row.when & forgets())
        for row in named
    ]
    return RewriteTable(rows, facts.signature), RewriteTable(nameless, facts.signature)


rule = Rule(
    code="KD503",
    name="tf-op-on-symbolic-tensor",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & Trigger(_may_be_called_with_one),
    since="3.0",
)
