"""A layer's `call` does not return what its `compute_output_shape` says."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.activations import calls_activation
from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.analysis.queries import File, files, subclasses
from kdoctor.analysis.queries.bodies import body_of
from kdoctor.analysis.queries.classes import lineage
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, Severity
from kdoctor.rules.members._lists_of_shapes import (
    gives_a_shape,
    gives_as_is,
    mixes_shapes,
    returned_by,
    takes_apart,
    takes_several,
)
from kdoctor.rules.members._output_specs import (
    ASK_CALL,
    ASK_NO_SHAPE,
    HELP,
    SHAPE,
    SPEC,
    OwnLayer,
    ask_call,
    own_layer,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes

_ITERATES = "NotImplementedError: Iterating over a symbolic KerasTensor is not supported."
_REFUSED = "ValueError: Exception encountered when calling {}.call()."


def _says_its_shape(_: TargetFacts, base: str) -> bool:
    split = split_root(base)
    return split is not None and "layers." in base and split[1].rpartition(".")[2] not in ASK_CALL


@rule(
    "KD225",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        word("call"),
        subclasses(_says_its_shape, guarded=True).trigger
        # Many layers define both methods: what stands in them tells.
        | lineage(call=takes_apart, compute_output_shape=gives_a_shape),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each class that says one thing of its output, and makes another."""
    module = file.module
    for node in module.nodes(cst.ClassDef):
        if not methods_in(node).keys() & {"call", SHAPE}:
            continue
        layer = own_layer(module, file.facts, node)
        if layer is None or "call" not in layer.methods or SPEC in layer.methods:
            continue
        why = _contradiction(module, layer)
        if why is not None and not module.is_guarded(node):
            yield _finding(file, node, layer, why)


def _contradiction(module: Module, layer: OwnLayer) -> str | None:
    """Return what is raised because of it."""
    returned = returned_by(layer.methods["call"])
    shape = layer.methods.get(SHAPE)
    if any(_is_list(module, each) for each in returned):
        if _is_a_part(layer.methods["call"]) or _asks_the_caller(layer.methods["call"]):
            return None
        if shape is None:
            return None if layer.base in ASK_CALL else _ITERATES
        return _REFUSED.format(layer.name) if layer.base in ASK_NO_SHAPE else None
    if shape is None or layer.base not in ASK_CALL or not takes_several(layer.methods["call"]):
        return None
    if mixes_shapes(shape):
        return _REFUSED.format(layer.name)
    is_one = returned and all(_is_one_tensor(module, layer, each) for each in returned)
    if is_one and gives_as_is(body_of(module, shape)):
        return _REFUSED.format("Functional")
    return None


def _is_list(module: Module, node: cst.BaseExpression) -> bool:
    match value_of(module, node):
        case cst.List() | cst.Tuple():
            return True
        case cst.IfExp(body=body, orelse=orelse):
            return _is_list(module, body) or _is_list(module, orelse)
    return False


def _is_a_part(call: cst.FunctionDef) -> bool:
    """Say whether it wants several tensors by themselves, as what only other layers call.

    In the ``call`` of another layer there are no symbolic tensors: nobody asks for a shape.
    """
    return sum(each.default is None for each in call.params.params) > 2  # self, x


def _asks_the_caller(call: cst.FunctionDef) -> bool:
    """Say whether it depends on what the caller passes, or on what the Keras layer knows, too.

    ``cache=None`` is for the loops of those who pass one; of ``return_state`` and
    ``return_attention_scores`` the Keras layer tells the shape itself.
    """
    optional = {each.name.value for each in call.params.params if each.default is not None}
    optional |= {each.name.value for each in call.params.kwonly_params}
    return any(
        isinstance(name, cst.Name) and (name.value in optional or name.value.startswith("return_"))
        for each in own_nodes(call.body)
        if isinstance(each, cst.If | cst.IfExp) and _gives(each)
        for name in descendants(each.test)
    )


def _gives(branch: cst.If | cst.IfExp) -> bool:
    """Say whether what is returned may depend on a condition."""
    return isinstance(branch, cst.IfExp) or any(
        isinstance(each, cst.Return) for each in own_nodes(branch)
    )


def _is_one_tensor(module: Module, layer: OwnLayer, node: cst.BaseExpression) -> bool:
    """Say whether an expression surely is no list: arithmetic, or what an activation gives."""
    made = value_of(module, node)
    if calls_activation(module, layer.methods, made):
        return True
    match made:
        case cst.BinaryOperation() | cst.UnaryOperation():
            return True
        case cst.Call(func=function):
            name = module.qualified(function) or ""
            return ".activations." in name or ".ops." in name or ".backend." in name
    return False


def _finding(file: File, node: cst.ClassDef, layer: OwnLayer, why: str) -> Finding:
    own = methods_in(node)
    told = own.get("call") or own[SHAPE]
    said_by = f"`{SHAPE}`" if SHAPE in layer.methods else f"`{layer.base}`"
    return file.finding(
        f"{said_by} gives the output shape, but `call` returns another: {why}",
        at=told.name,
        symbol=f"{layer.symbol}.{SPEC}",
        help=HELP,
        fix=ask_call(file, told),
    )
