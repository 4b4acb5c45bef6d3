"""A function of TensorFlow is the activation of a layer."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.run_by_keras import only_with_backends
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, Severity
from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import not_given
from kdoctor.rules.backends._tensorflow import canonical
from kdoctor.rules.backends._tensorflow.guards import run_by_keras
from kdoctor.rules.backends.tensorflow_function import backends
from kdoctor.rules.names._backend.value_guards import nothing_sparse
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, ReferenceKind
from kdoctor.value_types import Kind

_KEYWORDS: Final = frozenset({"activation", "recurrent_activation"})
_CLASS: Final = "layers.Activation"
# A layer calls its activation with the tensor alone.
_ALONE: Final = nothing_sparse() & run_by_keras()
_OF_ONE: Final = {
    "tensorflow.nn.elu(features, name=None)": "elu",
    "tensorflow.nn.relu(features, name=None)": "relu",
    "tensorflow.nn.selu(features, name=None)": "selu",
    "tensorflow.nn.softplus(features, name=None)": "softplus",
    "tensorflow.sigmoid(x, name=None)": "sigmoid",
    "tensorflow.tanh(x, name=None)": "tanh",
}
_WITH_AN_OPTION: Final = (
    ("tensorflow.nn.gelu(features, approximate=False, name=None)", "gelu", "approximate"),
    ("tensorflow.nn.leaky_relu(features, alpha=0.2, name=None)", "leaky_relu", "alpha"),
    ("tensorflow.nn.silu(features, beta=1.0)", "silu", "beta"),
    ("tensorflow.nn.softmax(logits, axis=None, name=None)", "softmax", "axis"),
)
REWRITES: Final = (
    *(
        rewrite(left, f"keras.activations.{new}({left.partition('(')[2].split(',')[0]})", _ALONE)
        for left, new in _OF_ONE.items()
    ),
    *(
        rewrite(
            left,
            f"keras.activations.{new}({left.partition('(')[2].split(',')[0]})",
            not_given(option) & _ALONE,
        )
        for left, new, option in _WITH_AN_OPTION
    ),
)
_ROWS: Final = {row.pattern.name: row for row in REWRITES}


@rule(
    "KD802",
    severity=Severity.ERROR,
    since="3.0",
    look_for=only_with_backends(
        references(
            where=lambda _, name: name.startswith("tensorflow.") and canonical(name) in _ROWS
        )
    ),
)
def check(use: Name) -> Finding | None:
    """Report each function that a layer is given as its activation."""
    if use.reference.kind is not ReferenceKind.LOAD or not _is_activation(use.module, use.node):
        return None
    row = _ROWS[canonical(use.name)]
    new = row.right.partition("(")[0]
    spelled, need = speller_at(use.module, use.node).spell(new)
    fix = Fix(
        f"Write `{new}` instead of `{use.source(use.node)}`",
        (Edit(use.module.outer_span(use.node), (spelled,)),),
        use.facts.applicability(row),
        () if need is None else (need,),
        unsafe_because=_reason(use.facts, use),
    )
    return use.finding(
        f"`{use.source(use.node)}` ties the layer to TensorFlow: Keras runs it on "
        f"{backends(use.facts)}, too",
        confidence=Confidence.LIKELY,
        help=f"{fix.title}, or its name, `{new.rpartition('.')[2]!r}`.",
        fix=fix,
    )


def _reason(facts: TargetFacts, use: Name) -> str:
    """Return what may differ, should the fix be unsafe."""
    row = _ROWS[canonical(use.name)]
    return facts.unproven_elsewhere(row) or "for some inputs it returns something else"


def _is_activation(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a layer of Keras is given an expression as what it calls in the end."""
    given = module.parent(node)
    call = None if given is None else module.parent(given)
    if not isinstance(given, cst.Arg) or not isinstance(call, cst.Call):
        return False
    name = module.qualified(call.func)
    split = None if name is None else split_root(name)
    if name is None or split is None:
        return False
    if given.keyword is not None and given.keyword.value in _KEYWORDS:
        made = module.oracle.class_type(name)
        return made is not None and made.kind is Kind.LAYER
    return split[1] == _CLASS and given is call.args[0] and given.keyword is None
