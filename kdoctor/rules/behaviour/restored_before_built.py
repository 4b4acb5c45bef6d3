"""A checkpoint is restored into an unbuilt model: some weights are not restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import names_of_variable, reads_of
from kdoctor.analysis.models.unbuilt_weights import (
    NEITHER_RUNS_NOR_FILLS,
    is_functional_model,
    unbuilt_layers,
)
from kdoctor.analysis.queries import File, files, imported
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.keras_api.tensorflow_aliases import ways_to
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_CHECKPOINT: Final = "Checkpoint"
_KEEPERS: Final = ways_to(f"tensorflow.train.{_CHECKPOINT}")
_RESTORES: Final = frozenset({"read", "restore"})


@rule(
    "KD471",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(imported(*_KEEPERS), attribute(*_RESTORES)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such call."""
    module = file.module
    for made in module.nodes(cst.Assign):
        if not isinstance(made.value, cst.Call) or len(made.targets) != 1:
            continue
        model = made.targets[0].target
        node = class_named(module, made.value.func) if isinstance(model, cst.Name) else None
        if node is None or is_functional_model(made.value):
            continue
        reads = _reads(module, model)
        restored = _restored(module, model, reads)
        if restored is None or module.is_guarded(restored):
            continue
        if not _is_run_before(module, model, reads, restored):
            late = unbuilt_layers(module, file.facts, node)
            if late:
                yield _finding(file, file.source(model), node, restored)


def _reads(module: Module, name: cst.BaseExpression) -> list[cst.Name]:
    """Return where a name is read, from the top of the file."""
    return sorted(reads_of(module, name), key=lambda each: module.span(each).start)


def _restored(
    module: Module, model: cst.BaseExpression, reads: Sequence[cst.Name]
) -> cst.Call | None:
    """Return the first call that restores a checkpoint which keeps a model, in the same code."""
    around = points_to_of(module).function_around
    keeper = next((k for each in reads if (k := _keeper(module, each)) is not None), None)
    if keeper is None or around(keeper) is not around(model):
        return None
    found = _restoring(module, keeper)
    if found is not None:
        return found
    kept = module.parent(keeper)
    match kept:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            calls = (_restoring(module, each) for each in _reads(module, name))
            first = next((each for each in calls if each is not None), None)
            return first if first is not None and around(first) is around(model) else None
    return None


def _keeper(module: Module, read: cst.Name) -> cst.Call | None:
    """Return the ``tf.train.Checkpoint(…)`` that a read is an argument of."""
    passed = module.parent(read)
    call = module.parent(passed) if isinstance(passed, cst.Arg) else None
    if isinstance(call, cst.Call) and module.qualified(call.func) in _KEEPERS:
        return call
    return None


def _restoring(module: Module, checkpoint: cst.BaseExpression) -> cst.Call | None:
    """Return the call of ``restore`` on a checkpoint, where its parent is one."""
    read = module.parent(checkpoint)
    if not isinstance(read, cst.Attribute) or read.attr.value not in _RESTORES:
        return None
    called = module.parent(read)
    return called if isinstance(called, cst.Call) and called.func is read else None


def _is_run_before(
    module: Module, model: cst.BaseExpression, reads: Sequence[cst.Name], restored: cst.Call
) -> bool:
    """Say whether something may have run a model, or given it another value, by then."""
    points_to = points_to_of(module)
    around, end = points_to.function_around(model), module.span(restored).start
    for read in reads:
        if module.span(read).start > end:
            return False
        if len(module.bindings_at(read)) != 1:
            return True
        if points_to.function_around(read) is not around:
            if _may_be_called(module, read, around, end):
                return True
            continue
        used = module.parent(read)
        if isinstance(used, cst.Attribute) and used.value is read:
            if used.attr.value not in NEITHER_RUNS_NOR_FILLS:
                return True
        elif _keeper(module, read) is None:
            return True
    return False


def _may_be_called(
    module: Module, node: cst.CSTNode, around: cst.FunctionDef | None, end: int
) -> bool:
    """Say whether the function that a node stands in may have been called before a place."""
    inner = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    if around in inner:
        inner = inner[: inner.index(around)]
    if not inner:
        return True
    names = names_of_variable(module, inner[-1].name)
    return any(module.span(each).start < end for each in names if each is not inner[-1].name)


def _finding(file: File, model: str, node: cst.ClassDef, restored: cst.Call) -> Finding:
    return file.finding(
        f"`{model}` has no weights yet: on Keras 3 at least the first one is not restored when it "
        "is created, and keeps its initial value",
        symbol=f"{node.name.value}, {_CHECKPOINT}",
        at=restored,
        help=f"Call `{model}` first, on one batch or on `keras.Input(batch_shape=…)`.",
        fix=NoFix("kdoctor cannot tell what the model is called with"),
    )
