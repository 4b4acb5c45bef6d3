"""A whole model is saved to `.h5` and loaded again: the legacy format cannot store all of it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, value_of
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.tensors.masks import is_masked
from kdoctor.analysis.tensors.symbolic import holds_symbolic, is_symbolic
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._compile_arguments import LAMBDA, lacking
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, renamed
from kdoctor.rules.saving._save_and_load_calls import (
    LOADS_H5,
    FileUse,
    PathUse,
    all_saves,
    file_uses,
    is_h5,
    is_same_path,
)
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

TAKE_A_MASK = frozenset({
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "GlobalAveragePooling1D",
    "LSTM", "RNN", "SimpleRNN",
})  # fmt: skip
"""Layers whose ``call`` takes the mask that comes with their input."""
_UNKNOWN_LAYER = "ValueError: Unknown layer: "
_LACKING = (
    "{} is not in `custom_objects`: a model in `.h5` loads without it, a model in `.keras` does not"
)
_LEFT_IN_PLACE = frozenset({"os.remove", "os.unlink", "os.path.exists", "os.path.isfile"})
_TEMPORARY = "tempfile."


@rule(
    "KD619",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=file_uses("load").beside(LOADS_H5, word("save", "save_model")),
)
def check(load: FileUse) -> Finding | None:
    """Report each load of a model that this file saves."""
    module = load.module
    if not is_h5(load.use) or not is_keras_3(load.facts, module.qualified(load.call.func)):
        return None
    saved = [each for each in all_saves(module) if is_same_path(module, each, load.use)]
    return _finding(load, saved) if saved else None


def _finding(load: FileUse, saved: list[PathUse]) -> Finding:
    found = (_operation(load.module, each) for each in saved)
    operation = next((each for each in found if each), None)
    what = (
        f"the `.h5` format cannot store operations as layers: {_UNKNOWN_LAYER}'{operation}'"
        if operation
        else "`.h5` is a legacy format, and Keras 3 cannot load everything it saves there"
    )
    return load.finding(
        what,
        at=load.call.func,
        severity=Severity.ERROR if operation else Severity.LEGACY,
        help="Use a path that ends in `.keras`, where the model is saved and where it is loaded.",
        fix=_fix(load, saved, fails=operation is not None),
    )


def _fix(found: FileUse, saved: list[PathUse], *, fails: bool) -> Fix | NoFix:
    """Return the fix, or why there is none."""
    module, load = found.module, found.use
    assert load.ending is not None
    if own := lacking(module, load):
        return NoFix(_LACKING.format(own if own == LAMBDA else f"`{own}`"))
    ends = [each.ending for each in (load, *saved) if each.ending is not None]
    by_end = [renamed(module, each, each.extension or "", ".keras") for each in ends]
    if not all(by_end):
        return NOT_WRITTEN_OUT
    if why := taken(module, load.ending, load.ending.extension or "", ".keras"):
        return why
    edits = {edit.span: edit for each in by_end for edit in each}
    nobody_else = fails and _is_temporary(module, load, saved)
    return found.fix(
        "Change the path's ending to `.keras`",
        *edits.values(),
        unsafe_because=""
        if nobody_else
        else "whatever else reads the file under its old name must be changed too, and a custom "
        "loss or metric is not loaded without `custom_objects`",
        proven_by=_proofs(),
    )


def _is_temporary(module: Module, load: PathUse, saved: list[PathUse]) -> bool:
    """Say whether the file is one of ``tempfile``, of which only this code knows the name."""
    if not isinstance(load.path, cst.Name):
        return False
    value = value_of(module, load.path)
    from_tempfile = any(
        (module.qualified(each) or "").startswith(_TEMPORARY)
        for each in descendants(value)
        if isinstance(each, cst.Attribute | cst.Name)
    )
    known = {id(each.call) for each in (load, *saved)}
    return from_tempfile and all(_is_harmless(module, each, known) for each in _reads(module, load))


def _reads(module: Module, load: PathUse) -> Iterator[cst.Name]:
    """Yield all places that read the variable which holds the path."""
    assert isinstance(load.path, cst.Name)
    bound = module.bindings_at(load.path)
    scope = module.scope_of(load.path).owner(load.path.value)
    for each in descendants(scope.node if scope is not None else module.tree):
        if isinstance(each, cst.Name) and each.value == load.path.value:
            parent = module.parent(each)
            if isinstance(parent, cst.AssignTarget | cst.Param | cst.Attribute):
                continue
            if set(bound) & set(module.bindings_at(each)):
                yield each


def _is_harmless(module: Module, name: cst.Name, known: set[int]) -> bool:
    argument_ = module.parent(name)
    call = None if argument_ is None else module.parent(argument_)
    if not isinstance(call, cst.Call):
        return False
    return id(call) in known or module.qualified(call.func) in _LEFT_IN_PLACE


def _operation(module: Module, save: PathUse) -> str | None:
    """Return the name of an operation that surely is in the graph of the saved model."""
    is_method = isinstance(save.call.func, cst.Attribute) and save.call.func.attr.value == "save"
    model = (
        save.call.func.value if is_method and isinstance(save.call.func, cst.Attribute) else None
    )
    made = None if model is None else value_of(module, model)
    if not isinstance(made, cst.Call) or not _is_functional(module, made):
        return None
    outputs = argument(made, "outputs", 1)
    nodes = [] if outputs is None else list(_upstream(module, outputs.value))
    calls = [each for each in nodes if isinstance(each, cst.Call)]
    if any(_takes(module, each) and is_masked(module, each.args[0].value) for each in calls):
        return "NotEqual"
    if any(_is_cut(module, each) for each in nodes):
        return "GetItem"
    for each in calls:
        split = split_root(module.qualified(each.func) or "")
        if split is not None and split[1].startswith("ops.") and is_symbolic(module, each):
            return "".join(part.title() for part in split[1].rpartition(".")[2].split("_"))
    return None


def _upstream(module: Module, outputs: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield all code from which ``outputs`` surely are made."""
    waiting, seen = [outputs], {outputs}
    while waiting:
        for node in descendants(waiting.pop()):
            yield node
            value = value_of(module, node) if isinstance(node, cst.Name) else node
            if isinstance(value, cst.BaseExpression) and value is not node and value not in seen:
                seen.add(value)
                waiting.append(value)


def _is_cut(module: Module, node: cst.CSTNode) -> bool:
    """Say whether it is ``x[:, 0]``. What a layer gives may be a list: ``x[0]`` says nothing."""
    return (
        isinstance(node, cst.Subscript) and len(node.slice) > 1 and is_symbolic(module, node.value)
    )


def _is_functional(module: Module, made: cst.Call) -> bool:
    found = module.type_of(made)
    return found is not None and found.kind is Kind.MODEL and found.cls == "Functional"


def _takes(module: Module, call: cst.Call) -> bool:
    layer = value_of(module, call.func)
    return (
        isinstance(layer, cst.Call)
        and _layer_name(module, layer) in TAKE_A_MASK
        and _is_applied(module, call)
    )


def _is_applied(module: Module, call: cst.Call) -> bool:
    return bool(call.args) and holds_symbolic(module, call.args[0].value)


def _layer_name(module: Module, layer: cst.Call) -> str:
    split = split_root(module.qualified(layer.func) or "")
    parent, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
    return leaf if parent == "layers" else ""


def _proofs() -> list[Example]:
    return [each for each in check.invalid if each.after]
