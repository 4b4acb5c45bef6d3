"""`tf.compat` with `tensorflow.keras`, where a library sets `TF_USE_LEGACY_KERAS`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name
from kdoctor.analysis.queries.references import references
from kdoctor.keras_api import split_root
from kdoctor.keras_api.surface import COMPATIBLE
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.spelling import Speller
from kdoctor.rules.rule import rule
from kdoctor.syntax import ReferenceKind

_KERAS_3: Final = "tensorflow.keras"


def _is_open(facts: TargetFacts, name: str) -> bool:
    # Where `tf.keras` is open, too, nothing in the file leads to Keras 3 for sure.
    return facts.open_roots.issubset(COMPATIBLE) and facts.is_open(name)


@rule("KD706", severity=Severity.CHANGE, look_for=references(where=_is_open))
def check(found: Name) -> Finding | None:
    """Report what is read of ``tf.compat`` in a file that imports ``tensorflow.keras``, too."""
    if found.reference.kind is not ReferenceKind.LOAD or not isinstance(found.node, cst.Attribute):
        return None
    old = found.module.source(found.node)
    return found.finding(
        f"`{old}` may be of tf_keras, which is Keras 2: tensorflow_model_optimization sets "
        f"`TF_USE_LEGACY_KERAS`, and `tf.compat` finds out only now which Keras is meant; "
        f"`{_KERAS_3}`, imported here, is Keras 3",
        help=f"Import it from `{_KERAS_3}`, like the others. tensorflow_model_optimization itself "
        "works with models of tf_keras alone.",
        fix=_fix(found, found.node),
    )


def _fix(found: Name, node: cst.Attribute) -> Fix | NoFix:
    split = split_root(found.name)
    if split is None or not split[1]:
        return NoFix("the module object itself is passed on")
    # Not by the import that it is read through.
    speller = Speller(found.module, node, f"{_KERAS_3}.{split[1]}")
    try:
        spelled, need = speller.spell(f"keras.{split[1]}")
    except Refused as refused:
        return NoFix(str(refused))
    return found.fix(
        f"Write `{spelled}`",
        replace_expression(found.module, node, spelled),
        imports=() if need is None else (need,),
        unsafe_because="what is handed to tensorflow_model_optimization has to be of tf_keras",
    )
