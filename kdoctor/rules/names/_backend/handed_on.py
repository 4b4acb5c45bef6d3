"""`K.relu` where it is no call: as an activation, in a dict of functions, as a default."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import keras_calls
from kdoctor.model import Applicability, Edit, Fix, Precedence
from kdoctor.rewrite import Speller
from kdoctor.syntax import Module, Reference
from kdoctor.value_types import Kind

_NEW = "keras.activations.relu"
_BECAUSE = "`alpha` is called `negative_slope` there: a call that names it would be refused"
_KEYWORDS = ("activation", "recurrent_activation")


def handed_on_relu(
    module: Module, facts: TargetFacts, reference: Reference, proven: Applicability
) -> Fix | None:
    """Write ``keras.activations.relu``, which takes the same arguments by position.

    A layer calls its activation with one argument.
    """
    node = reference.node
    if not isinstance(node, cst.Attribute | cst.Name):
        return None  # an import
    span = module.span(node)
    if "#" in module.text[span.start : span.end]:
        return None
    new, need = Speller.at(module, reference).spell(_NEW)
    is_safe = proven is Applicability.SAFE and _is_activation(module, facts, node)
    return Fix(
        f"Write `{new}` instead of `{module.source(node)}`",
        (Edit(span, (new,), Precedence.PRIMARY),),
        Applicability.SAFE if is_safe else Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="" if is_safe else _BECAUSE,
    )


def _is_activation(module: Module, facts: TargetFacts, node: cst.BaseExpression) -> bool:
    """Say whether a layer of Keras is created with this as what it activates."""
    passed = module.parent(node)
    call = module.parent(passed) if isinstance(passed, cst.Arg) and not passed.star else None
    found = next((each for each in keras_calls(module, facts) if each.call is call), None)
    if found is None or found.kind is not Kind.LAYER:
        return False
    by_keyword = any(argument(found.call, each) is passed for each in _KEYWORDS)
    return by_keyword or (
        isinstance(passed, cst.Arg)
        and passed.keyword is None
        and found.leaf == "Activation"
        and found.args[0] is passed
    )
