"""``ast.parse`` without warnings on stderr.

An invalid escape in the user's code is not our news; from Python 3.12 on, it is shown to everybody.
"""

from __future__ import annotations

import ast
import warnings
from typing import Literal, overload


@overload
def parse(source: str | bytes, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse(source: str | bytes, mode: Literal["eval"]) -> ast.Expression: ...
def parse(source: str | bytes, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """Return the syntax tree of a text.

    Raises:
        SyntaxError: it is no Python.
        ValueError: it holds a null byte.
        RecursionError: it is nested too deeply.
        MemoryError: as above.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode=mode)
