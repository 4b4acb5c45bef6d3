"""A compiled model loaded from `.h5` is trained: its optimizer does not know the weights."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._save_and_load_calls import LOADS_H5, FileUse, compiles, file_uses, is_h5
from kdoctor.syntax import Module

_TRAINS: Final = ("fit", "train_on_batch")
# What a function may do to a model that it is given, these do not.
_LEAVE_IT: Final = frozenset({"print", "type"})
_ERROR: Final = "ValueError: Unknown variable: <Variable path="


@rule(
    "KD615",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load").beside(LOADS_H5, attribute(*_TRAINS)),
)
def check(load: FileUse) -> Finding | None:
    """Report the first training of each such model."""
    module, call = load.module, load.call
    if not is_h5(load.use) or is_hidden(call) or not compiles(load.use):
        return None
    if not is_keras_3(load.facts, module.qualified(call.func)):
        return None
    training = _first_training(module, call)
    if training is None:
        return None
    return load.finding(
        f"the optimizer loaded from the `.h5` file does not know the weights: {_ERROR}…",
        at=training,
        help="Call `compile` after the model is loaded, or save it as `.keras`.",
        fix=NoFix("the arguments of `compile` are stored in the file"),
    )


def _first_training(module: Module, load: cst.Call) -> cst.Attribute | None:
    """Return where what is loaded is trained, as it came: in the same code, and by its one name."""
    match module.parent(load):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            around = points_to_of(module).function_around
            reads = sorted(reads_of(module, target), key=lambda each: module.span(each).start)
        case _:
            return None
    for read in reads:
        used = module.parent(read)
        if len(module.bindings_at(read)) != 1 or around(read) is not around(target):
            return None
        if not isinstance(used, cst.Attribute) or used.value is not read:
            if not _leaves_it(module, read):
                return None
        elif used.attr.value in _TRAINS:
            call = module.parent(used)
            return used if isinstance(call, cst.Call) and call.func is used else None
        elif used.attr.value == "compile" or _is_stored(module, used):
            return None
    return None


def _leaves_it(module: Module, read: cst.Name) -> bool:
    passed = module.parent(read)
    call = module.parent(passed) if isinstance(passed, cst.Arg) else None
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _LEAVE_IT
    )


def _is_stored(module: Module, used: cst.Attribute) -> bool:
    return used.attr.value == "optimizer" and isinstance(module.parent(used), cst.AssignTarget)
