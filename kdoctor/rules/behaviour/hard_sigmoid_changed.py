"""`hard_sigmoid` is a different function in Keras 3."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Argument, Name, constructs, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.forms import form_of
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import ReferenceKind
from kdoctor.value_types import Kind

_NAME: Final = "hard_sigmoid"
_FUNCTION: Final = "activations.hard_sigmoid"
_COMPARISONS: Final = (cst.Comparison, cst.ComparisonTarget, cst.MatchValue)
_ARGUMENTS: Final = ("activation", "recurrent_activation", "inner_activation")


def _is_called_so(form: object) -> bool:
    return form == _NAME


def _is_it(_: TargetFacts, dotted: str) -> bool:
    split = split_root(dotted)
    return split is not None and split[1] == _FUNCTION


@rule(
    "KD404",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Kind.LAYER)
    .even(hidden=True, guarded=True)
    .arguments(where=_is_called_so)
    .beside(word(_NAME))
    | references(_NAME, where=_is_it, guarded=True),
)
def check(used: Argument | Name) -> Finding | None:
    """Report each use."""
    if isinstance(used, Argument):
        is_first = used.cls == "Activation" and used.arg is used.call.args[0]
        is_activation = used.keyword in _ARGUMENTS or (is_first and not used.keyword)
        is_wanted = is_activation and form_of(used.node) == _NAME
    else:
        above = used.module.parent(used.node)
        is_wanted = used.reference.kind is ReferenceKind.LOAD and not isinstance(
            above, _COMPARISONS
        )
    if not is_wanted:
        return None
    return used.finding(
        "`hard_sigmoid` was `clip(0.2 * x + 0.5, 0, 1)` and is now `relu6(x + 3) / 6`: results "
        "differ by up to 0.067",
        symbol=used.name,
        help="For weights from Keras 2, use the old formula: `keras.ops.clip(0.2 * x + 0.5, 0.0, "
        "1.0)`.",
        fix=_old_formula(used),
    )


def _old_formula(used: Argument | Name) -> Fix | NoFix:
    module = used.module
    if not isinstance(module.parent(used.node), cst.Arg):
        return NoFix("the function is not passed on here")
    spelled, need = speller_at(module, used.node).spell("keras.ops.clip")
    function = f"lambda x: {spelled}(0.2 * x + 0.5, 0.0, 1.0)"
    return used.fix(
        "Use the old formula",
        Edit(module.span(used.node), (function,)),
        imports=() if need is None else (need,),
        unsafe_because="a saved lambda can only be loaded with `safe_mode=False`, and a newly "
        "trained model does not need the old formula",
    )
