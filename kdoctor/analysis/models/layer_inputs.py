"""The shapes of the symbolic tensors that the layers of a file are called with.

Keras asks `compute_output_shape` only then: where a model is constructed, functional or
sequential, and where `TimeDistributed` wraps the layer. In the ``call`` of another layer, and on
arrays, it runs ``call``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_hidden, passed, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.tensors.known_shapes import Shape
from kdoctor.analysis.tensors.layer_shapes import class_of_keras, made_by, shape_passed_to
from kdoctor.analysis.tensors.shape_values import RefusedError, Tensor, Values
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_CONTEXTS = frozenset({"training", "mask"})


class Input(Struct, frozen=True):
    """What a layer is called with."""

    layer: cst.Call  # that creates the layer
    place: cst.CSTNode  # where it is called, or put into a model
    shape: Shape
    wrapper: str = ""  # the layer of Keras that calls it


@once
def inputs_of_layers(module: Module) -> dict[cst.ClassDef, list[Input]]:
    """Return what the layers of each class of this file are called with, in source order."""
    found: dict[cst.ClassDef, list[Input]] = {}
    for each in _inputs(module):
        owner = class_named(module, each.layer.func)
        if owner is not None:
            found.setdefault(owner, []).append(each)
    return found


def inputs_of(module: Module, layer: cst.Call) -> list[Input]:
    """Return what the layer that a call creates is called with, in source order."""
    return [each for each in _inputs(module) if each.layer is layer]


@once
def _inputs(module: Module) -> tuple[Input, ...]:
    return (*_called(module), *_in_sequentials(module))


def shape_of_symbolic(module: Module, node: cst.BaseExpression) -> Shape | None:
    """Return the shape of one symbolic tensor."""
    if not is_symbolic(module, node):
        return None
    try:
        found = Values(module).of(node)
    except RefusedError:
        return None
    return found.shape if isinstance(found, Tensor) else None


def _called(module: Module) -> Iterator[Input]:
    for call in module.nodes(cst.Call):
        layer = value_of(module, call.func)
        if not isinstance(layer, cst.Call) or is_hidden(call) or module.is_guarded(call):
            continue
        keywords = {each.keyword.value for each in call.args if each.keyword is not None}
        if len(call.args) - len(keywords) != 1 or not keywords <= _CONTEXTS:
            continue
        shape = shape_of_symbolic(module, call.args[0].value)
        if shape is not None and not _is_expected_to_fail(module, call):
            yield from _with_wrapped(module, Input(layer, call, shape))


def _is_expected_to_fail(module: Module, call: cst.Call) -> bool:
    """Say whether a layer is called in a ``try``, or where a test waits for an exception."""
    for each in module.ancestors(call):
        if isinstance(each, cst.Try | cst.TryStar):
            return True
        managers = each.items if isinstance(each, cst.With) else ()
        if any("raises" in module.source(one.item).lower() for one in managers):
            return True
    return False


def _with_wrapped(module: Module, given: Input) -> Iterator[Input]:
    """Yield a layer, or the layer that `TimeDistributed` applies to each step."""
    wrapper = class_of_keras(module, given.layer)
    if wrapper != "TimeDistributed":
        yield given
        return
    inner = value_of(module, passed(given.layer, "layer", 0))
    if isinstance(inner, cst.Call) and len(given.shape) > 2:
        yield Input(inner, given.place, (given.shape[0], *given.shape[2:]), wrapper)


def _in_sequentials(module: Module) -> Iterator[Input]:
    for call in module.nodes(cst.Call):
        made = module.type_of(call)
        is_one = made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"
        if is_one and not is_hidden(call) and not module.is_guarded(call):
            yield from _in_one(module, _layers_of(module, call))


def _layers_of(module: Module, model: cst.Call) -> list[cst.BaseExpression]:
    """Return the layers of a `Sequential`, as far as they are known in their order."""
    given = passed(model, "layers", 0)
    layers = [] if given is None else elements_of(value_of(module, given))
    if layers is None:
        return []
    target = module.parent(model)
    line = module.parent(target) if isinstance(target, cst.Assign) else None
    block = module.parent(line) if line is not None else None
    if not isinstance(target, cst.Assign) or not isinstance(block, cst.IndentedBlock | cst.Module):
        return layers
    name = target.targets[0].target
    if not isinstance(name, cst.Name):
        return layers
    at = next(place for place, each in enumerate(block.body) if each is line)
    return [*layers, *_added(block.body[at + 1 :], name.value)]


def _added(statements: Sequence[cst.CSTNode], model: str) -> Iterator[cst.BaseExpression]:
    """Yield what the next statements add, up to one that does more with the model than that."""
    for each in statements:
        match each:
            case cst.SimpleStatementLine(
                body=[
                    cst.Expr(
                        value=cst.Call(
                            func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name("add")),
                            args=[cst.Arg(star="", value=layer)],
                        )
                    )
                ]
            ) if owner == model:
                yield layer
                continue
        if any(isinstance(one, cst.Name) and one.value == model for one in descendants(each)):
            return


def _in_one(module: Module, layers: Sequence[cst.BaseExpression]) -> Iterator[Input]:
    shape: Shape | None = None
    for place, each in enumerate(layers):
        layer = value_of(module, each)
        if not isinstance(layer, cst.Call):
            return
        if place == 0:
            shape = shape_passed_to(module, layer)
            if _is_input(module, layer):
                continue
        if shape is None:
            return
        yield from _with_wrapped(module, Input(layer, each, shape))
        shape = made_by(module, layer, shape)


def _is_input(module: Module, layer: cst.Call) -> bool:
    return (module.qualified(layer.func) or "").rpartition(".")[2] in {"Input", "InputLayer"}
