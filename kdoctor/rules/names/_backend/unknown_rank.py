"""How many axes a tensor has may be unknown inside a ``tf.function``: where something tells so.

Keras 2 took such tensors in ``K.ndim``, ``K.squeeze``, ``K.concatenate`` and others; functions of
``keras.ops`` raise, or mean another axis.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.text_mentions import mentions
from kdoctor.lazy_regex import pattern
from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question
from kdoctor.rules.names._backend.value_guards import somewhere
from kdoctor.syntax import Module
from kdoctor.value_types import Context

# What makes tensors of unknown rank, or passes them: among sparse ones the sums and maxima.
_MAKERS = pattern(
    r"sparse[._]reduce|reduce_\w+_sparse"
    r"|[Rr]agged|TensorSpec|input_signature|TensorArray|while_loop|shape_invariants"
    r"|py_func|numpy_function|from_generator|parse_tensor|decode_image|gather_nd|placeholder"
)
_DIFFERS = {
    "concatenate": "axis=-1 is then the first axis on Keras 2, and the last on Keras 3",
    "dot": "K.dot is then tf.matmul on Keras 2, another product if y has three or more axes",
    "int_shape": "K.int_shape then returned None, and `x.shape` cannot be converted to a tuple",
}
_WITH_A_RANK = (Context.FUNCTIONAL, Context.EAGER)


def rank_is_known() -> Guard:
    """The line is run on tensors whose number of axes is known.

    Symbolic tensors and those with values have it. In a ``tf.function`` most have: nothing that
    makes others is named in the file.
    """
    return Question(
        "rank_is_known()",
        "this file makes tensors whose rank may be unknown in a graph",
        lambda use_site: GuardAnswer.of(not may_be_unknown(use_site.module, use_site.node)),
    )


def may_be_unknown(module: Module, node: cst.CSTNode) -> bool:
    """Say whether something tells that a tensor at this place may be of unknown rank."""
    return module.context_of(node) not in _WITH_A_RANK and mentions(module, _MAKERS)


def where_rank_is_known(left: str, right: str, when: Guard | None = None) -> tuple[Rewrite, ...]:
    """State a rewrite that is right for tensors of known rank only: elsewhere it is unsafe."""
    guards = (rank_is_known(), somewhere())
    return tuple(rewrite(left, right, each if when is None else when & each) for each in guards)


def why_unsafe(name: str) -> str:
    """Return what may differ where the number of axes is unknown."""
    differs = _DIFFERS.get(name, "it then raises on Keras 3, and did not on Keras 2")
    return f"this file makes tensors whose rank may be unknown in a graph: {differs}"
