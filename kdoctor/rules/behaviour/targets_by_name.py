"""Targets of a single-output model are given as a dict keyed by the output's name."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.analysis.queries import Call, File, Instance, calls, constructs, files
from kdoctor.analysis.queries.conditions import attribute, display
from kdoctor.analysis.queries.forms import is_dict_of_one
from kdoctor.model import Finding, Severity
from kdoctor.rules.behaviour._output_dicts import single, taken_out
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TRAINED = ("fit", "evaluate", "train_on_batch", "test_on_batch")
_BY_GENERATORS = ("fit_generator", "evaluate_generator")
_GIVEN = (("y", 1), ("sample_weight", None))  # with the places of those by position
_OF_TARGETS = "TypeError: Expected float32, but got {} of type 'str'."
_OF_WEIGHTS = "TypeError: Expected float32, but got Tensor(…) of type 'SymbolicTensor'."


class _Given(Struct, frozen=True):
    """What a model gets as targets or weights, and whether other code may get it, too."""

    node: cst.BaseExpression
    are_weights: bool
    is_handed_out: bool = False


_Batches = dict[cst.FunctionDef, list[_Given]]


_COMPILED = calls("compile", on=Kind.MODEL, overridden=True).even(hidden=True, guarded=True)


@rule(
    "KD451",
    severity=Severity.ERROR,
    since="3.8",
    look_for=files(
        attribute("compile"),
        constructs(Instance(Kind.MODEL, "Functional"), Instance(Kind.MODEL, "Sequential")),
        calls(*_TRAINED, on=Kind.MODEL).passing_one_of(_GIVEN, where=is_dict_of_one).trigger
        | (attribute(*_TRAINED, *_BY_GENERATORS) & display(is_dict_of_one, at=slice(1, 3))),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such dict."""
    module = file.module
    compiled = [*file.find(_COMPILED)]
    if not compiled or not all(map(_has_a_loss, compiled)):
        return  # without a loss the targets are passed over
    points_to = points_to_of(module)
    seen: set[cst.CSTNode] = set()
    known: _Batches = {}
    for call in file.find(calls(*_TRAINED, *_BY_GENERATORS, on=Kind.MODEL)):
        method = call.node.func
        if isinstance(method, cst.Attribute) and module.is_from_another_file(method.value):
            continue  # where it may be compiled, too
        for given in _given(module, points_to, known, call.leaf, call.node):
            element = single(value_of(module, given.node))
            if element is None or given.node in seen:
                continue
            if call.cls == "Sequential" or _has_one_output(module, points_to, call.node.func):
                seen.add(given.node)
                yield _finding(call, given, element)


def _has_a_loss(compiling: Call) -> bool:
    loss = compiling.argument("loss", 1)
    return loss is not None and not compiling.is_hidden and literal(loss.value) is not None


# -- what the model gets


def _given(
    module: Module, points_to: PointsTo, known: _Batches, member: str, call: cst.Call
) -> Iterator[_Given]:
    for name, place in _GIVEN:
        given = argument(call, name, place) if member in _TRAINED else None
        if given is not None:
            yield _Given(given.value, name != "y")
    generators_of = [argument(call, "generator" if member in _BY_GENERATORS else "x", 0)]
    generators_of += [argument(call, "validation_data")] if member.startswith("fit") else []
    for each in generators_of:
        value = None if each is None else value_of(module, each.value)
        if isinstance(value, cst.Tuple) and each is not generators_of[0]:
            yield from _parts(value, is_handed_out=False)
        elif isinstance(value, cst.Call):
            cls = class_named(module, value.func)
            function = (
                points_to.function_called(value.func)
                if cls is None
                else methods_in(cls).get("__getitem__")
            )
            if function is not None and function not in known:
                way = cst.Yield if cls is None else cst.Return
                known[function] = [*_batches(module, points_to, function, way)]
            yield from known[function] if function is not None else ()


def _batches(
    module: Module,
    points_to: PointsTo,
    function: cst.FunctionDef,
    way: type[cst.Yield | cst.Return],
) -> Iterator[_Given]:
    """Yield what a generator, or a ``Sequence``, of the file has in its batches."""
    for node in own_nodes(function.body):
        if not isinstance(node, way) or not isinstance(node.value, cst.BaseExpression):
            continue
        value = value_of(module, node.value)
        for each in points_to.returned_by(value) if isinstance(value, cst.Call) else (value,):
            if isinstance(each, cst.Tuple | cst.List):
                yield from _parts(each, is_handed_out=True)


def _parts(batch: cst.Tuple | cst.List, *, is_handed_out: bool) -> Iterator[_Given]:
    if any(isinstance(each, cst.StarredElement) for each in batch.elements):
        return
    for index, each in enumerate(batch.elements[1:3]):
        yield _Given(each.value, index == 1, is_handed_out)


# -- the model


def _has_one_output(module: Module, points_to: PointsTo, method: cst.BaseExpression) -> bool:
    """Say whether a model is surely made with one output, here or by a function of the file."""
    assert isinstance(method, cst.Attribute)
    made = value_of(module, method.value)
    if isinstance(made, cst.Call) and outputs_of(module, made) is not None:
        return _makes_one(module, made)
    known = list(points_to.of(method.value))
    if len(known) != 1 or known[0].part:
        return False
    values = [value_of(module, each) for each in points_to.returned_by(known[0].call)]
    return all(_makes_one(module, each) for each in values or (known[0].call,))


def _makes_one(module: Module, made: cst.BaseExpression) -> bool:
    outputs = outputs_of(module, made) if isinstance(made, cst.Call) else None
    if outputs is None:
        return False
    outputs = value_of(module, outputs)
    if isinstance(outputs, cst.List):
        if len(outputs.elements) != 1:
            return False
        outputs = outputs.elements[0].value
    found = module.type_of(outputs)
    return found is not None and found.kind is Kind.TENSOR


# -- the finding


def _finding(call: Call, given: _Given, element: cst.DictElement) -> Finding:
    what = "weights" if given.are_weights else "targets"
    name = literal(element.key)
    shown = name if isinstance(name, str) else "…"
    error = _OF_WEIGHTS if given.are_weights else _OF_TARGETS.format(shown)
    return call.finding(
        f"the model has one output, and treats the dict itself as its {what}: {error}",
        at=given.node,
        symbol=f"keras.Model.{call.leaf}",
        help=f"Pass the {what} without a dict.",
        fix=call.fix(
            "Take the value out of the dict",
            taken_out(call.module, given.node, element),
            unsafe_because="other code may read the batches and look for the name in them"
            if given.is_handed_out
            else "",
        ),
    )
