"""Two outputs of a model come from one layer: their losses share a name, and one is lost."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.dataflow.points_to import Allocation, PointsTo, points_to_of
from kdoctor.analysis.dataflow.uses import index_read, names_with_spelling, reads_of
from kdoctor.analysis.queries import Call, Instance, calls, constructs
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.analysis.queries.forms import is_sequence_of_several
from kdoctor.analysis.training.loss_counts import count_elements
from kdoctor.memoize import once
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

_LOOPS = (cst.BaseComp, cst.For, cst.While)
_GIVE_RESULTS = frozenset({"evaluate", "test_on_batch", "train_on_batch"})


@rule(
    "KD453",
    severity=Severity.CHANGE,
    since="3.5",
    look_for=calls(*_GIVE_RESULTS, on=Kind.MODEL)
    .without("return_dict")
    .beside(
        attribute("compile"),
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_sequence_of_several
        ),
    ),
)
def check(call: Call) -> Finding | None:
    """Report each result in which the loss of one output stands for that of another."""
    module, method = call.module, call.node.func
    assert isinstance(method, cst.Attribute)
    points_to = points_to_of(module)
    made = points_to.of(method.value)
    outputs = _outputs(module, points_to, made)
    lost = [1 + each for each in _lost(module, points_to, outputs)]
    if not lost or not _has_a_loss_for_each(module, made, len(outputs)):
        return None
    if not _is_read(module, call.node, {*lost}):
        return None
    which = ", ".join(map(str, lost))
    return call.finding(
        f"several outputs come from one layer and share its name: result {which} is the loss of "
        "the last of them, in Keras 2 that of its own output",
        symbol=call.name.removeprefix("keras."),
        help="Give each output a distinct name: `keras.layers.Identity(name='…')(output)`.",
        fix=NoFix("you have to choose the names"),
    )


def _outputs(
    module: Module, points_to: PointsTo, made: frozenset[Allocation]
) -> list[cst.BaseExpression]:
    """Return the outputs that a model is made with, nothing where that is not written out."""
    if len(made) != 1:
        return []
    (origin,) = made
    if origin.part:
        return []
    values = [value_of(module, each) for each in points_to.returned_by(origin.call)]
    if len(values) > 1:
        return []
    call = values[0] if values else origin.call
    given = outputs_of(module, call) if isinstance(call, cst.Call) else None
    outputs = None if given is None else unmutated_value_of(module, given)
    if not isinstance(outputs, cst.List | cst.Tuple):
        return []
    if any(isinstance(each, cst.StarredElement) for each in outputs.elements):
        return []
    return [each.value for each in outputs.elements]


def _lost(module: Module, points_to: PointsTo, outputs: list[cst.BaseExpression]) -> list[int]:
    """Return the outputs of which a later one has the same name."""
    if len(outputs) < 2 or _are_named_anew(module):
        return []
    makers = [_maker(module, points_to, each) for each in outputs]
    return [
        place
        for place, maker in enumerate(makers)
        if maker is not None and maker in makers[place + 1 :]
    ]


def _maker(
    module: Module, points_to: PointsTo, output: cst.BaseExpression
) -> tuple[Allocation, str] | None:
    """Return what made the layer that made an output, None where it is not one for sure.

    That is the call, and whose layer it is, since each object of a class makes one of its own.

    What a function makes is made anew by each call of it: there the output is what the function
    gives, and no call of a layer.
    """
    made = points_to.of(output)
    call = next(iter(made)).call if len(made) == 1 else None
    if call is None or isinstance(call.func, cst.Call):
        return None
    found = module.type_of(call.func)
    if found is None or found.kind not in {Kind.LAYER, Kind.MODEL}:
        return None
    layers = points_to.of(call.func)
    layer = next(iter(layers)) if len(layers) == 1 else None
    if layer is None or layer.part or not _loops(module, layer.call) <= _loops(module, output):
        return None
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    return layer, "" if owner is None else module.source(owner)


def _loops(module: Module, node: cst.CSTNode) -> set[cst.CSTNode]:
    """Return the loops around a node: a layer that one makes is another each time."""
    return {each for each in module.ancestors(node) if isinstance(each, _LOOPS)}


def _are_named_anew(module: Module) -> bool:
    """Say whether the file gives the outputs of a model names of its own."""
    attributes = (module.parent(each) for each in names_with_spelling(module, "output_names"))
    return any(
        isinstance(each, cst.Attribute) and isinstance(module.parent(each), cst.AssignTarget)
        for each in attributes
    )


@once
def _has_a_loss_for_each(module: Module, made: frozenset[Allocation], count: int) -> bool:
    """Say whether all that compiles the model gives a loss to each output."""
    compiled = _compiled(module).get(made, ())
    return bool(compiled) and all(_gives_each(module, each, count) for each in compiled)


@once
def _compiled(module: Module) -> dict[frozenset[Allocation], list[cst.Call]]:
    """Return the calls of `compile`, by what the model is."""
    found: dict[frozenset[Allocation], list[cst.Call]] = {}
    for each in module.members_named("compile"):
        if each.called is not None:
            found.setdefault(points_to_of(module).of(each.node.value), []).append(each.called)
    return found


def _gives_each(module: Module, compiling: cst.Call, count: int) -> bool:
    given = argument(compiling, "loss", 1)
    losses = None if given is None else unmutated_value_of(module, given.value)
    if isinstance(losses, cst.SimpleString):
        return True
    return isinstance(losses, cst.List | cst.Tuple) and count_elements(losses) == count


def _is_read(module: Module, call: cst.Call, places: set[int]) -> bool:
    """Say whether one of these results is used."""
    parent = module.parent(call)
    if isinstance(parent, cst.Expr):
        return False
    if isinstance(parent, cst.Subscript):
        return _takes(parent, places)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return True
    target = parent.targets[0].target
    if isinstance(target, cst.Tuple | cst.List):
        names = [each.value for each in target.elements]
        return any(
            place < len(names) and not _is_thrown_away(names[place]) for place in places
        ) and not any(isinstance(each, cst.StarredElement) for each in target.elements)
    if not isinstance(target, cst.Name):
        return True
    reads = (each for each in reads_of(module, target) if value_of(module, each) is call)
    return any(_read_takes(module, each, places) for each in reads)


def _is_thrown_away(target: cst.BaseExpression) -> bool:
    return isinstance(target, cst.Name) and target.value.startswith("_")


def _read_takes(module: Module, name: cst.Name, places: set[int]) -> bool:
    around = module.parent(name)
    if isinstance(around, cst.Subscript) and around.value is name:
        return _takes(around, places)
    if isinstance(around, cst.Arg):
        call = module.parent(around)
        return not isinstance(call, cst.Call) or dotted_name(call.func) != "len"
    return True


def _takes(read: cst.Subscript, places: set[int]) -> bool:
    """Say whether a read takes one of the places; a slice, or what is computed, may take any."""
    place = index_read(read)
    return place is None or place in places
