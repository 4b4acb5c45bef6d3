"""`K.function(inputs, outputs, updates=optimizer.get_updates(…))`: one step of training a call.

Actors, critics and other losses that no `fit` knows were trained so. In the graph of Keras 2 an
update was an operation; here it is an optimizer, a loss and weights, and a function of the file
itself runs the model up to the losses under a tape.
`tests/rules/test_backend_function_gone_graph_programs.py` holds programs that people write against
the graph of `tf_keras`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, binding_of, value_of
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.memoize import once
from kdoctor.model import Applicability, Edit, Fix, Hole, NoFix, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import is_name_of_module, not_added, spelled_helper
from kdoctor.rules.names._backend.helper_calls import calls_of_backend
from kdoctor.rules.names._backend.learning_phase_inputs import asks_the_phase
from kdoctor.syntax import Module

NAME: Final = "keras_training_function"
HELPER: Final = '''def keras_training_function(inputs, outputs, updates):
    """Do what `K.function` did with updates: each call is a step of training.

    Each of the updates is an optimizer, its loss, and the weights that it changes.
    """
    losses = [loss for _, loss, _ in updates]
    # The first twice: a model of one output gives it without its list.
    model = {model}(inputs, [losses[0], *losses, *outputs])

    def run(values):
        with {tape}(persistent=True) as tape:
            _, *results = model(values)
        for (optimizer, _, weights), loss in zip(updates, results):
            variables = [each.value for each in weights]
            optimizer.apply(tape.gradient(loss, variables), weights)
        return [{convert_to_numpy}(each)[()] for each in results[len(updates) :]]

    return run'''
_NAMES: Final = {
    "model": "keras.Model",
    "tape": "tensorflow.GradientTape",
    "convert_to_numpy": "keras.ops.convert_to_numpy",
}
_PARAMETERS: Final = ("inputs", "outputs", "updates")
_LOSS, _PARAMS, _CONSTRAINTS = "loss", "params", "constraints"
# Of `get_updates` by position; a test asks the releases.
ORDERS: Final = {2: (_LOSS, _PARAMS), 3: (_PARAMS, _CONSTRAINTS, _LOSS)}
_IN_ONE_STEP: Final = (
    "the loss is computed under a `tf.GradientTape`, on TensorFlow alone; it was compared with "
    "graphs of Keras 2"
)


class Update(Struct, frozen=True):
    """A call of ``get_updates``: the optimizer, the loss, and the weights."""

    call: cst.Call
    optimizer: cst.BaseExpression
    loss: cst.BaseExpression
    weights: cst.BaseExpression


def trains(call: cst.Call) -> bool:
    """Say whether a call of ``K.function`` is given updates."""
    given = argument(call, "updates", _PARAMETERS.index("updates"))
    return given is not None and not _is_empty(given.value)


def as_training(module: Module, call: cst.Call) -> Fix | NoFix:
    """Return the fix that makes a call of the helper of one of ``K.function``, or why not."""
    updates = _updates(module, call)
    if isinstance(updates, NoFix):
        return updates
    (reference,) = (each for each in module.references if each.call is call)
    helper = spelled_helper(module, reference, _fixable(module), NAME, (HELPER, _NAMES))
    if helper is None:
        return not_added(NAME)
    return Fix(
        f"Call `{NAME}`, a function of this file that does what `K.function` did with updates",
        (
            *helper.edits,
            Edit(module.span(call.func), (NAME,), Precedence.PRIMARY),
            *(_as_tuple(module, each) for each in updates),
        ),
        Applicability.UNSAFE,
        helper.imports,
        unsafe_because=_IN_ONE_STEP,
    )


def training_with(module: Module, asked: cst.Call) -> Fix | NoFix | None:
    """Return the fix of the ``K.function`` that gets what this ``get_updates`` gives, if any."""
    for call in calls_of_backend(module, "function"):
        updates = _updates(module, call) if trains(call) else ()
        if not isinstance(updates, NoFix) and any(each.call is asked for each in updates):
            return as_training(module, call)
    return None


@once
def _fixable(module: Module) -> tuple[cst.Call, ...]:
    calls = calls_of_backend(module, "function")
    return tuple(
        each for each in calls if trains(each) and not isinstance(_updates(module, each), NoFix)
    )


def _updates(module: Module, call: cst.Call) -> Sequence[Update] | NoFix:
    """Return what a call of ``K.function`` is given as updates, or why that is not known."""
    given = [argument(call, name, place) for place, name in enumerate(_PARAMETERS)]
    if len(call.args) != len(_PARAMETERS) or any(each is None or each.star for each in given):
        return NoFix("kdoctor cannot tell its inputs from its outputs")
    if not is_name_of_module(module, NAME, call):
        return NoFix(f"`{NAME}` means something else here")
    inputs, _, last = given
    assert inputs is not None
    assert last is not None
    if asks_the_phase(module, inputs.value):
        return NoFix("the learning phase is among `inputs`")
    found = [*_parts(module, last.value)]
    updates = [each for each in found if each is not None]
    if len(updates) != len(found) or not updates:
        return NoFix("`updates` is not all made by `get_updates` of optimizers, for it alone")
    if any(_has_comment(module, each) for each in updates):
        return NoFix("there is a comment among the arguments of `get_updates`")
    return updates


def _parts(module: Module, node: cst.BaseExpression) -> Iterator[Update | None]:
    """Yield what a sum of updates is made of; None for what is none, or is read elsewhere, too."""
    if isinstance(node, cst.Name):
        binding = binding_of(module, node)
        value = value_of(module, node)
        is_alone = binding is not None and len([*reads_of(module, binding.node)]) == 1
        if value is node or not is_alone:
            yield None
        else:
            yield from _parts(module, value)
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield from _parts(module, node.left)
        yield from _parts(module, node.right)
    elif not _is_empty(node):
        yield _update(node)


def _update(node: cst.BaseExpression) -> Update | None:
    match node:
        case cst.Call(func=cst.Attribute(value=optimizer, attr=cst.Name(value="get_updates"))):
            pass
        case _:
            return None
    places = [each for each in node.args if each.keyword is None]
    by_name = {each.keyword.value: each.value for each in node.args if each.keyword is not None}
    if any(each.star for each in node.args) or (places and by_name):
        return None
    given = by_name or dict(
        zip(ORDERS.get(len(places), ()), (each.value for each in places), strict=False)
    )
    if given.keys() - {_CONSTRAINTS} != {_LOSS, _PARAMS}:
        return None
    if _CONSTRAINTS in given and not _is_empty(given[_CONSTRAINTS]):
        return None
    return Update(node, optimizer, given[_LOSS], given[_PARAMS])


def _has_comment(module: Module, update: Update) -> bool:
    """Say whether there is one in a call, outside of what is kept of it."""
    text, span = module.text, module.span(update.call)
    kept = sorted(
        module.outer_span(each) for each in (update.optimizer, update.loss, update.weights)
    )
    starts = [span.start, *(each.end for each in kept)]
    ends = [*(each.start for each in kept), span.end]
    return any("#" in text[start:end] for start, end in zip(starts, ends, strict=True))


def _as_tuple(module: Module, update: Update) -> Edit:
    parts = (update.optimizer, update.loss, update.weights)
    optimizer, loss, weights = (
        Hole(module.outer_span(each), Precedence.LAMBDA, precedence_of(each)) for each in parts
    )
    return Edit(module.span(update.call), ("[(", optimizer, ", ", loss, ", ", weights, ")]"))


def _is_empty(node: cst.BaseExpression) -> bool:
    match node:
        case cst.List(elements=[]) | cst.Tuple(elements=[]) | cst.Name(value="None"):
            return True
        case cst.Dict(elements=[]):
            return True
    return False
