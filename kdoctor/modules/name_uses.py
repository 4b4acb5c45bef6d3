"""How names and attributes are used in one source: called, derived from, or handed on."""

from __future__ import annotations

import ast
import enum
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from kdoctor.lazy_regex import pattern
from kdoctor.modules.module_summary import Imported
from kdoctor.syntax.ast_walk import NODE_FIELDS, chain_of, leaf_of, statements_in

_TESTS: Final = frozenset({"isinstance", "issubclass", "super"})
_TEXT: Final = pattern(r"""(["'])([\w.:]+)\1""")
# By these a text may name a function.
_BY_TEXT: Final = (
    *("getattr", "setattr", "globals", "vars(", "__dict__", "attrgetter", "methodcaller"),
    *("patch", "import_module", "__import__", "eval(", "exec(", "import_string", "resolve_name"),
    "locate(",
)
_OWN_BY_TEXT: Final = ("globals", "vars(", "eval(", "exec(", "sys.modules")
_LOADERS: Final = (
    *("import_module", "__import__", "import_string", "resolve_name", "find_spec", "run_path"),
    *("spec_from_file_location", "module_from_spec", "load_source"),
)
_CLASS_FIELDS: Final = frozenset({"annotation", "returns"})


class Role(enum.Enum):
    """What is done with a name."""

    CALL = enum.auto()
    BASE = enum.auto()  # of a class
    CLASS = enum.auto()  # an annotation, a test of types: no object comes of it
    MEMBER = enum.auto()  # an attribute of it is taken
    VALUE = enum.auto()  # anything else: it may be called anywhere


class Where(NamedTuple):
    """What a node stands in: a class; an annotation, or a test of types; a formatted string."""

    holder: ast.ClassDef | None = None
    is_of_class: bool = False
    is_in_text: bool = False


class NameUse(NamedTuple):
    """A use of a name, or of an attribute of that name.

    ``parent`` is the node around it, ``where`` tells what it stands in.
    """

    node: ast.Name | ast.Attribute
    parent: Any
    where: Where

    @property
    def holder(self) -> ast.ClassDef | None:
        """The class whose body it stands in, or of which it is a base."""
        return self.where.holder

    @property
    def is_attribute(self) -> bool:
        """Whether it is an attribute of something."""
        return isinstance(self.node, ast.Attribute)

    @property
    def chain(self) -> tuple[str, ...]:
        """The parts of ``a.b.c``, none where it begins with anything but a name."""
        return chain_of(self.node)

    @property
    def receiver(self) -> str:
        """The last name of what it is an attribute of; ``super`` of ``super().x``."""
        owner = self.node.value if isinstance(self.node, ast.Attribute) else None
        return leaf_of(owner.func if isinstance(owner, ast.Call) else owner) if owner else ""

    @property
    def owner(self) -> str:
        """The last name of what it is an attribute of, "" of what a call gives."""
        return leaf_of(self.node.value) if isinstance(self.node, ast.Attribute) else ""

    @property
    def is_of_self(self) -> bool:
        """Whether it surely is no attribute of a module."""
        return self.chain[:-1] in {("self",), ("cls",)} or self.receiver == "super"

    @property
    def member(self) -> str:
        """The attribute that is taken of it, "" where none is."""
        return self.parent.attr if self.role is Role.MEMBER else ""

    @property
    def role(self) -> Role:
        """What is done with it."""
        parent, node = self.parent, self.node
        if self.where.is_in_text or not isinstance(node.ctx, ast.Load):
            return (
                Role.VALUE
            )  # where a call stands in a formatted string, Python 3.11 tells wrongly
        if isinstance(parent, ast.Call) and parent.func is node:
            return Role.CALL
        if isinstance(parent, ast.ClassDef) and node in parent.bases:
            return Role.BASE
        if self.where.is_of_class or isinstance(parent, ast.MatchClass | ast.Compare):
            return Role.CLASS
        return Role.MEMBER if isinstance(parent, ast.Attribute) else Role.VALUE


