"""What the text itself says of its definitions: what they are passed as, and with what called."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kdoctor.verify.user.quiet import loud_name_in
from kdoctor.verify.user.statements import DEFINITIONS, Statement

_ROLES = {
    "loss": "loss",
    "losses": "loss",
    "loss_fn": "loss",
    "metrics": "metric",
    "weighted_metrics": "metric",
    "activation": "activation",
    "recurrent_activation": "activation",
}
_LAYERS_OF_FUNCTIONS = {"Activation": "activation", "Lambda": "activation"}
_KEPT_CALLS = 6


@dataclass
class Uses:
    """What is known of one name."""

    roles: set[str] = field(default_factory=set)
    # Positional and keyword arguments as Python source, all of them literals.
    calls: list[dict[str, Any]] = field(default_factory=list)


def uses_of(statements: list[Statement]) -> dict[str, Uses]:
    """Return what a module says of each name that is used in it."""
    constants = dict(_constants(statements))
    found: defaultdict[str, Uses] = defaultdict(Uses)
    for statement in statements:
        for node in ast.walk(statement.node):
            if not isinstance(node, ast.Call):
                continue
            for name, role in _roles_in(node):
                found[name].roles.add(role)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            call = _literal_call(node, constants) if name else None
            uses = found[name]
            if call is not None and call not in uses.calls and len(uses.calls) < _KEPT_CALLS:
                uses.calls.append(call)
    return found


def shape_of(statement: Statement) -> dict[str, Any]:
    """Return what a definition's own text says, for the worker: its form and parameters."""
    node = statement.node
    if isinstance(node, ast.ClassDef):
        return {"form": "class"}
    function = node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        return {"form": "function", "may_be_called": True, "returns": True}
    assert isinstance(function, DEFINITIONS)
    returns = any(isinstance(each, ast.Return) and each.value for each in ast.walk(function))
    loud = loud_name_in(function)
    return {"form": "function", "returns": returns, "loud": list(loud) if loud else None}


def _constants(statements: list[Statement]) -> Iterator[tuple[str, str]]:
    for each in statements:
        match each.node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    ast.literal_eval(value)
                except (ValueError, TypeError, SyntaxError):
                    continue
                yield name, ast.unparse(value)


def _roles_in(call: ast.Call) -> Iterator[tuple[str, str]]:
    for keyword in call.keywords:
        role = _ROLES.get(keyword.arg or "")
        if role:
            for name in _names(keyword.value):
                yield name, role
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if called == "compile" and len(call.args) > 1:
        for name in _names(call.args[1]):
            yield name, "loss"
    called = called or (call.func.id if isinstance(call.func, ast.Name) else "")
    if called in _LAYERS_OF_FUNCTIONS and call.args:
        for name in _names(call.args[0]):
            yield name, _LAYERS_OF_FUNCTIONS[called]


def _names(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            yield name
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Dict(values=elements):
            for each in elements:
                yield from _names(each)


def _literal_call(node: ast.Call, constants: dict[str, str]) -> dict[str, Any] | None:
    args = [_literal(each, constants) for each in node.args]
    kwargs = {each.arg: _literal(each.value, constants) for each in node.keywords}
    if None in args or None in kwargs or None in kwargs.values():
        return None
    return {"args": args, "kwargs": kwargs}


def _literal(node: ast.expr, constants: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.Tuple | ast.List):
        parts = [_literal(each, constants) for each in node.elts]
        if None in parts:
            return None
        inner = ", ".join(filter(None, parts))
        return f"({inner},)" if isinstance(node, ast.Tuple) and parts else f"[{inner}]"
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return ast.unparse(node)
