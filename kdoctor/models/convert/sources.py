"""The functions of ``Lambda`` layers in the source that a model was made by: read, never run.

A file has the bytecode of such a function, or its name. Which function of the source it is, is told
by what both have: the names that it uses, its arguments and constants, its operators; where the
Python is the same, its compiled code. What is left is told by the name of the layer, by the line,
and by the order of the layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.errors import FileProblem
from kdoctor.models.bytecode import Bytecode, Code, read_bytecode
from kdoctor.models.convert.compiled import are_alike, is_compiled_from
from kdoctor.parse_ast import parse

_LAMBDA: Final = "Lambda"
_MAX_BYTES: Final = 5_000_000  # of one source
Function = ast.Lambda | ast.FunctionDef


class Source(Struct, frozen=True):
    """A module as text. ``functions`` are those of its own level, by their names."""

    path: Path
    text: str
    tree: ast.Module

    def functions(self) -> dict[str, Function]:
        """Return the functions that have a name, wherever they are; those with two left out."""
        found: dict[str, list[Function]] = {}
        for node in ast.walk(self.tree):
            match node:
                case ast.FunctionDef():
                    found.setdefault(node.name, []).append(node)
                case ast.Assign(targets=[ast.Name(name)], value=ast.Lambda() as value):
                    found.setdefault(name, []).append(value)
                case _:
                    pass
        return {name: each[0] for name, each in found.items() if len(each) == 1}

    def place(self, node: ast.AST) -> str:
        """Return where something is, for a message."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


class LambdaCall(Struct, frozen=True):
    """A ``Lambda(…)`` of a source, and the function that it is given.

    ``name`` is that of the layer, None where it has none; ``written`` the name by which it calls
    the function, "" of a lambda.
    """

    source: Source
    node: ast.Call
    function: Function
    name: str | None
    written: str

    @property
    def place(self) -> str:
        """Where it is."""
        return self.source.place(self.node)


class Asked(Struct, frozen=True):
    """A ``Lambda`` of a file: its name, and the bytecode or the name of its function.

    ``defaults`` are those of its last arguments, ``closure`` the values of its free variables.
    """

    place: str
    name: str
    code: Code | None
    pythons: tuple[str, ...]
    function: str
    defaults: tuple[Any, ...] = ()
    closure: dict[str, Any] = {}


class Unmatched(Exception):
    """Why the source does not tell which function it is."""


def read_sources(paths: Sequence[str]) -> tuple[Source, ...]:
    """Return the sources at these paths.

    Raises:
        FileProblem: one cannot be read, or is no Python.
    """
    return tuple(_read(Path(each)) for each in paths)


