"""Whether bytecode may be what a function in a source was compiled to: nothing is run.

Python compiles the source, and what it makes is compared. Pythons differ in their instructions;
names, arguments, constants and operators are the same.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections import Counter
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from kdoctor.models.bytecode import Code

_THIS: Final = f"{sys.version_info[0]}.{sys.version_info[1]}"
# The instruction of each operator, up to 3.10; from 3.11 it is one, with a number (`opcode.py`).
_OLD: Final = {
    19: "Pow", 20: "Mult", 22: "Mod", 23: "Add", 24: "Sub", 26: "FloorDiv", 27: "Div",
    16: "MatMult", 62: "LShift", 63: "RShift", 64: "BitAnd", 65: "BitXor", 66: "BitOr",
    67: "Pow", 57: "Mult", 59: "Mod", 55: "Add", 56: "Sub", 28: "FloorDiv", 29: "Div",
    17: "MatMult", 75: "LShift", 76: "RShift", 77: "BitAnd", 78: "BitXor", 79: "BitOr",
}  # fmt: skip
_NUMBERS: Final = (
    "Add", "BitAnd", "FloorDiv", "LShift", "MatMult", "Mult", "Mod", "BitOr", "Pow", "RShift",
    "Sub", "Div", "BitXor",
)  # fmt: skip
_BINARY: Final = {"3.11": 122, "3.12": 122, "3.13": 45}
_EXTENDED: Final = frozenset({144, 71})


def are_alike(code: Code, pythons: tuple[str, ...], function: ast.Lambda | ast.FunctionDef) -> bool:
    """Say whether bytecode of any Python may be of a function."""
    made = compiled(function)
    if made is None or code.arguments != _arguments(made):
        return False
    if _names(code) != _names(made):
        return False
    found = set(_constants(code.constants))
    if not set(_constants(made.co_consts)) <= found <= _all_constants(made, function):
        return False
    told = _operators(code, pythons)
    return told is None or told == _operators_of(function)


def is_compiled_from(
    code: Code, pythons: tuple[str, ...], function: ast.Lambda | ast.FunctionDef
) -> bool:
    """Say whether this Python compiles a function to the very bytecode."""
    made = compiled(function)
    if made is None or _THIS not in pythons:
        return False
    return (
        code.code == made.co_code
        and tuple(code.names) == made.co_names
        and list(_constants(code.constants)) == list(_constants(made.co_consts))
    )


def compiled(function: ast.Lambda | ast.FunctionDef) -> CodeType | None:
    """Return the code object of a function; None where it cannot be compiled alone."""
    if isinstance(function, ast.FunctionDef):
        bare = copy.copy(function)
        bare.decorator_list, bare.returns = [], None
        tree = ast.Module([bare], type_ignores=[])
    else:
        tree = ast.Module([ast.copy_location(ast.Expr(function), function)], type_ignores=[])
    try:
        made = compile(ast.fix_missing_locations(tree), "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    inside = [each for each in made.co_consts if isinstance(each, CodeType)]
    return next((each for each in inside if each.co_name == _name(function)), None)


def _name(function: ast.Lambda | ast.FunctionDef) -> str:
    return function.name if isinstance(function, ast.FunctionDef) else "<lambda>"


def _arguments(made: CodeType) -> tuple[str, ...]:
    return made.co_varnames[: made.co_argcount]


def _names(code: Code | CodeType) -> set[str]:
    """Return the names that a function uses and does not bind, and those inside of it."""
    is_read = isinstance(code, Code)
    names = code.names if isinstance(code, Code) else code.co_names
    inside = code.constants if isinstance(code, Code) else code.co_consts
    free = code.free if isinstance(code, Code) else code.co_freevars
    kind = Code if is_read else CodeType
    return {*names, *free}.union(*(_names(each) for each in inside if isinstance(each, kind)))


def _constants(values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts among constants, those in tuples too."""
    for each in values:
        if isinstance(each, tuple) and not isinstance(each, Code):
            yield from _constants(each)
        elif isinstance(each, int | float | str) and "<locals>" not in str(each):
            yield type(each).__name__, each


def _all_constants(made: CodeType, function: ast.AST) -> set[tuple[str, Any]]:
    found = set(_constants(made.co_consts))
    for each in ast.walk(function):
        if isinstance(each, ast.Constant):
            found |= set(_constants([each.value]))
        if isinstance(each, ast.UnaryOp) and isinstance(each.operand, ast.Constant):
            value = each.operand.value
            if isinstance(value, int | float) and isinstance(each.op, ast.USub):
                found |= set(_constants([-value]))
        if isinstance(each, ast.keyword) and each.arg is not None:
            found.add(("str", each.arg))  # names of keywords are constants
    for inner in made.co_consts:
        if isinstance(inner, CodeType):
            found.add(("str", inner.co_qualname.rpartition(".")[2]))
    return found


def _operators(code: Code, pythons: tuple[str, ...]) -> Counter[str] | None:
    """Return the binary operators of bytecode; None of a Python that is not known."""
    binary = {_BINARY[each] for each in pythons if each in _BINARY}
    if not pythons or (len(binary) != 1 and any(each in _BINARY for each in pythons)):
        return None
    if not binary and any(each.startswith("3.1") and each != "3.10" for each in pythons):
        return None
    found: Counter[str] = Counter()
    pieces = [code]
    while pieces:
        piece = pieces.pop()
        pieces += [each for each in piece.constants if isinstance(each, Code)]
        for operation, number in zip(piece.code[::2], piece.code[1::2], strict=False):
            if not binary and operation in _OLD:
                found[_OLD[operation]] += 1
            elif operation in binary:  # those in place have the same numbers, once more
                found[_NUMBERS[number % len(_NUMBERS)]] += 1
    return found


def _operators_of(function: ast.AST) -> Counter[str]:
    return Counter(
        type(each.op).__name__
        for each in ast.walk(function)
        if isinstance(each, ast.BinOp | ast.AugAssign) and not _is_folded(each)
    )


def _is_folded(node: ast.AST) -> bool:
    """Say whether Python computes a value as it compiles."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp():
            return _is_folded(node.operand)
        case ast.BinOp():
            return _is_folded(node.left) and _is_folded(node.right)
        case _:
            return False
