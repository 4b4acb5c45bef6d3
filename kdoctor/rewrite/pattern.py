"""The left side of a rewrite, parsed: a name and a signature."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct


class Code(Struct, frozen=True):
    """An expression of a template, with the text that its positions refer to."""

    node: ast.expr
    text: str

    def source(self) -> str:
        """Return the expression as it is written in the template."""
        return self.text[self.node.col_offset : self.node.end_col_offset]


class Pattern(Struct, frozen=True, dict=True):
    """A left side: the old name and signature (None: the name only).

    The defaults in ``signature`` are ``Code``.
    """

    name: str
    signature: inspect.Signature | None

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read ``keras.backend.sum(x, axis=None)`` or ``keras.models.Input``."""
        name, bracket, _ = text.partition("(")
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{text!r} does not start with a dotted name")
        if not bracket:
            return cls(name, None)
        header = f"def _{text.removeprefix(name)}: ..."
        function = ast.parse(header).body[0]
        if not isinstance(function, ast.FunctionDef):
            raise ValueError(f"{text!r} is not a signature")  # noqa: TRY004 - of the text, not a type
        return cls(name, inspect.Signature(list(_parameters(function.args, header))))

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The old parameters by name, in order."""
        return {} if self.signature is None else dict(self.signature.parameters)


def _parameters(arguments: ast.arguments, header: str) -> Iterator[inspect.Parameter]:
    def parameter(
        argument: ast.arg, kind: inspect._ParameterKind, default: ast.expr | None = None
    ) -> inspect.Parameter:
        value = inspect.Parameter.empty if default is None else Code(default, header)
        return inspect.Parameter(argument.arg, kind, default=value)

    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        only = index < len(arguments.posonlyargs)
        kind = (
            inspect.Parameter.POSITIONAL_ONLY if only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        default = arguments.defaults[index - required] if index >= required else None
        yield parameter(argument, kind, default)
    if arguments.vararg:
        yield parameter(arguments.vararg, inspect.Parameter.VAR_POSITIONAL)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield parameter(argument, inspect.Parameter.KEYWORD_ONLY, default)
    if arguments.kwarg:
        yield parameter(arguments.kwarg, inspect.Parameter.VAR_KEYWORD)