def _read(path: Path) -> Source:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileProblem(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > _MAX_BYTES:
        raise FileProblem(f"{path}: larger than {_MAX_BYTES // 10**6} MB: no source of a model")
    try:
        tree = parse(data)
        text = data.decode("utf-8")
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else f"{path}"
        raise FileProblem(f"{where}: it is no Python: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise FileProblem(f"{path}: it is no Python that can be read: {error}") from error
    return Source(path, text, tree)


def lambda_calls(sources: Sequence[Source]) -> list[LambdaCall]:
    """Return the ``Lambda`` layers of sources, in the order in which they are written."""
    found = []
    for source in sources:
        functions = source.functions()
        calls = [each for each in ast.walk(source.tree) if isinstance(each, ast.Call)]
        calls.sort(key=lambda each: (each.lineno, each.col_offset))
        found += [made for each in calls for made in _lambda_call(source, each, functions)]
    return found


def _lambda_call(
    source: Source, node: ast.Call, functions: Mapping[str, Function]
) -> Iterator[LambdaCall]:
    match node.func:
        case ast.Name(leaf) | ast.Attribute(attr=leaf) if leaf == _LAMBDA:
            pass
        case _:
            return
    given = {each.arg: each.value for each in node.keywords}
    value: ast.AST | None = node.args[0] if node.args else given.get("function")
    written = ""
    if isinstance(value, ast.Name):
        written, value = value.id, functions.get(value.id)
    if not isinstance(value, Function):
        return
    name = given.get("name")
    known = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    if name is not None and known is None:
        known = ""  # any: it is computed
    yield LambdaCall(source, node, value, known, written)


def asked_of(config: Mapping[str, Any], place: str) -> Asked:
    """Return what a configuration of a ``Lambda`` says of its function."""
    values: list[Any] = []
    match config.get("function"):
        case [str(text), *values]:
            encoded, name = text, ""
        case {"class_name": "__lambda__", "config": {"value": [str(text), *values]}}:
            encoded, name = text, ""
        case {"class_name": "__lambda__", "config": {"code": str(text), **others}}:
            encoded, name, values = text, "", [others.get("defaults"), others.get("closure")]
        case {"class_name": "function", "config": str(name)} | str(name):
            encoded = ""
        case _:
            encoded, name = "", ""
    found = read_bytecode(encoded) if encoded else Bytecode()
    defaults, closure = [*values, None, None][:2]
    free = found.code.free if found.code is not None else ()
    return Asked(
        place,
        str(config.get("name", "")),
        found.code,
        found.pythons,
        name,
        tuple(defaults) if isinstance(defaults, list) else (),
        dict(zip(free, closure, strict=False)) if isinstance(closure, list) else {},
    )


def matched(asked: Sequence[Asked], calls: Sequence[LambdaCall]) -> list[LambdaCall | Unmatched]:
    """Return of each ``Lambda`` of a file that of the source which made it, or why none is told."""
    found: list[LambdaCall | Unmatched] = []
    fitting = [[call for call in calls if _fits(each, call)] for each in asked]
    is_aligned = len(asked) == len(calls) and all(
        call in some for call, some in zip(calls, fitting, strict=True)
    )
    for number, (each, some) in enumerate(zip(asked, fitting, strict=True)):
        try:
            found.append(_one(each, some, calls[number] if is_aligned else None))
        except Unmatched as problem:
            found.append(problem)
    return found


def _one(asked: Asked, fitting: Sequence[LambdaCall], aligned: LambdaCall | None) -> LambdaCall:
    if not fitting:
        raise Unmatched("no `Lambda` of the source has such a function: is it another source?")
    some = list(fitting)
    exact = [each for each in some if _is_exact(asked, each)]
    some = exact or some
    named = [each for each in some if each.name and each.name == asked.name]
    some = named or some
    if _is_one(some):
        return some[0]
    at_line = [each for each in some if _is_at_line(asked, each)]
    if at_line and _is_one(at_line):
        return at_line[0]
    if aligned is not None and aligned in some:
        return aligned
    places = ", ".join(dict.fromkeys(each.place for each in some[:4]))
    raise Unmatched(f"it may be of any of {places}: give these layers a `name`")


def _is_one(some: Sequence[LambdaCall]) -> bool:
    """Say whether all of them have the same function, and the same of the names around it."""
    return len({(each.source.path, ast.dump(each.function)) for each in some}) == 1


def _fits(asked: Asked, call: LambdaCall) -> bool:
    if call.name and call.name != asked.name:
        return False
    if asked.code is None:
        return bool(asked.function) and asked.function in {call.written, _own_name(call.function)}
    if asked.code.name != _own_name(call.function) or not _are_defaults(asked, call.function):
        return False
    return are_alike(asked.code, asked.pythons, call.function)


def _are_defaults(asked: Asked, function: Function) -> bool:
    """Say whether the defaults of a function may be those that the file has."""
    written = function.args.defaults
    if len(written) != len(asked.defaults):
        return False
    for node, value in zip(written, asked.defaults, strict=True):
        try:
            known = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        if (list(known) if isinstance(known, tuple) else known) != value:
            return False
    return True


def _own_name(function: Function) -> str:
    return function.name if isinstance(function, ast.FunctionDef) else "<lambda>"


def _is_exact(asked: Asked, call: LambdaCall) -> bool:
    return asked.code is not None and is_compiled_from(asked.code, asked.pythons, call.function)


def _is_at_line(asked: Asked, call: LambdaCall) -> bool:
    code = asked.code
    if code is None or Path(code.file.replace("\\", "/")).name != call.source.path.name:
        return False
    return code.line == call.function.lineno
