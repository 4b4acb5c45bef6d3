"""The class or function of a file that a name stands for, where that is sure."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax import Module


def class_named(module: Module, expression: cst.BaseExpression) -> cst.ClassDef | None:
    """Return the one class of this module that a name refers to."""
    node = only_definition(module, expression)
    return node if isinstance(node, cst.ClassDef) else None


def function_named(module: Module, expression: cst.BaseExpression) -> cst.FunctionDef | None:
    """Return the one function of this module that a name refers to."""
    node = only_definition(module, expression)
    return node if isinstance(node, cst.FunctionDef) else None


def only_definition(module: Module, expression: cst.BaseExpression) -> cst.CSTNode | None:
    """Return what binds a name in its scope, None where several do."""
    if not isinstance(expression, cst.Name):
        return None
    owner = module.scope_of(expression).owner(expression.value)
    bindings = owner.bindings.get(expression.value, ()) if owner else ()
    return bindings[0].node if len(bindings) == 1 else None
