"""`RNN(cell)`: layers inside a custom cell are not built until the first batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.unbuilt_weights import makes_weights
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Class, Instance, classes, constructs
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.memoize import once
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Context, Kind

_GIVEN: Final = constructs(Instance(Kind.LAYER, "RNN")).even(hidden=True).argument("cell", 0)


@rule(
    "KD466",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=classes(of=Kind.LAYER, guarded=True).beside(_GIVEN),
)
def check(cell: Class) -> Finding | None:
    """Report each such class once."""
    module, facts = cell.module, cell.facts
    if cell.node not in _in_models(module, facts) or not _is_left_unbuilt(cell):
        return None
    return cell.finding(
        f"the layers in `{cell.symbol}` have no weights until the first batch, as `RNN` does not "
        "run its cell before that: `load_weights`, `load_model` and `set_weights` fail",
        at=cell.node.name,
        symbol=f"{cell.symbol}.build",
        help="Add a `build` that builds each of them with the shape that it receives.",
        fix=NoFix("kdoctor cannot tell which shape each of them is called with"),
    )


@once
def _in_models(module: Module, facts: TargetFacts) -> frozenset[cst.ClassDef]:
    """Return the classes of the file that cells are of which a model takes."""
    taken = (each for each in _GIVEN.find(module, facts) if _is_in_a_model(module, each.call))
    return frozenset(cls for each in taken for cls in _cells(module, each.node))


def _cells(module: Module, node: cst.BaseExpression) -> Iterator[cst.ClassDef]:
    """Yield the classes of the file that cells are of: one, or several in a list."""
    value = value_of(module, node)
    if isinstance(value, cst.List | cst.Tuple):
        for each in value.elements:
            yield from _cells(module, each.value)
    cls = class_named(module, value.func) if isinstance(value, cst.Call) else None
    if cls is not None:
        yield cls


def _is_in_a_model(module: Module, call: cst.Call) -> bool:
    """Say whether the layer is called with a symbolic tensor, or is one of a ``Sequential``."""
    above = module.parent(call)
    if isinstance(above, cst.Call) and above.func is call:
        is_run = module.context_of(above) in {Context.CALL, Context.TRAIN_LOOP}
        return not is_run and bool(above.args) and is_symbolic(module, above.args[0].value)
    if isinstance(above, cst.Arg):
        outer = module.parent(above)
        return isinstance(outer, cst.Call) and _adds(module, outer)
    listed = module.parent(above) if isinstance(above, cst.Element) else None
    given = module.parent(listed) if isinstance(listed, cst.List) else None
    outer = module.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(outer, cst.Call):
        return False
    name = module.qualified(outer.func)
    made = module.oracle.class_type(name) if name else None
    # Without its inputs it is built by the first batch in any case.
    return made is not None and made.cls == "Sequential" and _begins_with_inputs(module, listed)


def _adds(module: Module, outer: cst.Call) -> bool:
    """Say whether it is ``model.add(…)`` of a model that is known."""
    if not isinstance(outer.func, cst.Attribute) or outer.func.attr.value != "add":
        return False
    found = module.type_of(outer.func.value)
    return found is not None and found.kind is Kind.MODEL and found.cls == "Sequential"


def _begins_with_inputs(module: Module, listed: cst.CSTNode | None) -> bool:
    first = listed.elements[0].value if isinstance(listed, cst.List) else None
    if not isinstance(first, cst.Call):
        return False
    name = (module.qualified(first.func) or "").rpartition(".")[2]
    shaped = ("input_shape", "input_dim", "batch_input_shape")
    return name in {"Input", "InputLayer"} or any(argument(first, each) for each in shaped)


def _is_left_unbuilt(cell: Class) -> bool:
    module = cell.module
    base = only_base(module, cell.node)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    return (
        made is not None
        and made.cls == "Layer"
        and is_keras_3(cell.facts, name)
        and "build" not in cell.methods
        and "call" in cell.methods
        and makes_weights(module, [cell.node])
    )