class NameUses:
    """The uses of names in one source, the unit ``unit`` of the file ``path``.

    Each name is looked for in the text first, and in the tree only around the lines that write it:
    most files write few of the names that are asked for.
    """

    def __init__(self, path: str, unit: int, tree: ast.Module, text: str) -> None:
        self.path = path
        self.unit = unit
        self.tree = tree
        self.text = text
        self._known: dict[str, Sequence[NameUse]] = {}

    def of(self, name: str) -> Sequence[NameUse]:
        """Return the uses of a name, and of all attributes so called."""
        if name not in self._known:
            self._known[name] = tuple(self._found(name))
        return self._known[name]

    def number(self, use: NameUse) -> int:
        """Return which of the calls of something so called a call is, by source, from 0."""
        return self.calls(leaf_of(use.node)).index(use.parent)

    def calls(self, name: str) -> list[ast.Call]:
        """Return the calls of something so called, by source."""
        calls = [each.parent for each in self.of(name) if each.role is Role.CALL]
        return sorted(calls, key=_place)

    @cached_property
    def functions(self) -> Mapping[str, ast.FunctionDef]:
        """The functions at the top level, and the methods of classes there: ``Class.method``.

        But for those with the name of another.
        """
        found: dict[str, list[ast.FunctionDef]] = {}
        for each in self.tree.body:
            if isinstance(each, ast.FunctionDef):
                found.setdefault(each.name, []).append(each)
            elif isinstance(each, ast.ClassDef):
                for inner in each.body:
                    if isinstance(inner, ast.FunctionDef):
                        found.setdefault(f"{each.name}.{inner.name}", []).append(inner)
        return {name: only for name, (only, *others) in found.items() if not others}

    @cached_property
    def imports(self) -> Sequence[tuple[str, Imported]]:
        """The names that are imported, in any scope; "*" for a star."""
        return tuple(_imports(self.tree))

    def is_named_by_text(self, name: str) -> bool:
        """Say whether a function may be found by a text that holds its name."""
        return name in self._texts

    @cached_property
    def reads_own_names(self) -> bool:
        """Whether the module may look up what it defines by a text."""
        return any(each in self.text for each in _OWN_BY_TEXT)

    @cached_property
    def loads_modules(self) -> bool:
        """Whether modules may be loaded by a text."""
        return any(each in self.text for each in _LOADERS)

    @cached_property
    def _texts(self) -> frozenset[str]:
        """The last names of texts, where any may be looked up."""
        if not any(each in self.text for each in _BY_TEXT):
            return frozenset()
        texts = (each[2] for each in _TEXT.finditer(self.text))
        return frozenset(each.replace(":", ".").rpartition(".")[2] for each in texts)

    def _lines_with(self, name: str) -> list[int]:
        """Return the lines that write a name, from 1."""
        found: list[int] = []
        at, line, end = 0, 1, len(name)
        while (start := self.text.find(name, at)) >= 0:
            line += self.text.count("\n", at, start)
            at = start + end
            if (not found or found[-1] != line) and not (
                _is_word(self.text[start - 1 : start]) or _is_word(self.text[at : at + 1])
            ):
                found.append(line)
        return found

    def _found(self, name: str) -> Iterator[NameUse]:
        lines = self._lines_with(name)
        waiting: list[tuple[Any, Any, Where]] = [(self.tree, None, Where())]
        while waiting and lines:
            node, parent, where = waiting.pop()
            kind = node.__class__
            if kind is ast.Name:
                if node.id == name:
                    yield NameUse(node, parent, where)
                continue
            first = getattr(node, "lineno", None)
            if first is not None and not where.is_in_text and not _between(first, node, lines):
                continue
            if kind is ast.Attribute:
                if node.attr == name:
                    yield NameUse(node, parent, where)
                waiting.append((node.value, node, where))
                continue
            if kind is ast.Global and name in node.names:  # it may be bound anew
                yield NameUse(ast.Name(name, ast.Store()), node, where)
            if kind is ast.Call and leaf_of(node.func) in _TESTS:
                waiting.append((node.func, node, where))
                tested = where._replace(is_of_class=True)
                waiting += ((each, node, tested) for each in node.args)
                continue
            if kind is ast.ClassDef:
                where = where._replace(holder=node)
            elif kind is ast.JoinedStr:
                where = where._replace(is_in_text=True)
            for field in NODE_FIELDS[kind]:
                value = getattr(node, field)
                if value.__class__ is list:
                    waiting += [(each, node, where) for each in value if each is not None]
                elif value is not None:
                    is_class = field in _CLASS_FIELDS or (
                        kind is ast.ExceptHandler and field == "type"
                    )
                    inner = where._replace(is_of_class=True) if is_class else where
                    waiting.append((value, node, inner))


def _between(first: int, node: Any, lines: list[int]) -> bool:
    """Say whether one of some lines is of a node; decorators stand above the first."""
    decorators = getattr(node, "decorator_list", None)
    if decorators:
        first = min(first, decorators[0].lineno)
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= node.end_lineno


def _is_word(text: str) -> bool:
    return text.isalnum() or text == "_"


def _imports(tree: ast.Module) -> Iterator[tuple[str, Imported]]:
    for node in statements_in(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, Imported(alias.name if alias.asname else top, 0, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                local = alias.asname or alias.name
                yield local, Imported(node.module or "", node.level, alias.name)


def _place(call: ast.Call) -> tuple[int, int, int, int]:
    """Order calls by source: of two that start at one place, the outer comes first."""
    return call.lineno, call.col_offset, -(call.end_lineno or 0), -(call.end_col_offset or 0)
