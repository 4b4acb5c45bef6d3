"""What takes the place of a ``train_step`` that asks a gradient tape.

``compute_loss`` where only the loss is another one, else a step for each backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import libcst as cst

from kdoctor.analysis.backends.training_step import (
    TapeStep,
    TrainingStep,
    tape_step,
    testing_step,
    training_step,
)
from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.models.user_classes import decorated_by, methods_in, with_bases
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, ImportNeed, NoFix, Span
from kdoctor.rewrite.source_lines import line_before, line_start, lines_around
from kdoctor.rules.backends._compute_loss import LOSS, METRICS, LossAndMetrics
from kdoctor.rules.backends._method_text import MethodText, dedented
from kdoctor.suppression.comments import lines_of
from kdoctor.syntax import Module

_STEP: Final = "train_step"
_TEST_STEP: Final = "test_step"
_SHARED: Final = "_loss_and_logs"
_NEW_STEPS: Final = ("_tensorflow_step", "_torch_step", "_jax_step")
_FUNCTION: Final = "tensorflow.function"
_NOT_ONLY: Final = (
    "the step does more than compute a loss, apply its gradients to all weights and update metrics"
)
_DOES_NOTHING: Final = "the step does what that of Keras does: remove it"
_ELSEWHERE: Final = "another class, or another method of this one, has a part in its training"
_LEFT_TO_KERAS: Final = "# `fit` does what stood here, too:"
_WAS_THERE: Final = "# Of the step that stood here:"
# Texts with lines of their own, and gradients of a loss that is scaled.
_TOO_MUCH: Final = (
    *('"""', "'''", ".compiled_loss", "scale_loss", "get_scaled_loss", "get_unscaled_gradients"),
)
_ALSO_TESTED: Final = (
    "`evaluate` computes this loss, too, and the logs show its mean over the batches, with the "
    "metrics of `compile`; `fit` calls the model with training=True"
)
_TO_BE_READ: Final = (
    "somebody has to read it: the metrics are updated before the weights, and a step of JAX must "
    "change nothing but variables of the model"
)
_DISPATCH: Final = """\
if {backend}() == "jax":
    return {self}._jax_step(*args)
if {backend}() == "torch":
    return {self}._torch_step(*args)
return {self}._tensorflow_step(*args)"""
_TENSORFLOW: Final = """\
with {tape} as tape:
    loss, logs = {self}._loss_and_logs(data)
weights = {self}.trainable_weights
{self}.optimizer.apply(tape.gradient(loss, weights), weights)
return logs"""
_TORCH: Final = """\
import torch

{self}.zero_grad()
loss, logs = {self}._loss_and_logs(data)
loss.backward()
weights = {self}.trainable_weights
with torch.no_grad():
    {self}.optimizer.apply([each.value.grad for each in weights], weights)
return logs"""
_JAX: Final = """\
import jax

weights, others, of_optimizer, of_metrics = state
variables = [
    *{self}.trainable_variables,
    *{self}.non_trainable_variables,
    *{self}.metrics_variables,
]

def compute(weights):
    values = zip(variables, [*weights, *others, *of_metrics])
    with {scope}(state_mapping=list(values)) as scope:
        loss, logs = {self}._loss_and_logs(data)
        return loss, (logs, [scope.get_current_value(each) for each in variables])

(_, (logs, values)), gradients = jax.value_and_grad(compute, has_aux=True)(weights)
others = values[len(weights) : len(weights) + len(others)]
of_metrics = values[len(weights) + len(others) :]
weights, of_optimizer = {self}.optimizer.stateless_apply(of_optimizer, gradients, weights)
return logs, (weights, others, of_optimizer, of_metrics)"""


class Written(NamedTuple):
    """What takes the place of a step: edits, what they do, and why that is unsafe."""

    edits: Sequence[Edit]
    title: str
    unsafe_because: str
    imports: tuple[ImportNeed | None, ...] = ()


def for_all_backends(
    module: Module, owner: cst.ClassDef, method: cst.FunctionDef
) -> Written | NoFix:
    """Return what takes the place of a step with a tape."""
    step = tape_step(module, method) if method.name.value == _STEP else None
    if step is None or not _is_plain(module, method):
        return NoFix(_NOT_ONLY)
    lineage = with_bases(module, owner)
    if sum(_STEP in methods_in(each) for each in lineage) > 1:
        return NoFix(_ELSEWHERE)
    texts = [module.source(each) for each in (*step.unpacks, *step.watched, *step.reports)]
    if any(word in text for text in texts for word in _TOO_MUCH):
        return NoFix(_NOT_ONLY)
    others = {name for each in lineage for name in methods_in(each)}
    own = training_step(step)
    if own is not None and not others & {LOSS, METRICS}:
        written = _as_compute_loss(module, owner, method, (step, own))
        if isinstance(written, Written):
            return written
    if others & {_SHARED, *_NEW_STEPS}:
        return NoFix(_ELSEWHERE)
    return _side_by_side(module, method, step)


