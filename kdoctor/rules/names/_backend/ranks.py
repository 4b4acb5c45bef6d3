"""How many axes a tensor has, where the code that made it writes them out."""

from __future__ import annotations

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.rules.names._backend.reading import argument_of
from kdoctor.syntax import Module

# What gives a tensor as many axes as a tuple has elements, and how that argument is called.
_WRITTEN = {
    "reshape": "shape",
    "permute_dimensions": "pattern",
    "transpose": "axes",
    "zeros": "shape",
    "ones": "shape",
    "placeholder": "shape",
}
_FIRST = frozenset({"zeros", "ones", "placeholder"})


def written_rank(module: Module, node: cst.BaseExpression) -> int | None:
    """Return the number of axes, None where the code does not tell, or not of one."""
    if isinstance(node, cst.Name):
        bound = module.bindings_at(node)
        values = [None if each.path else each.value for each in bound]
        ranks = {None if each is None else _of_call(module, each) for each in values}
        return ranks.pop() if len(ranks) == 1 else None
    return _of_call(module, node)


def _of_call(module: Module, node: cst.BaseExpression) -> int | None:
    if not isinstance(node, cst.Call):
        return None
    split = split_root(module.qualified(node.func) or "")
    parent, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
    if parent not in {"backend", "ops"} or leaf not in _WRITTEN:
        return None
    written = argument_of(node, 0 if leaf in _FIRST else 1, _WRITTEN[leaf])
    if not isinstance(written, cst.Tuple | cst.List):
        return None
    starred = any(isinstance(each, cst.StarredElement) for each in written.elements)
    return None if starred else len(written.elements)
