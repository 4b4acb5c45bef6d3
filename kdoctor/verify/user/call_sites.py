"""How a module uses definitions: the roles they are passed in and the arguments of calls."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kdoctor.verify.user.partial_calls import Known, calls_in, literal, partial_call
from kdoctor.verify.user.side_effects import TRAINING, side_effect_in
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
_MAX_CALLS = 6


@dataclass
class CallSites:
    """The uses of one name."""

    roles: set[str] = field(default_factory=set)
    # Positional and keyword arguments as Python source; all are literals.
    calls: list[dict[str, Any]] = field(default_factory=list)
    # Calls with some unknown arguments, or with arguments that are defaults of the caller.
    parts: list[dict[str, Any]] = field(default_factory=list)
    # Shapes and dtypes of the Input() tensors that instances are called with.
    inputs: list[list[tuple[Any, str]]] = field(default_factory=list)

    def add(self, other: CallSites) -> None:
        """Add the uses in another file."""
        self.roles |= other.roles
        self.add_calls(other.calls)
        self.add_parts(other.parts)
        self.inputs += [each for each in other.inputs if each not in self.inputs]
        del self.inputs[_MAX_CALLS:]

    def add_calls(self, calls: list[dict[str, Any]]) -> None:
        """Add calls, up to the limit."""
        for call in calls:
            if call not in self.calls and len(self.calls) < _MAX_CALLS:
                self.calls.append(call)

    def add_parts(self, calls: list[dict[str, Any]]) -> None:
        """Add partly known calls, up to the limit."""
        for call in calls:
            if call not in self.parts and len(self.parts) < _MAX_CALLS:
                self.parts.append(call)


def uses_of(statements: list[Statement]) -> dict[str, CallSites]:
    """Return the uses of each name in a module."""
    constants = dict(_constants(statements))
    found: defaultdict[str, CallSites] = defaultdict(CallSites)
    for statement in statements:
        for node, known in calls_in(statement.node, Known(constants)):
            for name, role in _roles_in(node):
                found[name].roles.add(role)
            name = _called_name(node.func)
            call = _literal_call(node, known.surely) if name else None
            if call is not None:
                found[name].add_calls([call])
            part = partial_call(node, known) if name and (call is None or call["open"]) else None
            if part is not None:
                found[name].add_parts([part])
        for name, inputs in _inputs_in(statement.node, constants):
            if inputs not in found[name].inputs:
                found[name].inputs.append(inputs)
    return found


def _called_name(node: ast.expr) -> str:
    """Return the name of the definition that is called; "" for methods."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in {"self", "cls"}:
            return name
    return ""


def _inputs_in(
    node: ast.stmt, constants: Mapping[str, str]
) -> Iterator[tuple[str, list[tuple[Any, str]]]]:
    """Yield the Input() tensors that instances are called with: ``Name(...)([Input(...), x])``."""
    made: dict[str, tuple[Any, str]] = {}
    for each in ast.walk(node):
        match each:
            case ast.Assign(targets=[ast.Name(id=local)], value=ast.Call() as call):
                shape = _input_of(call, constants)
                if shape is not None:
                    made[local] = shape
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Call(func=called), args=[first, *_]):
                parts = first.elts if isinstance(first, ast.List | ast.Tuple) else [first]
                known = [
                    made[part.id]
                    for part in parts
                    if isinstance(part, ast.Name) and part.id in made
                ]
                name = _called_name(called)
                if name and known and len(known) == len(parts):
                    yield name, known


def _input_of(call: ast.Call, constants: Mapping[str, str]) -> tuple[Any, str] | None:
    """Return the shape and dtype of an ``Input(...)`` call with literal arguments."""
    if not (isinstance(call.func, ast.Name | ast.Attribute) and _last(call.func) == "Input"):
        return None
    given = {each.arg: each.value for each in call.keywords}
    shape = call.args[0] if call.args else given.get("shape")
    if shape is None:
        return None
    text = literal(shape, constants)
    dtype = given.get("dtype")
    kind = dtype.value if isinstance(dtype, ast.Constant) and isinstance(dtype.value, str) else ""
    if text is None:
        return None
    value = ast.literal_eval(text)
    return (value, kind) if isinstance(value, tuple | list) else None


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def shape_of(statement: Statement) -> dict[str, Any]:
    """Return what the worker needs to know from a definition's source."""
    node = statement.node
    if isinstance(node, ast.ClassDef):
        methods_with_effects = [
            each.name for each in methods_in(node) if side_effect_in(each, TRAINING)
        ]
        return {"form": "class", "methods_with_effects": methods_with_effects}
    function = node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        return {"form": "function", "may_be_called": True, "returns": True}
    assert isinstance(function, DEFINITIONS)
    returns = any(
        isinstance(each, ast.Yield | ast.YieldFrom)
        or (isinstance(each, ast.Return) and each.value is not None)
        for each in ast.walk(function)
    )
    effect, beyond = side_effect_in(function), side_effect_in(function, TRAINING)
    return {
        "form": "function",
        "returns": returns,
        "effect": list(effect) if effect else None,
        "effect_beyond_models": list(beyond) if beyond else None,
    }


def methods_in(node: ast.stmt) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the methods of a class; nothing for other statements."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return [each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]


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


def _literal_call(node: ast.Call, constants: Mapping[str, str]) -> dict[str, Any] | None:
    args = [literal(each, constants) for each in node.args]
    is_open = bool(args) and args[0] is None  # a tensor that the function is applied to
    if is_open:
        args[0] = "None"
    kwargs = {each.arg: literal(each.value, constants) for each in node.keywords}
    if None in args or None in kwargs or None in kwargs.values():
        return None
    return {"args": args, "kwargs": kwargs, "open": is_open}
