"""Whether a key of the logs is read with the other name at hand: then neither being there hurts."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.libcst_walk import descendants

_CATCHES = frozenset({"BaseException", "Exception", "KeyError", "LookupError"})


def has_a_fallback(module: Module, key: cst.SimpleString, names: Collection[str]) -> bool:
    """Say whether code asks for any of ``names`` before it reads one, or goes on without it.

    ``h["acc"] if "acc" in h else …``, ``h.get("acc", h.get("accuracy"))``, ``h.get("acc") or …``,
    ``try: h["acc"]`` with ``except KeyError``.
    """
    function = _function(module, key)
    if any(
        _is_asked_for(each, names) and _function(module, each) is function
        for each in module.nodes(cst.Comparison)
    ):
        return True
    below: cst.CSTNode = key
    for above in module.ancestors(key):
        match above:
            case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
                return False
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="get"))) | cst.BooleanOperation():
                if _speaks_of_another(above, key, names):
                    return True
            case cst.Try() if isinstance(below, cst.IndentedBlock | cst.ExceptHandler):
                if any(_goes_on(each) for each in above.handlers):
                    return True
        below = above
    return False


def _function(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((e for e in module.ancestors(node) if isinstance(e, cst.FunctionDef)), None)


def _is_asked_for(node: cst.Comparison, names: Collection[str]) -> bool:
    return (
        isinstance(node.left, cst.SimpleString)
        and node.left.raw_value in names
        and isinstance(node.comparisons[0].operator, cst.In | cst.NotIn)
    )


def _speaks_of_another(
    node: cst.BaseExpression, key: cst.SimpleString, names: Collection[str]
) -> bool:
    return any(
        isinstance(each, cst.SimpleString)
        and each.raw_value in names
        and each.raw_value != key.raw_value
        for each in descendants(node)
    )


def _goes_on(handler: cst.ExceptHandler) -> bool:
    """Say whether a handler takes what a dict raises for a key that it lacks."""
    if isinstance(last_statement(handler.body), cst.Raise):
        return False
    if handler.type is None:
        return True
    return any(
        isinstance(each, cst.Name) and each.value in _CATCHES
        for each in (handler.type, *descendants(handler.type))
    )
