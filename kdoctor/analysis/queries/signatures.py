"""Signatures of functions in the file, as one value for both trees."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

_POSITIONAL_ONLY: Final = inspect.Parameter.POSITIONAL_ONLY
_POSITIONAL: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORD: Final = inspect.Parameter.KEYWORD_ONLY


class FormalParameter(Struct, frozen=True):
    """A parameter, with its kind as ``inspect`` has it."""

    name: str
    kind: int
    has_default: bool = False


class FormalSignature(Struct, frozen=True):
    """The parameters of a function or a lambda in order; ``*args`` and ``**kwargs`` apart."""

    parameters: tuple[FormalParameter, ...]
    var_positional: str = ""
    var_keyword: str = ""
    is_decorated: bool = False

    @property
    def by_position(self) -> list[FormalParameter]:
        """The parameters that can be passed by position, ``self`` among them."""
        return [each for each in self.parameters if each.kind != _KEYWORD]

    @property
    def has_positional_only(self) -> bool:
        """Whether some parameters have no name for callers."""
        return any(each.kind == _POSITIONAL_ONLY for each in self.parameters)

    def parameter(self, name: str) -> FormalParameter | None:
        """Return the parameter of this name."""
        return next((each for each in self.parameters if each.name == name), None)


def signature_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | cst.FunctionDef | cst.Lambda,
) -> FormalSignature:
    """Return the signature of a function of either tree."""
    if isinstance(node, ast.AST):
        given = node.args
        return FormalSignature(
            tuple(_of_ast(given)),
            given.vararg.arg if given.vararg else "",
            given.kwarg.arg if given.kwarg else "",
            bool(getattr(node, "decorator_list", ())),
        )
    params = node.params
    star = params.star_arg
    return FormalSignature(
        tuple(
            FormalParameter(each.name.value, kind, each.default is not None)
            for kind, group in (
                (_POSITIONAL_ONLY, params.posonly_params),
                (_POSITIONAL, params.params),
                (_KEYWORD, params.kwonly_params),
            )
            for each in group
        ),
        star.name.value if isinstance(star, cst.Param) else "",
        params.star_kwarg.name.value if params.star_kwarg else "",
        isinstance(node, cst.FunctionDef) and bool(node.decorators),
    )


def _of_ast(given: ast.arguments) -> Iterator[FormalParameter]:
    positional = [*given.posonlyargs, *given.args]
    first_default = len(positional) - len(given.defaults)
    for index, each in enumerate(positional):
        kind = _POSITIONAL_ONLY if index < len(given.posonlyargs) else _POSITIONAL
        yield FormalParameter(each.arg, kind, index >= first_default)
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield FormalParameter(each.arg, _KEYWORD, default is not None)
