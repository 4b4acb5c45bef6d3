"""A function of TensorFlow in code that Keras runs."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.backends.own_tensors import calls_behind
from kdoctor.analysis.backends.reach import is_run_by_keras_alone
from kdoctor.analysis.facts import BACKEND_NAMES, TargetFacts
from kdoctor.analysis.fixed_points import GreatestFixedPoint
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.memoize import once
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.backends._tensorflow import BY_HAND, REWRITES, UNPROVEN, canonical, is_told
from kdoctor.rules.idioms._tensorflow.attempt import FunctionTable, sentence
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference

_ROOT = "tensorflow."
# These run beside any backend, where TensorFlow is installed.
_OF_NO_TENSORS = ("nest.", "name_scope")
_TAKES_ITS_TENSORS = (
    "it works with what `{}` gives: that stays a tensor of TensorFlow, which no other backend takes"
)
_CALLED_BY_OTHERS = (
    "the function around it may be given tensors of TensorFlow: by `tf.function` or `tf.map_fn`, "
    "or by a function that Keras is not known to run"
)
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
    attempt = _attempted(call.module, call.facts, reference)
    if isinstance(attempt, Fix) and (why := _why_unsafe(call, attempt)):
        attempt = replace(attempt, applicability=Applicability.UNSAFE, unsafe_because=why)
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


def _attempted(module: Module, facts: TargetFacts, reference: Reference) -> Fix | NoFix:
    known = canonical(reference.name)
    return _TABLE.attempted(module, facts, replace(reference, name=known, names=(known,)))


def _why_unsafe(call: Call, attempt: Fix) -> str:
    """Return why the place makes a fix unsafe that is safe elsewhere, "" if it does not."""
    if not _is_safe(attempt):
        return ""
    if not is_run_by_keras_alone(call.module, call.node):
        return _CALLED_BY_OTHERS
    stays = _what_stays(call.module, call.facts, call.call)
    return "" if stays is None else _TAKES_ITS_TENSORS.format(call.source(stays.func))


def _is_safe(attempt: Fix | NoFix) -> bool:
    return isinstance(attempt, Fix) and attempt.applicability is Applicability.SAFE


def _what_stays(module: Module, facts: TargetFacts, call: cst.Call) -> cst.Call | None:
    """Return a call of TensorFlow in what a call works with that no safe fix turns into another.

    ``tf.square(self.table)`` gives a tensor whatever the backend is. ``keras.ops.square`` raises on
    PyTorch as long as ``self.table`` is a tensor of TensorFlow.
    """
    for each in call.args:
        for behind in calls_behind(module, each.value):
            if not _goes(module, facts, behind):
                return behind
    return None


def _goes(module: Module, facts: TargetFacts, call: cst.Call) -> bool:
    """Say whether a safe fix turns a call of TensorFlow into one of Keras."""

    def find() -> bool:
        reference = _references(module).get(call.func)
        return (
            reference is not None
            and _is_safe(_attempted(module, facts, reference))
            and is_run_by_keras_alone(module, call)
            and _what_stays(module, facts, call) is None
        )

    return _answers(module).holds((id(call), facts), find)


@once
def _answers(_: Module) -> GreatestFixedPoint[tuple[int, TargetFacts]]:
    return GreatestFixedPoint()


@once
def _references(module: Module) -> dict[cst.CSTNode, Reference]:
    return {each.node: each for each in module.references}


def backends(facts: TargetFacts) -> str:
    """Return what people call the backends that the code must run on beside TensorFlow."""
    return " and ".join(BACKEND_NAMES[each] for each in facts.backends)
