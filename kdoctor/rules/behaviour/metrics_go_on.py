"""`loss = model.train_on_batch(x, y)`: before Keras 3.15 it is a mean over all batches so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.statements import statement_slot
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

_RESET: Final = "reset_metrics"
_PLACES: Final = {"train_on_batch": 4, "test_on_batch": 3}  # where Keras 2 has `reset_metrics`
_UPDATES: Final = frozenset(
    {"fit", "fit_generator", "evaluate", "evaluate_generator", "train_on_batch", "test_on_batch"}
)
# A class that has one of these decides by itself what comes out of a batch.
_OWN: Final = frozenset({"metrics", "train_step", "test_step", _RESET})
# The record has runs on the newest Keras, where the line changes nothing.
_RUN_BY_HAND: Final = "its proof ran on Keras 3.15, and on 3.3 to 3.14 it was run by hand"
_RUN_AGAIN: Final = (cst.For, cst.While, cst.BaseComp, cst.FunctionDef, cst.Lambda)
_MAY_NOT_RUN: Final = (cst.IfExp, cst.BooleanOperation, cst.Comparison)


@rule(
    "KD490",
    severity=Severity.CHANGE,
    since="3.0",
    until="3.15",
    look_for=calls(*_PLACES, on=Kind.MODEL).without(_RESET),
)
def check(call: Call) -> Finding | None:
    """Report each result that is used, of a model that sees more than this batch."""
    module, method = call.module, call.call.func
    if isinstance(module.parent(call.call), cst.Expr) or not isinstance(method, cst.Attribute):
        return None
    if call.argument(_RESET, _PLACES[call.leaf]) is not None:
        return None  # KD326
    model = dotted_name(method.value)
    if _is_of_a_class_of_its_own(call) or not _goes_on(call, model) or _is_reset(call, model):
        return None
    return call.finding(
        f"the results of `{call.leaf}` are means over all batches since the metrics were reset; in "
        "Keras 2, and from Keras 3.15 on, they are those of this batch",
        help=f"Call `{model or 'model'}.{_RESET}()` before it.",
        fix=_fix(call, model),
    )


def _fix(call: Call, model: str | None) -> Fix | NoFix:
    module = call.module
    slot = statement_slot(module, call.call)
    if slot is None or model is None:
        return NoFix("there is no place for a statement before it")
    others = [each for each in _updates(module, model) if slot.line in module.ancestors(each)]
    if len(others) > 1:
        return NoFix("the statement has more than one batch: each needs a reset of its own")
    if any(isinstance(each, _MAY_NOT_RUN) for each in _inside(call, slot.line)):
        return NoFix("the statement may or may not get to it")
    start = slot.span.start
    reset = Edit(Span(start, start), (f"{model}.{_RESET}()\n{slot.indent}",))
    return call.fix("Reset the metrics before it", reset, unsafe_because=_RUN_BY_HAND)


def _goes_on(call: Call, model: str | None) -> bool:
    """Say whether the model may have seen another batch since its metrics were reset."""
    if any(isinstance(each, _RUN_AGAIN) for each in call.module.ancestors(call.call)):
        return True
    return model is None or sum(1 for _ in _updates(call.module, model)) > 1


def _is_reset(call: Call, model: str | None) -> bool:
    """Say whether the code around it resets the metrics of the model, be it less often."""
    module = call.module
    around = {*module.ancestors(call.call)}
    for each in module.attributes:
        if each.attr.value != _RESET or dotted_name(each.value) != model:
            continue
        scope = next((e for e in module.ancestors(each) if isinstance(e, _RUN_AGAIN)), module.tree)
        if scope in around and not _is_for_another(module, each, around, model):
            return True
    return False


def _is_for_another(
    module: Module, reset: cst.Attribute, around: Collection[cst.CSTNode], model: str | None
) -> bool:
    """Say whether a reset belongs to the batch of the next statement, and that is another one."""
    slot = statement_slot(module, reset)
    if slot is None or model is None:
        return False
    following = slot.block[len(slot.above) + 1 :][:1]
    return any(
        isinstance(each, cst.SimpleStatementLine)
        and each not in around
        and any(each in module.ancestors(one) for one in _updates(module, model))
        for each in following
    )


def _updates(module: Module, model: str) -> Iterator[cst.Attribute]:
    """Yield what feeds a model of this name."""
    for each in module.attributes:
        if each.attr.value in _UPDATES and dotted_name(each.value) == model:
            yield each


def _inside(call: Call, line: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what is around a call within its statement."""
    for each in call.module.ancestors(call.call):
        if each is line:
            return
        yield each


def _is_of_a_class_of_its_own(call: Call) -> bool:
    """Say whether the model is, or may be, of a class that has steps or metrics of its own."""
    ancestors = call.module.ancestors(call.call)
    around = next((each for each in ancestors if isinstance(each, cst.ClassDef)), None)
    for each in call.module.nodes(cst.ClassDef):
        if (each.name.value == call.cls or each is around) and any(
            isinstance(part, cst.FunctionDef) and part.name.value in _OWN for part in each.body.body
        ):
            return True
    return False
