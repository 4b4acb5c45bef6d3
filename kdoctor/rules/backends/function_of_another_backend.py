"""A function of ``jax.numpy`` or ``torch`` in code that Keras runs."""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from msgspec.structs import replace

from kdoctor.analysis.backends.reach import is_run_by_keras_alone
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.keras_api import Presence
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import Rewrite, RewriteTable
from kdoctor.rules.backends._other_frameworks import REWRITES, UNPROVEN
from kdoctor.rules.rule import rule

_BACKENDS: Final = {
    "jax.numpy.": "JAX",
    "jax.nn.": "JAX",
    "jax.lax.": "JAX",
    "jax.random.": "JAX",
    "jax.scipy.": "JAX",
    "torch.": "PyTorch",
}
# Of `torch`, what is no function of tensors.
_NO_TENSORS: Final = (
    *("torch.utils.", "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.jit."),
    *("torch.autograd.", "torch.no_grad", "torch.enable_grad", "torch.load", "torch.save"),
    *("torch.onnx.", "torch.optim.", "torch.nn.init.", "torch.hub."),
)
# What takes functions of one backend on purpose, and hands them tensors of it.
_WRAPPERS: Final = frozenset({"JaxLayer", "FlaxLayer", "TorchModuleWrapper"})
_NOT_COMPARED: Final = "its arguments and results were not compared with those of Keras"
_NO_SUCH_NAME: Final = "Keras has no function of that name"
_NOT_RUN: Final = "it was not compared on each backend yet"
_NOT_EQUAL: Final = "for some arguments Keras returns something else"
_CALLED_BY_OTHERS: Final = "a function that Keras is not known to run calls the code as well"
_NEW: Final = ("keras.ops.", "keras.random.", "keras.activations.")


def _backend(name: str) -> str:
    """Return the backend that a function is one of; "" of any other."""
    if name.startswith(_NO_TENSORS):
        return ""
    return next((each for root, each in _BACKENDS.items() if name.startswith(root)), "")


def _is_of_one(_facts: TargetFacts, name: str) -> bool:
    return bool(_backend(name))


@rule(
    "KD816",
    severity=Severity.ERROR,
    since="3.0",
    look_for=run_by_keras(imported_calls(_is_of_one).even(hidden=True)),
)
def check(call: Call) -> Finding | None:
    """Report each call."""
    reference = call.reference
    if reference is None or not _WRAPPERS.isdisjoint(call.module.words):
        return None
    new = _of_keras(call.facts, reference.name.rpartition(".")[2])
    written = call.source(reference.node)
    attempt = _table(call.facts).attempt(call.module, reference, partial(_rating, call.facts))
    return call.finding(
        f"`{written}` works on {_backend(reference.name)} only: Keras calls this code with tensors "
        "of its backend, whichever that is",
        at=reference.node,
        help=_help(attempt, new),
        fix=_rated(call, attempt, new),
    )


def _help(attempt: Fix | NoFix, new: str) -> str:
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    return f"`{new}` is there on each backend; compare the arguments." if new else ""


def _rated(call: Call, attempt: Fix | NoFix, new: str) -> Fix | NoFix:
    if isinstance(attempt, NoFix):
        has_rows = call.reference is not None and _table(call.facts).rows_for(call.reference.name)
        return attempt if has_rows else NoFix(_NOT_COMPARED if new else _NO_SUCH_NAME)
    if attempt.applicability is Applicability.SAFE:
        if is_run_by_keras_alone(call.module, call.node):
            return attempt
        return replace(
            attempt, applicability=Applicability.UNSAFE, unsafe_because=_CALLED_BY_OTHERS
        )
    return replace(attempt, unsafe_because=attempt.unsafe_because or _NOT_EQUAL)


@cache
def _table(facts: TargetFacts) -> RewriteTable:
    rows = (*REWRITES, *UNPROVEN)
    return RewriteTable(rows, facts.signature, unproven=partial(_why_unproven, facts))


def _rating(facts: TargetFacts, row: Rewrite) -> Applicability:
    return Applicability.UNSAFE if row in UNPROVEN else facts.applicability(row)


def _why_unproven(facts: TargetFacts, row: Rewrite) -> str:
    return _NOT_RUN if row in UNPROVEN else facts.unproven_elsewhere(row)


def _of_keras(facts: TargetFacts, leaf: str) -> str:
    names = (f"{root}{leaf}" for root in _NEW)
    return next((each for each in names if facts.lookup(each).presence is Presence.EXISTS), "")
