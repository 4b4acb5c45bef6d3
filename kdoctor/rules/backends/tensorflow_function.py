"""A function of TensorFlow in code that Keras runs."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from kdoctor.analysis.facts import BACKEND_NAMES, TargetFacts
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.idioms._tensorflow import BY_HAND, REWRITES, canonical
from kdoctor.rules.idioms._tensorflow.attempt import attempted, reason, sentence
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.rule import rule

_ROOT = "tensorflow."
_WITH_ROWS = frozenset(row.pattern.name for row in REWRITES)


@lru_cache(maxsize=2048)
def _is_known(name: str) -> bool:
    """Say whether the tables tell what to write instead of a function of TensorFlow."""
    if not name.startswith(_ROOT):
        return False
    known = canonical(name)
    return known in _WITH_ROWS or known.removeprefix(_ROOT) in BY_HAND


@rule(
    "KD801",
    severity=Severity.ERROR,
    since="3.0",
    look_for=run_by_keras(imported_calls(lambda _, name: _is_known(name)).even(hidden=True)),
)
def check(call: Call) -> Finding | None:
    """Report each call."""
    reference = call.reference
    if reference is None or error_of_symbolic(call.module, reference):
        return None  # that fails on any backend: KD503 tells
    known = canonical(reference.name)
    attempt = attempted(call.module, call.facts, replace(reference, name=known, names=(known,)))
    by_hand = BY_HAND.get(known.removeprefix(_ROOT), "write it with keras.ops")
    return call.finding(
        f"`{call.source(reference.node)}` works on TensorFlow only: Keras calls this code with "
        f"tensors of {backends(call.facts)}, too",
        at=reference.node,
        confidence=Confidence.LIKELY,
        help=f"{sentence(by_hand)}." if isinstance(attempt, NoFix) else f"{attempt.title}.",
        fix=reason(attempt, known, call.facts) if isinstance(attempt, NoFix) else attempt,
    )


def backends(facts: TargetFacts) -> str:
    """Return what people call the backends that the code must run on beside TensorFlow."""
    return " and ".join(BACKEND_NAMES[each] for each in facts.backends)
