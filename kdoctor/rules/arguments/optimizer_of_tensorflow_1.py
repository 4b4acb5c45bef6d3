"""`compile(tf.compat.v1.train.AdamOptimizer())`: optimizers of TensorFlow 1 are refused."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    binding_of,
    is_hidden,
    positional_arguments,
    speller_at,
)
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import Expression
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

TRAIN: Final = "tensorflow.compat.v1.train."
REFUSED: Final = "ValueError: Could not interpret optimizer identifier"


class Successor(Struct, frozen=True):
    """The optimizer of Keras that computes the same.

    ``parameters`` are those of TensorFlow 1, in its order, with their names in Keras; the first
    ``by_position`` stand in the same order there. ``epsilon`` is the one of TensorFlow 1, where
    that of Keras differs.
    """

    name: str
    parameters: dict[str, str]
    by_position: int
    epsilon: str = ""


def _successor(name: str, *parameters: str, epsilon: str = "", **renamed: str) -> Successor:
    same = {each: each for each in ("learning_rate", *parameters)}
    by_position = {**same, **{old: new for old, new in renamed.items() if old in same}}
    return Successor(name, {**by_position, **renamed, "name": "name"}, len(same), epsilon)


SUCCESSORS: Final = {
    "AdadeltaOptimizer": _successor("Adadelta", "rho", "epsilon", epsilon="1e-8"),
    "AdagradOptimizer": _successor("Adagrad", "initial_accumulator_value", epsilon="0.0"),
    "AdamOptimizer": _successor(
        "Adam", "beta1", "beta2", "epsilon", beta1="beta_1", beta2="beta_2", epsilon="1e-8"
    ),
    "FtrlOptimizer": _successor(
        "Ftrl",
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
    ),
    "GradientDescentOptimizer": _successor("SGD"),
    "MomentumOptimizer": _successor("SGD", "momentum", use_nesterov="nesterov"),
}
OTHERS: Final = {
    "AdagradDAOptimizer": "Keras has no such optimizer",
    "ProximalAdagradOptimizer": "Keras has no such optimizer",
    "ProximalGradientDescentOptimizer": "Keras has no such optimizer",
    "RMSPropOptimizer": "`RMSprop` of Keras starts its running mean at 0, this one at 1",
}


def _classes(form: object) -> set[str]:
    """Return the classes of TensorFlow 1 of which a call may create an object."""
    if not isinstance(form, Expression) or form.kind != "Call":
        return set()
    meant = map(by_the_short_way, form.meant)
    found = {each.removeprefix(TRAIN) for each in meant if each.startswith(TRAIN)}
    return found & {*SUCCESSORS, *OTHERS}


OPTIMIZER = calls("compile", on=Kind.MODEL).argument(
    "optimizer", 0, where=lambda form: bool(_classes(form))
)


@rule("KD327", severity=Severity.ERROR, since="3.0", look_for=OPTIMIZER)
def check(given: Argument) -> Finding | None:
    """Report each such optimizer."""
    made = given.value_node
    classes = _classes(given.form(given.node))
    if not isinstance(made, cst.Call) or len(classes) != 1:
        return None
    (cls,) = classes
    successor = SUCCESSORS.get(cls)
    instead = "an optimizer of `keras.optimizers`"
    if successor is not None:
        instead = f"`keras.optimizers.{successor.name}`"
    elif cls == "RMSPropOptimizer":
        instead = "`keras.optimizers.RMSprop`"
    return given.finding(
        f"`{cls}` is an optimizer of TensorFlow 1: {REFUSED}",
        symbol=f"{TRAIN}{cls}",
        help=f"Pass {instead}.",
        fix=NoFix(OTHERS[cls]) if successor is None else _of_keras(given, made, successor),
    )


def _of_keras(given: Argument, made: cst.Call, successor: Successor) -> Fix | NoFix:
    """Create the optimizer of Keras where that of TensorFlow 1 is created."""
    module = given.module
    if is_hidden(made):
        return NoFix("`*` or `**` hides some arguments")
    if made is not given.node:
        binding = binding_of(module, given.node)
        if binding is None or len([*reads_of(module, binding.node)]) > 1:
            return NoFix(f"`{given.source(given.node)}` is used elsewhere, too")
    if len(positional_arguments(made)) > successor.by_position:
        return NoFix("Keras has other parameters at these positions")
    rate = argument(made, "learning_rate", 0)
    form = None if rate is None else given.form(rate.value)
    if isinstance(form, Expression) and any(n.startswith("tensorflow.") for n in form.meant):
        return NoFix("its learning rate is made by TensorFlow, and Keras wants a float")
    edits = []
    for each in made.args:
        if each.keyword is None:
            continue
        new = successor.parameters.get(each.keyword.value)
        if new is None:
            return NoFix(f"`{successor.name}` of Keras has no `{each.keyword.value}`")
        if new != each.keyword.value:
            edits.append(Edit(module.span(each.keyword), (new,)))
    order = [*successor.parameters]
    place = order.index("epsilon") if "epsilon" in order else None
    if successor.epsilon and argument(made, "epsilon", place) is None:
        edits.append(add_keyword(module, made, f"epsilon={successor.epsilon}"))
    spelled, need = speller_at(module, made).spell(f"keras.optimizers.{successor.name}")
    return given.fix(
        f"Write `{spelled}`",
        Edit(module.span(made.func), (spelled,)),
        *edits,
        imports=(need,),
    )
