"""Known arguments of a call: literals, constants and defaults of the caller."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Known:
    """Values of names as Python source: certain ones, and defaults that a caller may override."""

    surely: Mapping[str, str]
    by_default: Mapping[str, str] = field(default_factory=dict)

    def inside(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Known:
        """Return what is known inside a function; a name that is bound twice is unknown."""
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(named[::-1], arguments.defaults[::-1], strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        parameters = {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}
        bound = Counter(
            each.id
            for each in ast.walk(function)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )
        hidden = parameters | bound.keys()
        values = {name: text for name, text in self.surely.items() if name not in hidden}
        for each in ast.walk(function):
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1:
                    text = None if name in parameters else literal(value, values)
                    if text is not None:
                        values[name] = text
        defaults = {
            parameter.arg: text
            for parameter, value in pairs
            if value is not None
            and parameter.arg not in bound
            and (text := literal(value, self.surely)) is not None
        }
        return Known(values, defaults)


def calls_in(node: ast.AST, known: Known) -> Iterator[tuple[ast.Call, Known]]:
    """Yield the calls in a statement, each with the values known at that point."""
    if isinstance(node, ast.Call):
        yield node, known
    inside = known.inside(node) if isinstance(node, _FUNCTIONS) else known
    for child in ast.iter_child_nodes(node):
        yield from calls_in(child, inside)


def partial_call(node: ast.Call, known: Known) -> dict[str, Any] | None:
    """Return the arguments of a call, with None for unknown ones.

    A literal dict passed by ``**`` is expanded; an unknown one is left out.
    """
    names = {**known.by_default, **known.surely}
    if any(isinstance(each, ast.Starred) for each in node.args):
        return None
    args = [literal(each, names) for each in node.args]
    kwargs: dict[str, str | None] = {}
    for each in node.keywords:
        text = literal(each.value, names)
        if each.arg is not None:
            kwargs[each.arg] = text
        elif text is not None and isinstance(handed := ast.literal_eval(text), dict):
            kwargs |= {str(key): repr(value) for key, value in handed.items()}
    if all(each is None for each in (*args, *kwargs.values())):
        return None
    return {"args": args, "kwargs": kwargs, "open": True, "partial": True}


def literal(node: ast.expr, constants: Mapping[str, str]) -> str | None:
    """Return a value as Python source, where it is a literal or one of the constants."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.Tuple | ast.List):
        parts = [literal(each, constants) for each in node.elts]
        if None in parts:
            return None
        inner = ", ".join(filter(None, parts))
        return f"({inner},)" if isinstance(node, ast.Tuple) and parts else f"[{inner}]"
    if isinstance(node, ast.Dict):
        pairs = [
            (key and literal(key, constants), literal(value, constants))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        if not all(key and value for key, value in pairs):
            return None
        return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return ast.unparse(node)
