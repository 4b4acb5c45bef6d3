"""Code guarded by a check for eager execution, where graph code does not run."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.keras_api.tensorflow_aliases import TURN_EAGER_OFF
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import early_exits
from kdoctor.syntax.fallback_helpers import conditions

_ASKING = "executing_eagerly"


def is_for_graphs_alone(module: Module, node: cst.CSTNode) -> bool:
    """Say whether ``node`` is under `if not tf.executing_eagerly():`, or below `if …(): return`.

    Not in a file that turns eager execution off. A `tf.function` does come to such code, too, but
    nobody opens a session in one.
    """
    if _ASKING not in module.words or not module.words.isdisjoint(TURN_EAGER_OFF):
        return False
    child = node
    for parent in module.ancestors(node):
        if any(
            _needs_a_graph(module, test, wanted=wanted)
            for test, wanted in conditions(parent, child, lambda _: None)
        ):
            return True
        if isinstance(parent, cst.IndentedBlock | cst.Module):
            place = next(at for at, each in enumerate(parent.body) if each is child)
            if any(
                at < place and _needs_a_graph(module, test, wanted=False)
                for at, test in early_exits(parent)
            ):
                return True
        child = parent
    return False


def _needs_a_graph(module: Module, test: cst.BaseExpression, *, wanted: bool) -> bool:
    """Say whether a test turns out as it is wanted in a graph alone."""
    value = value_of(module, test)
    match value if isinstance(value, cst.Call) else test:  # no further: `x = not x`
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _needs_a_graph(module, inner, wanted=not wanted)
        case cst.BooleanOperation(left=left, operator=operation, right=right):
            kind = cst.And if wanted else cst.Or
            return isinstance(operation, kind) and any(
                _needs_a_graph(module, each, wanted=wanted) for each in (left, right)
            )
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return name == _ASKING and not wanted
    return False