def _side_by_side(module: Module, method: cst.FunctionDef, step: TapeStep) -> Written:
    """Return a step for each backend, around a method with what the step has of its own."""
    text, speller = MethodText(module, method, step.instance), speller_at(module, method)
    backend, need = speller.spell("keras.backend.backend")
    scope, needs_scope = speller.spell("keras.StatelessScope")
    names = {"self": step.instance, "backend": backend, "scope": scope, "tape": step.tape}
    lines = text.lines([*step.unpacks, *step.watched, *step.reports])
    logs = dedented(module.source(step.logs))
    written = [
        text.write(name, parameters, template.format_map(names).splitlines())
        for name, parameters, template in (
            (_STEP, "*args", _DISPATCH),
            ("_tensorflow_step", "data", _TENSORFLOW),
            ("_torch_step", "data", _TORCH),
            ("_jax_step", "state, data", _JAX),
        )
    ]
    shared = [*lines, f"return {step.loss}, {logs}"]
    written.append(text.write(_SHARED, step.given, shared, documented=True))
    taken = _lines_of(module, method)
    left = _comments_left(module.text[taken.start : taken.end], written)
    if left:
        written[-1] = _noted(text.margin, (_WAS_THERE, *left), written[-1])
    edit = Edit(taken, ("\n".join(written),))
    return Written([edit], "Write a step for each backend", _TO_BE_READ, (need, needs_scope))


def _as_compute_loss(
    module: Module,
    owner: cst.ClassDef,
    method: cst.FunctionDef,
    parts: tuple[TapeStep, TrainingStep],
) -> Written | NoFix:
    """Return the edits that leave a step to Keras, but for its loss and metrics."""
    step, own = parts
    text = MethodText(module, method, step.instance)
    written = LossAndMetrics(text, step, own).methods()
    if isinstance(written, NoFix):
        return written
    taken = _lines_of(module, method)
    left = _comments_left(module.text[taken.start : taken.end], written)
    if not written and (left or len(owner.body.body) == 1):
        return NoFix(_DOES_NOTHING)
    if left:
        written[0] = _noted(text.margin, (_LEFT_TO_KERAS, *left), written[0])
    if written:
        edits = [Edit(taken, ("\n".join(written),))]
    else:
        edits = [Edit(_with_blank_lines(module, taken), ())]
    tested = methods_in(owner).get(_TEST_STEP)
    if tested is not None and _computes_the_same(module, step.loss, own, tested):
        edits.append(Edit(_with_blank_lines(module, _lines_of(module, tested)), ()))
    return Written(edits, _title(written), _ALSO_TESTED)


def _title(written: Sequence[str]) -> str:
    if not written:
        return f"Remove `{_STEP}`: that of Keras does the same"
    also = f" and `{METRICS}`" if len(written) > 1 else ""
    return f"Override `{LOSS}`{also} in place of `{_STEP}`"


def _is_plain(module: Module, method: cst.FunctionDef) -> bool:
    return method.asynchronous is None and all(
        by_the_short_way(each) == _FUNCTION for each in decorated_by(module, method)
    )


def _lines_of(module: Module, method: cst.FunctionDef) -> Span:
    """Return the lines of a method, with its decorators."""
    start = min(module.span(each).start for each in (*method.decorators, method))
    around = lines_around(module, module.span(method))
    return Span(line_start(module.text, start), around.end)


def _with_blank_lines(module: Module, lines: Span) -> Span:
    """Return lines with the blank ones above them."""
    start = lines.start
    while start and not module.text[(above := line_before(module.text, start)) : start].strip():
        start = above
    return Span(start, lines.end)


def _computes_the_same(
    module: Module, loss: str, own: TrainingStep, tested: cst.FunctionDef
) -> bool:
    """Say whether ``test_step`` is the step that Keras has with the same ``compute_loss``."""
    computes = testing_step(module, tested, loss)
    lines = _lines_of(module, tested)
    if computes is None or "#" in module.text[lines.start : lines.end]:
        return False
    return [*map(module.source, computes)] == [*map(module.source, own.computes)]


def _noted(indent: str, comments: Sequence[str], method: str) -> str:
    return "\n".join([*(f"{indent}{each}" for each in comments), method])


def _comments_left(text: str, written: Sequence[str]) -> list[str]:
    """Return the comments of a step that no method has."""
    kept = Counter(each.text for each in lines_of("\n".join(written)).comments)
    left = Counter(each.text for each in lines_of(dedented(text)).comments) - kept
    return [*left.elements()]
