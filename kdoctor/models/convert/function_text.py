"""Functions of a source as a piece of another module, with what they need of their own."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kdoctor.models.convert.module_names import ModuleNames
from kdoctor.models.convert.sources import Asked, LambdaCall, Source

# What the module imports itself, and what it calls its own.
_RESERVED: Final = frozenset({"keras", "layers", "ops", "model", "create_model"})
_OF_KERAS: Final = ("keras", "layers", "ops")


class NotWritten(Exception):
    """What a function needs that cannot be written into another module."""


class TextOfFunctions:
    """Functions that are written into one module, registered as a package's."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._imports: dict[str, str] = {}
        self._pieces: dict[str, str] = {}  # by the name that each binds
        self._names: dict[tuple[str, int, int, str], str] = {}

    def text(self) -> str:
        """Return the functions, with what they need before them; "" for none."""
        return "\n\n\n".join(self._pieces.values())

    def names(self) -> frozenset[str]:
        """Return the names that they bind, and those of the imports."""
        return frozenset({*self._pieces, *self._imports})

    def imports(self) -> list[str]:
        """Return the lines of the imports."""
        return list(self._imports.values())

    def add(self, call: LambdaCall, names: ModuleNames, asked: Asked) -> str:
        """Write the function of a layer; return its name.

        Raises:
            NotWritten: it needs something that is not there.
        """
        function = call.function
        key = (str(call.source.path), function.lineno, function.col_offset, repr(asked.closure))
        if key in self._names:
            return self._names[key]
        self._need(function, call.source, names, set(asked.closure))
        own = function.name if isinstance(function, ast.FunctionDef) else call.written
        name = self._unique(_identifier(own or asked.name))
        self._pieces[name] = self._decorated(function, name, asked.closure)
        self._names[key] = name
        return name

    def _decorated(
        self, function: ast.Lambda | ast.FunctionDef, name: str, closure: Mapping[str, Any]
    ) -> str:
        arguments = ast.unparse(function.args)
        if closure and (function.args.vararg or function.args.kwarg or function.args.kwonlyargs):
            raise NotWritten("takes any arguments, and variables of the function around it")
        arguments += "".join(f", {key}={value!r}" for key, value in closure.items())
        if isinstance(function, ast.Lambda):
            body = f"    return {ast.unparse(function.body)}"
        else:
            body = "\n".join(
                f"    {line}" for each in function.body for line in ast.unparse(each).splitlines()
            )
        head = f'@keras.saving.register_keras_serializable("{self._package}")'
        return f"{head}\ndef {name}({arguments}):\n{body}"

    def _need(self, node: ast.AST, source: Source, names: ModuleNames, waiting: set[str]) -> None:
        """Write what a function needs of its module, before it.

        Raises:
            NotWritten: something of it is not there.
        """
        for name in dict.fromkeys(_free(node)):
            if hasattr(builtins, name) or name in waiting:
                continue
            if name in names.imports:
                self._import(name, names)
                continue
            found = names.assigned.get(name) or names.defined.get(name)
            if found is None or not names.is_one(name):
                raise NotWritten(f"needs `{name}`, which is no name of the module {source.path}")
            text = ast.unparse(found)
            if name in _RESERVED or self._pieces.get(name, text) != text:
                raise NotWritten(
                    f"needs `{name}`, a name that the new module has for another thing"
                )
            if name not in self._pieces:
                self._need(found, source, names, {*waiting, name})
                self._pieces[name] = text

    def _import(self, name: str, names: ModuleNames) -> None:
        dotted = names.imports[name][1]
        if name in _OF_KERAS:
            if dotted.rpartition(".")[2] != name:
                raise NotWritten(
                    f"needs `{name}` of `{dotted}`, and the new module has another one"
                )
            return
        line = f"import {dotted}" + ("" if dotted == name else f" as {name}")
        package, _, leaf = dotted.rpartition(".")
        if isinstance(names.imports[name][0], ast.ImportFrom):
            line = f"from {package} import {leaf}" + ("" if leaf == name else f" as {name}")
        if self._imports.setdefault(name, line) != line:
            raise NotWritten(f"needs `{name}`, which two sources import from elsewhere")

    def _unique(self, name: str) -> str:
        made, number = name, 1
        while made in self._pieces or made in self._imports or made in _RESERVED:
            number += 1
            made = f"{name}_{number}"
        return made


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name, flags=re.ASCII) or "function"
    made = f"function_{made}" if made[0].isdigit() or keyword.iskeyword(made) else made
    return f"{made}_" if hasattr(builtins, made) else made


def _free(node: ast.AST) -> Iterator[str]:
    """Yield the names that a piece of code reads and does not bind itself."""
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        bound.add(node.name)
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            bound.add(each.name)
        if isinstance(each, ast.Import | ast.ImportFrom):
            bound |= {one.asname or one.name.partition(".")[0] for one in each.names}
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in bound:
            yield each.id
