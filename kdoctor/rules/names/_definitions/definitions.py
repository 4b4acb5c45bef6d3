"""The definitions that fixes write into files, read as text: they import Keras.

They are those of ``kdoctor.reference.keras_2``, ``kdoctor.reference.addons`` and
``kdoctor.reference.contrib``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.rewrite.pattern import Pattern
from kdoctor.syntax.ast_walk import ast_dotted_name

_REFERENCE: Final = Path(__file__).parents[3] / "reference"
_PACKAGE: Final = "kdoctor.reference."
# By what their codes begin with: some names are those of two packages.
_ROOMS: Final = {"keras_2": "", "addons": "", "contrib": "contrib."}
_FULL: Final = {"np": "numpy", "tf": "tensorflow"}
_BUILTINS: Final = frozenset(dir(builtins))


class Definition(Struct, frozen=True, dict=True):
    """A function, a class, or a tuple of classes of the reference.

    ``code`` is what it is known by: ``name``, behind the room where others have the same.
    ``read`` are the dotted names of other packages in it, by where they stand in the lines of
    ``text``; ``needs`` the other definitions that it uses, of its module or of one beside it.
    """

    code: str
    name: str
    text: str
    read: Mapping[tuple[int, int], str]
    own: Mapping[tuple[int, int], str]
    needs: tuple[str, ...]
    builtins: frozenset[str]
    imports: tuple[str, ...]
    parameters: str

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.text.split('"""')[1].split("\n")[0]

    @property
    def pattern(self) -> Pattern:
        """The signature that calls are bound to."""
        return Pattern.parse(f"{self.name}({self.parameters})")

    def written(self, rename: Mapping[str, str], spell: Callable[[str], str]) -> str:
        """Return the text with each name as a file has it."""
        lines = self.text.split("\n")
        found = {place: (name, spell(_full(name))) for place, name in self.read.items()}
        found |= {place: (name, rename[name]) for place, name in self.own.items()}
        for (line, column), (old, new) in sorted(found.items(), reverse=True):
            row = lines[line]
            lines[line] = f"{row[:column]}{new}{row[column + len(old) :]}"
        return "\n".join(lines)


def definition(code: str) -> Definition:
    """Return a definition by its code."""
    return _definitions()[code]


def with_needs(code: str) -> tuple[Definition, ...]:
    """Return a definition behind all that it uses, each once; some use one another."""
    return tuple(_with_needs(code, set()))


def _with_needs(code: str, met: set[str]) -> Iterator[Definition]:
    met.add(code)
    found = definition(code)
    for need in found.needs:
        if need not in met:
            yield from _with_needs(need, met)
    yield found


@cache
def _definitions() -> Mapping[str, Definition]:
    return {
        each.code: each
        for room, codes in _ROOMS.items()
        for file in sorted((_REFERENCE / room).glob("*.py"))
        for each in _read(file.read_text("utf-8"), codes)
    }


def _read(source: str, codes: str) -> Iterator[Definition]:
    tree = ast.parse(source)
    imports = {
        alias.asname or alias.name: ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    nodes = {
        _name_of(each): each
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.ClassDef | ast.Assign)
    }
    shared = {
        alias.name: f"{_ROOMS[(node.module or '').split('.')[2]]}{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE)
        for alias in node.names
    }
    for name, node in nodes.items():
        assert node.end_lineno is not None
        first = min([node.lineno, *(each.lineno for each in _decorators(node))])
        text = "\n".join(source.split("\n")[first - 1 : node.end_lineno])
        read: dict[tuple[int, int], str] = {}
        named = text.split("\n")[node.lineno - first]
        own = {(node.lineno - first, named.index(name)): name}
        loaded: set[str] = set()
        inner: set[int] = set()
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and id(each) not in inner:
                dotted = ast_dotted_name(each)
                inner.add(id(each.value))
                if dotted is not None and dotted.partition(".")[0] in imports:
                    read[each.lineno - first, each.col_offset] = dotted
            elif isinstance(each, ast.Name):
                loaded.add(each.id)
                if each.id in nodes or each.id in shared:
                    own[each.lineno - first, each.col_offset] = each.id
        others = sorted(set(own.values()) - {name})
        used = {each.partition(".")[0] for each in read.values()}
        yield Definition(
            f"{codes}{name}",
            name,
            text,
            read,
            own,
            tuple(shared.get(each, f"{codes}{each}") for each in others),
            frozenset(loaded & _BUILTINS),
            tuple(imports[each] for each in sorted(used)),
            _parameters(node),
        )


def _decorators(node: ast.FunctionDef | ast.ClassDef | ast.Assign) -> list[ast.expr]:
    return [] if isinstance(node, ast.Assign) else node.decorator_list


def _name_of(node: ast.FunctionDef | ast.ClassDef | ast.Assign) -> str:
    if isinstance(node, ast.Assign):
        (target,) = node.targets
        assert isinstance(target, ast.Name)
        return target.id
    return node.name


def _parameters(node: ast.FunctionDef | ast.ClassDef | ast.Assign) -> str:
    """Return the parameters of a function, or of what makes an instance, without types."""
    function: ast.stmt = node
    leading = 0
    if isinstance(node, ast.ClassDef):
        made = [e for e in node.body if isinstance(e, ast.FunctionDef) and e.name == "__init__"]
        if not made:
            return ""
        function, leading = made[0], 1
    if not isinstance(function, ast.FunctionDef):
        return ""
    arguments = function.args
    for each in (*arguments.args, *arguments.kwonlyargs):
        each.annotation = None
    arguments.args = arguments.args[leading:]
    return ast.unparse(arguments)


def import_of(name: str) -> str:
    """Return the statement that imports what a dotted name begins with."""
    return f"import {_full(name).partition('.')[0]}"


def _full(name: str) -> str:
    first, dot, rest = name.partition(".")
    return f"{_FULL.get(first, first)}{dot}{rest}"
