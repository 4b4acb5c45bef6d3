"""`Constant([1., 2., 3., 4.])` for a weight of shape (4, 1): the value is no longer reshaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed, speller_at, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.used_elsewhere import may_be_used_elsewhere
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.queries import Call, File, calls, constructs, files, functions
from kdoctor.analysis.tensors.known_shapes import Shape, count_of, shape_of, sizes_in
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._weight_shapes import KEYWORDS, shape_of_weight
from kdoctor.rules.rule import rule
from kdoctor.syntax.displays import elements_of
from kdoctor.value_types import Kind

_NAMES: Final = frozenset({"initializers.Constant", "initializers.constant"})
_CONSTANTS: Final = functions(*_NAMES).passing("value", place=0)
_OWNERS: Final = (Kind.LAYER, Kind.MODEL, Kind.METRIC)
_WEIGHTS: Final = constructs(Kind.LAYER).passing(*KEYWORDS) | calls(
    "add_weight", on=_OWNERS
).passing("initializer")
_KEYWORDS: Final = (*KEYWORDS, "initializer")
_SHAPE_PLACES: Final = 2  # of `add_weight`: first now, second in Keras 2


class _Use(Struct, frozen=True):
    """A constant that is the initializer of a weight; ``shape`` is that of the weight."""

    initializer: cst.BaseExpression
    constant: cst.Call
    value: cst.BaseExpression
    given: Shape
    shape: Shape


@rule("KD485", severity=Severity.CHANGE, since="3.0", look_for=files(_CONSTANTS))
def check(file: File) -> Iterator[Finding]:
    """Report each constant once."""
    uses: dict[cst.Call, list[_Use]] = {}
    module = file.module
    plain = (each for each in module.nodes(cst.Call) if not module.is_guarded(each))
    calls_of_it = (Call(module, file.facts, each) for each in plain)
    for call in (*file.find(_WEIGHTS), *calls_of_it):
        for use in _uses(call):
            uses.setdefault(use.constant, []).append(use)
    for found in uses.values():
        wrong = next((each for each in found if _is_changed(each)), None)
        if wrong is not None:
            yield _finding(file, wrong, found)


def _uses(call: Call) -> Iterator[_Use]:
    """Yield the constants that a call makes weights of, or the one that it calls itself."""
    module = call.module
    for initializer, shape in (*_weights(call), *_itself(call)):
        constant = _constant(call, initializer)
        value = None if constant is None else passed(constant, "value", 0)
        given = None if value is None else shape_of(module, value)
        if constant is not None and value is not None and given:
            yield _Use(initializer, constant, value, given, shape)


def _weights(call: Call) -> Iterator[tuple[cst.BaseExpression, Shape]]:
    """Yield the initializers that a call passes, with the shapes of their weights."""
    if call.use is None and call.made is None:
        return
    for keyword in _KEYWORDS:
        given = call.argument(keyword)
        shape = None if given is None else _shape_of_weight(call, keyword)
        if given is not None and shape is not None:
            yield given.value, shape


def _itself(call: Call) -> Iterator[tuple[cst.BaseExpression, Shape]]:
    """Yield what is called with a shape: ``initializer(shape=(4, 1))``."""
    shape = call.argument("shape", 0)
    if call.use is None and call.made is None and shape is not None and not call.is_hidden:
        sizes = sizes_in(call.module, shape.value)
        if sizes is not None and elements_of(value_of(call.module, shape.value)) is not None:
            yield call.node.func, sizes


def _constant(call: Call, initializer: cst.BaseExpression) -> cst.Call | None:
    """Return the one call of Keras' `Constant` that an expression is."""
    made = points_to_of(call.module).creation_of(initializer)
    if made is None:
        return None
    split = split_root(call.module.qualified(made.func) or "")
    is_one = split and split[1] in _NAMES and call.facts.runs_keras_3(split[0])
    return made if is_one else None


def _shape_of_weight(call: Call, keyword: str) -> Shape | None:
    if call.made is not None:
        return shape_of_weight(call, keyword)
    given = call.argument("shape")
    by_position = (call.argument("", place) for place in range(_SHAPE_PLACES))
    shapes = [given] if given is not None else [each for each in by_position if each is not None]
    values = (value_of(call.module, each.value) for each in shapes)
    shape = next((each for each in values if elements_of(each) is not None), None)
    return None if shape is None else sizes_in(call.module, shape)


def _is_changed(use: _Use) -> bool:
    """Say whether the weight has surely another shape than the value after broadcasting."""
    return len(use.given) > len(use.shape) or bool(_clashes(use))


def _clashes(use: _Use) -> list[tuple[int, int]]:
    """Return the lengths of the value and of the weight along axes that do not fit."""
    pairs = zip(reversed(use.given), reversed(use.shape), strict=False)
    return [
        (one, other)
        for one, other in pairs
        if one is not None and other is not None and one not in (1, other)
    ]


def _finding(file: File, use: _Use, uses: Sequence[_Use]) -> Finding:
    clashes = _clashes(use)
    is_refused = any(of_weight != 1 for _, of_weight in clashes)
    given, shape = _written(use.given), _written(use.shape)
    happens = (
        f"cannot be broadcast to {shape}: InvalidArgumentError: … Incompatible shapes"
        if is_refused
        else f"is broadcast with {shape}, so that the weight gets another shape and other values"
    )
    return file.finding(
        f"Keras 2 reshaped the value of `Constant`; now a value of shape {given} {happens}",
        at=use.value,
        symbol="keras.initializers.Constant",
        severity=Severity.ERROR if is_refused else Severity.CHANGE,
        help="Give the value the shape of the weight.",
        fix=_fix(file, use, uses),
    )


def _written(shape: Shape) -> str:
    sizes = ["?" if each is None else str(each) for each in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _fix(file: File, use: _Use, uses: Sequence[_Use]) -> Fix | NoFix:
    target = _target(use)
    if target is None:
        return NoFix(f"the shape of the weight, {_written(use.shape)}, is not known as a whole")
    elements, room = count_of(use.given), count_of(use.shape)
    if elements is not None and room not in (None, elements):
        return NoFix(f"{elements} values do not fill a weight of shape {_written(use.shape)}")
    if {_target(each) for each in uses} != {target} or not _are_all(file, use, uses):
        return NoFix("the initializer may also be used for other weights")
    spelled, need = speller_at(file.module, use.value).spell("numpy.reshape")
    place = file.module.outer_span(use.value)
    hole = Hole(place, Precedence.LAMBDA, precedence_of(use.value))
    text = _written(tuple(-1 if each is None else each for each in target))
    return file.fix(
        f"Reshape the value to {text}", Edit(place, (f"{spelled}(", hole, f", {text})")),
        imports=(need,),
    )  # fmt: skip


def _target(use: _Use) -> Shape | None:
    """Return the shape to write; one axis may be left to NumPy."""
    return use.shape if use.shape.count(None) < 2 else None


def _are_all(file: File, use: _Use, uses: Sequence[_Use]) -> bool:
    """Say whether these are all uses of the constant: it is written there, or has its own name."""
    if all(each.initializer is use.constant for each in uses):
        return True
    target = file.module.parent(use.constant)
    while target is not None and not isinstance(target, cst.Assign):
        target = file.module.parent(target)
    if target is None or len(target.targets) != 1 or target.value is not use.constant:
        return False
    module = file.module
    if may_be_used_elsewhere(module, target):
        return False
    return set(reads_of(module, target.targets[0].target)) == {each.initializer for each in uses}
