"""``isinstance(x, tf.Tensor)`` in code that Keras runs: False on each other backend."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.backends.own_tensors import is_made_by_tensorflow
from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rules.rule import rule

_CLASS: Final = "tensorflow.Tensor"
_ANSWER: Final = "keras.ops.is_tensor"
_VARIABLES: Final = (
    "of a `keras.Variable` and of sparse and ragged tensors it may say another thing"
)


def _is_tensor(_facts: TargetFacts, name: str) -> bool:
    return name.startswith("tensorflow.") and by_the_short_way(name) == _CLASS


@rule(
    "KD814",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=run_by_keras(references("Tensor", where=_is_tensor)),
)
def check(name: Name) -> Finding | None:
    """Report each such question."""
    module = name.module
    given = module.parent(name.node)
    in_tuple = isinstance(given, cst.Element)
    while isinstance(given, cst.Element | cst.Tuple):
        given = module.parent(given)
    call = module.parent(given) if isinstance(given, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Name(value="isinstance") as function, args=[asked, _]):
            if module.scope_of(function).owner("isinstance") is not None:
                return None
            if is_made_by_tensorflow(module, asked.value):
                return None
        case _:
            return None
    return name.finding(
        "a tensor of JAX or PyTorch is none of TensorFlow's: this is False there",
        at=call,
        help=f"Ask `{_ANSWER}(x)`.",
        fix=NoFix("it asks for other classes, too") if in_tuple else _fix(name, call, asked),
    )


def _fix(name: Name, call: cst.Call, asked: cst.Arg) -> Fix | NoFix:
    module = name.module
    if "#" in module.source(call):
        return NoFix("there is a comment inside the expression")
    spelled, need = speller_at(module, name.node).spell(_ANSWER)
    hole = Hole(module.outer_span(asked.value))
    edit = Edit(module.span(call), (f"{spelled}(", hole, ")"), Precedence.PRIMARY)
    return name.fix(f"Ask `{_ANSWER}`", edit, imports=(need,), unsafe_because=_VARIABLES)
