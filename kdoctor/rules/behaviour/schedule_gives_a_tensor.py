"""The function of a `LearningRateScheduler` returns a tensor: `return lr * tf.math.exp(-0.1)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin, is_keras_3, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.used_elsewhere import may_be_used_elsewhere
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.analysis.queries import Argument, File, Instance, constructs, files, references
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes, returned_in
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_CALLBACK: Final = "LearningRateScheduler"
_FLOAT: Final = "float"
_USED: Final = "other code calls the function, and may ask its result for what a tensor has"
_SCHEDULES: Final = "optimizers.schedules."
_ERROR: Final = "ValueError: The output of the `schedule` function should be a float."
_MAX_DEPTH: Final = 6  # steps from name to name, and from one operand to another
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Power)


_SCHEDULES_GIVEN = constructs(Instance(Kind.CALLBACK, _CALLBACK)).argument("schedule", 0)


@rule(
    "KD468",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        _SCHEDULES_GIVEN,
        references(where=lambda _, name: computes_tensor(name) or _names_a_schedule(name)),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each rate that is a tensor, and each schedule that gives one."""
    told: set[cst.CSTNode] = set()
    for given in file.find(_SCHEDULES_GIVEN):
        if _is_schedule(given):
            yield given.finding(
                f"a schedule returns a tensor, but Keras 3 requires a float: {_ERROR}",
                symbol=_CALLBACK,
                help="Write `lambda epoch: float(schedule(epoch))`; or pass the schedule to the "
                "optimizer, which counts steps instead of epochs.",
                fix=_converted(given),
            )
        for rate in _tensors(file.module, given.node):
            if rate not in told and not file.module.is_guarded(rate):
                told.add(rate)
                yield _of_a_tensor(given, rate)


def _is_schedule(given: Argument) -> bool:
    """Say whether it is one of Keras' own schedules."""
    made = given.value_node
    name = given.module.qualified(made.func) if isinstance(made, cst.Call) else None
    return name is not None and is_keras_3(given.facts, name) and _names_a_schedule(name)


def _names_a_schedule(name: str) -> bool:
    split = split_root(name)
    if split is None or not split[1].startswith(_SCHEDULES):
        return False
    leaf = split[1].removeprefix(_SCHEDULES)
    return leaf[:1].isupper() and leaf != "LearningRateSchedule"


def _tensors(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what a function returns that is a tensor."""
    for each in _returned(module, given):
        branches = [each.body, each.orelse] if isinstance(each, cst.IfExp) else [each]
        yield from (branch for branch in branches if _is_tensor(module, branch))


def _returned(module: Module, given: cst.BaseExpression) -> list[cst.BaseExpression]:
    value = value_of(module, given)
    if isinstance(value, cst.Lambda):
        return [value.body]
    function = points_to_of(module).function_called(given)
    if function is None or function.decorators or function.asynchronous is not None:
        return []
    # A class is called for its instance; a generator function gives no rate at all.
    is_another = function.name.value == "__init__"
    if is_another or any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
        return []
    return [each for each in returned_in(function) if each is not None]


def _is_tensor(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether an expression surely gives a tensor, at least where one way leads to it."""
    if depth > _MAX_DEPTH:
        return False
    match node:
        case cst.Call():
            name = module.qualified(node.func)
            return name is not None and computes_tensor(name)
        case cst.UnaryOperation(operator=cst.Minus()):
            return _is_tensor(module, node.expression, depth + 1)
        case cst.BinaryOperation() if isinstance(node.operator, _ARITHMETIC):
            return any(_is_tensor(module, each, depth + 1) for each in (node.left, node.right))
        case cst.Name():
            return any(
                bound.kind in {BindingKind.ASSIGN, BindingKind.AUGMENT}
                and not bound.path
                and bound.value is not None
                and _is_tensor(module, bound.value, depth + 1)
                for bound in module.bindings_at(node)
            )
    return False


def _of_a_tensor(given: Argument, rate: cst.BaseExpression) -> Finding:
    span = given.module.outer_span(rate)
    fix = given.fix(
        "Convert it to a float",
        Edit(span, ("float(", Hole(span), ")")),
        unsafe_because=_USED if _is_used_otherwise(given, rate) else "",
    )
    is_free = has_builtin(given.module, rate, _FLOAT)
    return given.finding(
        f"the rate is a tensor, but Keras 3 requires a float: {_ERROR}",
        at=rate,
        symbol=_CALLBACK,
        help="Wrap it in `float(…)`.",
        fix=fix if is_free else NoFix(hidden_builtin(_FLOAT)),
    )


def _is_used_otherwise(given: Argument, rate: cst.BaseExpression) -> bool:
    """Say whether anything but a callback may call the function that gives a rate."""
    module = given.module
    function = points_to_of(module).function_around(rate)
    if function is None:
        return False
    names = (each for each in names_of_variable(module, function.name) if each is not function.name)
    uses = (module.parent(each) for each in names)
    read = (module.parent(each) if isinstance(each, cst.Attribute) else each for each in uses)
    is_for_callbacks = all(isinstance(each, cst.Arg) for each in read)
    return not is_for_callbacks or may_be_used_elsewhere(module, function)


def _converted(given: Argument) -> Fix | NoFix:
    if not has_builtin(given.module, given.node, _FLOAT):
        return NoFix(hidden_builtin(_FLOAT))
    if not _stays(given.module, given.node):
        return NoFix("the name of the schedule is also used for something else")
    span = given.module.outer_span(given.node)
    edit = Edit(span, ("lambda epoch: float(", Hole(span), "(epoch))"))
    return given.fix("Convert its result to a float", edit)


def _stays(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether a function that is run later finds the same schedule."""
    if isinstance(given, cst.Call):
        return True
    if not isinstance(given, cst.Name) or given.value == "epoch":
        return False
    owner = module.scope_of(given).owner(given.value)
    return owner is not None and len(owner.bindings[given.value]) == 1
