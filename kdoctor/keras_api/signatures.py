"""Parameters of a callable, as its release defines them."""

from __future__ import annotations

import ast
import inspect
from functools import lru_cache

from msgspec import Struct


class Parameter(Struct, frozen=True):
    """One parameter; ``default`` is source text, None where the parameter is required."""

    name: str
    kind: inspect._ParameterKind
    default: str | None = None


class Signature(Struct, frozen=True):
    """The parameters of a call, without ``self``. ``text`` is how a person would write them."""

    text: str
    parameters: tuple[Parameter, ...]

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name."""
        return next((found for found in self.parameters if found.name == name), None)

    @property
    def takes_any_keyword(self) -> bool:
        """Whether there is a ``**kwargs``: then existence of a keyword cannot be told from here."""
        return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in self.parameters)


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> Signature:
    """Read ``x, axis=-1, **kwargs``."""
    source = f"lambda {text}: 0"
    function = ast.parse(source, mode="eval").body
    assert isinstance(function, ast.Lambda)
    arguments = function.args
    encoded = source.encode()

    def written(node: ast.expr) -> str:
        return encoded[node.col_offset : node.end_col_offset].decode()

    positional = [
        *((item.arg, inspect.Parameter.POSITIONAL_ONLY) for item in arguments.posonlyargs),
        *((item.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD) for item in arguments.args),
    ]
    required = len(positional) - len(arguments.defaults)
    defaults = [None] * required + [written(item) for item in arguments.defaults]
    parameters = [
        Parameter(name, kind, default)
        for (name, kind), default in zip(positional, defaults, strict=True)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    parameters += [
        Parameter(
            item.arg,
            inspect.Parameter.KEYWORD_ONLY,
            None if default is None else written(default),
        )
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return Signature(text, tuple(parameters))
