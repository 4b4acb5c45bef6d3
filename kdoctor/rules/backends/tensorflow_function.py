"""A function of TensorFlow in code that Keras runs."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from kdoctor.analysis.facts import BACKEND_NAMES, TargetFacts
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.backends._tensorflow import BY_HAND, REWRITES, UNPROVEN, canonical, is_told
from kdoctor.rules.idioms._tensorflow.attempt import FunctionTable, sentence
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.rule import rule

_ROOT = "tensorflow."
# These run beside any backend, where TensorFlow is installed.
_OF_NO_TENSORS = ("nest.", "name_scope")
_TABLE = FunctionTable(REWRITES, UNPROVEN)
_NO_ADVICE = (
    "look for it in keras.ops; what is not there goes under `if keras.backend.backend() == "
    "'tensorflow':`, beside what the other backends have"
)


@lru_cache(maxsize=2048)
def _is_known(name: str) -> bool:
    """Say whether it is a function of TensorFlow that is told."""
    return name.startswith(_ROOT) and is_told(name)


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
    attempt = _TABLE.attempted(
        call.module, call.facts, replace(reference, name=known, names=(known,))
    )
    name = known.removeprefix(_ROOT)
    by_hand = BY_HAND.get(name, _NO_ADVICE)
    return call.finding(
        f"`{call.source(reference.node)}` ties this code to TensorFlow: Keras runs it on "
        f"{backends(call.facts)}, too",
        at=reference.node,
        confidence=Confidence.LIKELY,
        severity=Severity.LEGACY if name.startswith(_OF_NO_TENSORS) else None,
        help=f"{sentence(by_hand)}." if isinstance(attempt, NoFix) else f"{attempt.title}.",
        fix=_TABLE.reason(attempt, known, call.facts) if isinstance(attempt, NoFix) else attempt,
    )


def backends(facts: TargetFacts) -> str:
    """Return what people call the backends that the code must run on beside TensorFlow."""
    return " and ".join(BACKEND_NAMES[each] for each in facts.backends)
