"""Find what a custom step puts into the ``loss`` metric, and the loss itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.statements import free_name
from kdoctor.analysis.models.user_classes import member_of_self, methods_in
from kdoctor.analysis.models.user_models import compiles_as_keras_does, subclasses_of
from kdoctor.model import Edit, Span
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

GIVES_LOSS: Final = frozenset({"compiled_loss", "compute_loss"})
"""The methods that compute the loss of ``compile``; in Keras 2 they kept it, too."""
_GIVES_ALL: Final = frozenset({"compute_metrics", "get_metrics_result"})
_LOSS, _METRICS = "loss", "metrics"


def shows_loss(
    module: Module, node: cst.ClassDef, line: Sequence[cst.ClassDef], method: cst.FunctionDef
) -> bool:
    """Say whether a method returns what Keras' metric ``loss`` holds, and names no other loss."""
    decides = {_METRICS, *_GIVES_ALL, "__getattr__", "__getattribute__"}
    derived = subclasses_of(module, node)
    if derived is None or any(decides & methods_in(each).keys() for each in (*line, *derived)):
        return False
    if not compiles_as_keras_does(line):
        return False
    parts = list(descendants(method.body))
    return any(_is_result_of_all(each, method) for each in parts) and not any(
        _names_loss(each) for each in parts
    )


def _is_result_of_all(node: cst.CSTNode, method: cst.FunctionDef) -> bool:
    match node:
        case cst.DictComp(for_in=cst.CompFor(iter=metrics, ifs=[], inner_for_in=None)):
            return member_of_self(metrics, method) == _METRICS
        case cst.Call(func=called):
            return member_of_self(called, method) in _GIVES_ALL
    return False


def _names_loss(node: cst.CSTNode) -> bool:
    match node:
        case cst.SimpleString():
            return literal(node) == _LOSS
        case cst.Arg(keyword=cst.Name(value="loss")):
            return True
        case cst.Attribute(attr=cst.Name(value="_loss_tracker")):
            return True
    return False


def name_of_loss(
    module: Module, method: cst.FunctionDef, before: int
) -> tuple[str, list[Edit]] | None:
    """Return the name that has the one loss computed before a place, and edits that give it one."""
    losses = [
        each
        for each in descendants(method.body)
        if isinstance(each, cst.Call)
        and member_of_self(each.func, method) in GIVES_LOSS
        and module.span(each).start < before
    ]
    if len(losses) != 1:
        return None
    edits: list[Edit] = []
    match module.parent(losses[0]):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=loss) as stored)]):
            bound = module.scope_of(stored).owner(loss)
            if bound is None or len(bound.bindings[loss]) != 1:
                return None
        case cst.Expr():
            loss = free_name(module, losses[0], _LOSS)
            start = module.span(losses[0]).start
            edits.append(Edit(Span(start, start), (f"{loss} = ",)))
        case _:
            return None
    return loss, edits
