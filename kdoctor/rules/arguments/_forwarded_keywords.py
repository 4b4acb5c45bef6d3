"""Keywords that a layer of the user's own hands on to the Keras class which it is made from."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated


def base_that_gets(module: Module, cls: cst.BaseExpression, keyword: str) -> str | None:
    """Return the imported class that gets ``keyword`` where an own class is made with it.

    None where ``cls`` is no class of this file or the tree, or may keep the keyword to itself.
    """
    seen: set[cst.ClassDef] = set()
    while (node := class_named(module, cls)) is not None:
        base = only_base(module, node)
        if node in seen or base is None or node.keywords or not _hands_on(node, keyword):
            return None
        seen.add(node)
        cls = base
    info = module.project_class(cls)
    if info is not None:
        return info.base if info.passes_through(keyword) else None
    return module.qualified(cls) if seen else None


def _hands_on(node: cst.ClassDef, keyword: str) -> bool:
    made = [
        each
        for each in descendants(node.body)
        if isinstance(each, cst.FunctionDef) and each.name.value in {"__init__", "__new__"}
    ]
    if len(made) != 1:
        return not made
    (method,) = made
    if method.name.value == "__init__" and _gives(method, keyword):
        return True
    rest = method.params.star_kwarg
    if rest is None or method.name.value != "__init__" or _may_take(method, keyword):
        return False
    return any(
        isinstance(each, cst.Call)
        and isinstance(each.func, cst.Attribute)
        and each.func.attr.value == "__init__"
        and any(given.star == "**" and given.value.deep_equals(rest.name) for given in each.args)
        for each in descendants(method.body)
    )


def _gives(method: cst.FunctionDef, keyword: str) -> bool:
    """Say whether ``__init__`` passes what it takes on under the same name, as it is."""
    nodes = list(descendants(method))
    is_stored = any(
        isinstance(each, cst.AssignTarget | cst.AnnAssign | cst.AugAssign)
        and isinstance(each.target, cst.Name)
        and each.target.value == keyword
        for each in nodes
    )
    return not is_stored and any(
        isinstance(each, cst.Call)
        and isinstance(each.func, cst.Attribute)
        and each.func.attr.value == "__init__"
        and any(
            given.keyword is not None
            and given.keyword.value == keyword
            and isinstance(given.value, cst.Name)
            and given.value.value == keyword
            for given in each.args
        )
        for each in nodes
    )


def _may_take(method: cst.FunctionDef, keyword: str) -> bool:
    """Say whether ``__init__`` has a parameter of that name, or names it in a string."""
    return any(
        (isinstance(each, cst.Param) and each.name.value == keyword)
        or (isinstance(each, cst.SimpleString) and evaluated(each) == keyword)
        for each in descendants(method)
    )
