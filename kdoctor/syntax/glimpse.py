"""What one look at a source shows, by Python's own ``ast``: enough to tell what cannot be in it.

A parse by libcst costs thirty times as much. A glimpse errs on the side of more: scopes and the
order of statements count for nothing, so that a name has all the meanings it has anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kdoctor.syntax.imports import hands_over, through_tree
from kdoctor.syntax.package import ClassInfo, Package

_WORD = re.compile(r"\w+")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# No module of the tree is called so, whatever lies in its folders.
_FRAMEWORKS = ("keras.", "tensorflow.", "tf_keras.")
_LONGEST = 12  # parts of a name: `a = a.b` has no end
_LONGEST_ANNOTATION = 200  # characters

Path = tuple[str, ...]
Stars = Callable[[str], Collection[str] | None]


@dataclass(frozen=True, slots=True)
class Called:
    """One call: of what (dotted names, none where it is nothing imported), and with what.

    ``leaf`` is the last name as written, "" where a call or the like is called. ``places`` is the
    number of arguments by position, ``starred`` says that there may be more. ``node`` is the call.
    """

    names: frozenset[str]
    leaf: str
    places: int
    starred: bool
    keywords: frozenset[str]
    node: ast.Call

    @property
    def is_attribute(self) -> bool:
        """Whether something's attribute is called."""
        return isinstance(self.node.func, ast.Attribute)

    @property
    def is_hidden(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` hide what is passed."""
        return self.starred or any(each.arg is None for each in self.node.keywords)

    @property
    def receiver(self) -> str:
        """What a method is called on, as written; "" where that is more than names and dots."""
        return dotted(self.node.func.value) if isinstance(self.node.func, ast.Attribute) else ""

    @property
    def values(self) -> tuple[ast.expr, ...]:
        """What is passed, by position and by keyword."""
        return (*self.node.args, *(each.value for each in self.node.keywords))

    def argument(self, keyword: str, place: int | None = None) -> ast.expr | None:
        """Return what is passed by a keyword, or at a place (from 0)."""
        for each in self.node.keywords:
            if each.arg == keyword:
                return each.value
        return self.node.args[place] if place is not None and place < self.places else None


class Glimpse:
    """One source, as seen from the file ``path`` of the tree that ``package`` knows.

    ``stars`` says what ``from module import *`` binds for a module outside of the tree.
    """

    def __init__(
        self, tree: ast.Module, path: str = "", package: Package | None = None,
        stars: Stars = lambda _: None,
    ) -> None:  # fmt: skip
        self._path = path
        self._package = package
        self._stars = stars
        self.written: set[str] = set()  # identifiers
        self.strings: set[str] = set()
        self.documents: set[str] = set()
        self.attributes: set[str] = set()
        self._of_expressions: set[str] = set()
        self.stores: set[str] = set()
        self.keywords: set[str] = set()
        self.lists: set[str] = set()  # names that a list is assigned to, written out
        self.assigned: dict[str, list[ast.expr]] = {}  # all values of each name, as written
        self.nodes: dict[type[ast.AST], list[Any]] = {}  # of some kinds; async ones, too
        self._imported: dict[str, set[str]] = {}
        self._modules: set[str] = set()
        self._star_modules: set[str] = set()
        self._aliases: dict[str, set[tuple[str, Path]]] = {}
        self._chains: set[tuple[str, Path]] = set()
        self._calls: list[ast.Call] = []
        self._bound: set[str] = set()  # by anything but an import
        self.applies = False  # `layer(…)(x)`: what a call gave is called
        self._through: dict[str, str | ClassInfo | None] = {}
        self._walk(tree)

    # -- what is written

    @cached_property
    def words(self) -> frozenset[str]:
        """Each identifier, each word of a string, and of what is meant by way of own modules."""
        texts = {word for text in self.strings for word in _WORD.findall(text)}
        meant = {part for name in self._own_meanings for part in name.split(".")}
        return frozenset(self.written | texts | meant)

    @cached_property
    def names(self) -> frozenset[str]:
        """The dotted name of whatever is imported, or read through an import."""
        found = {*self._modules, *self._star_modules}
        for meanings in self._imported.values():
            found |= meanings
        for root, path in self._chains:
            found.update(self._meant(root, path))
        for text in self.strings:
            if len(text) <= _LONGEST_ANNOTATION:
                found.update(self._in_text(text))
        return frozenset(found)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """``names``, and what types may be: named in docstrings, or bases of the tree's classes."""
        documented = (name for text in self.documents for name in self._in_text(text))
        return self.names | frozenset(documented) | self._bases

    @cached_property
    def members(self) -> frozenset[str]:
        """Attributes of what may be an instance, not of what is imported and nothing else."""
        imported = self._imported.keys() - self._bound
        ends = (path for root, path in self._chains if path and root not in imported)
        return frozenset(part for path in ends for part in path) | self._of_expressions

    @cached_property
    def calls(self) -> tuple[Called, ...]:
        """Every call."""
        return tuple(self._called(node) for node in self._calls)

    def values_of(self, node: ast.expr | None) -> list[ast.expr]:
        """Return an expression, or all that is assigned to it where it is a name."""
        if isinstance(node, ast.Name):
            return self.assigned.get(node.id, [])
        return [] if node is None else [node]

    def is_rebound(self, node: ast.expr) -> bool:
        """Say whether the first name of a chain is bound by anything but an import, too."""
        return _chain(node)[0] in self._bound

    def meant_by(self, node: ast.expr) -> frozenset[str]:
        """Return the dotted names that an expression may be, none where it is no chain."""
        root, path = _chain(node)
        return frozenset(self._meant(root, path)) if root else frozenset()

    def handed_over(self, name: str) -> Collection[tuple[int, str]]:
        """Return what a function of the tree surely calls with its parameters, by position."""
        if self._package is None or name.startswith(_FRAMEWORKS):
            return ()
        return hands_over(self._package, self._path, name)

    # -- what names mean

    @cached_property
    def locals(self) -> dict[str, frozenset[str]]:
        """What each name of the file may mean of what is imported."""
        found = {name: set(meanings) for name, meanings in self._imported.items()}
        for module in self._star_modules:
            for name in self._bound_by_star(module):
                found.setdefault(name, set()).add(_joined(module, (name,)))
        grown = True
        while grown:
            grown = False
            for name, values in self._aliases.items():
                known = found.get(name, set())
                more = {
                    name
                    for root, path in values
                    for meaning in found.get(root, ())
                    if meaning.count(".") < _LONGEST
                    for name in self._with_tree(_joined(meaning, path))
                } - known
                if more:
                    found[name] = known | more
                    grown = True
        return {name: frozenset(meanings) for name, meanings in found.items()}

    def _bound_by_star(self, module: str) -> Collection[str]:
        bare = module.lstrip(".")
        own = None
        if self._package is not None:
            own = self._package.star_names(self._path, bare, len(module) - len(bare))
        known = self._stars(module) if own is None else own
        return self.written.intersection(known or ())

    def _meant(self, root: str, path: Path) -> Iterator[str]:
        for meaning in self.locals.get(root, ()):
            yield from self._with_tree(_joined(meaning, path))

    def _with_tree(self, name: str) -> Iterator[str]:
        yield name
        through = self._tree(name)
        if isinstance(through, str):
            yield through

    def _tree(self, name: str) -> str | ClassInfo | None:
        if self._package is None or name.startswith(_FRAMEWORKS):
            return None
        if name not in self._through:
            self._through[name] = through_tree(self._package, self._path, name)
        return self._through[name]

    @cached_property
    def _own_meanings(self) -> frozenset[str]:
        """What the modules of the tree bring in, under its own names."""
        given = {name: self._tree(name) for name in self.names}
        found = {through for through in given.values() if isinstance(through, str)}
        return frozenset(found) | self._bases

    @cached_property
    def _bases(self) -> frozenset[str]:
        given = (self._tree(name) for name in self.names)
        return frozenset(each.base for each in given if isinstance(each, ClassInfo) and each.base)

    def _in_text(self, text: str) -> Iterator[str]:
        for found in _DOTTED.findall(text):
            root, *path = found.split(".")
            if root in self.locals:
                yield from self._meant(root, tuple(path))

    def _called(self, node: ast.Call) -> Called:
        root, path = _chain(node.func)
        leaf = path[-1] if path else root
        if not root and isinstance(node.func, ast.Attribute):
            leaf = node.func.attr
        starred = any(isinstance(each, ast.Starred) for each in node.args)
        return Called(
            frozenset(self._meant(root, path)) if root in self.locals else frozenset(),
            leaf,
            len(node.args),
            starred,
            frozenset(each.arg for each in node.keywords if each.arg),
            node,
        )

    # -- the walk

    def _walk(self, tree: ast.Module) -> None:
        waiting: list[ast.AST] = [tree]
        written, nodes = self.written, self.nodes
        while waiting:
            node = waiting.pop()
            kind = node.__class__
            if kind is ast.Name:
                written.add(node.id)  # type: ignore[attr-defined]
                if node.ctx.__class__ is ast.Store:  # type: ignore[attr-defined]
                    self._bound.add(node.id)  # type: ignore[attr-defined]
                self._chains.add((node.id, ()))  # type: ignore[attr-defined]
                continue
            if kind is ast.Constant:
                value = node.value  # type: ignore[attr-defined]
                if value.__class__ is str:
                    self.strings.add(value)
                continue
            if kind is ast.Attribute:
                self._attribute(node, waiting)  # type: ignore[arg-type]
                continue
            if kind is ast.Expr and node.value.__class__ is ast.Constant:  # type: ignore[attr-defined]
                continue  # a docstring
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, node)
            if kind in _KEPT:
                nodes.setdefault(_AS_IN_LIBCST.get(kind, kind), []).append(node)
            children, texts = _FIELDS[kind]
            for field in children:
                value = getattr(node, field)
                if value.__class__ is list:
                    waiting += value
                elif value is not None:
                    waiting.append(value)
            for field in texts:
                value = getattr(node, field)
                if value.__class__ is str:
                    written.add(value)
                    self._bound.add(value)
                elif value:
                    written.update(value)
        written |= self.attributes

    def _attribute(self, node: ast.Attribute, waiting: list[ast.AST]) -> None:
        if node.ctx.__class__ is not ast.Load:
            self.stores.add(node.attr)
        path: list[str] = []
        value: ast.expr = node
        while value.__class__ is ast.Attribute:
            path.append(value.attr)
            value = value.value
        self.attributes.update(path)
        if value.__class__ is ast.Name:
            root: str = value.id
            self.written.add(root)
            self._chains.add((root, tuple(path[::-1])))
        else:
            self._of_expressions.update(path)
            waiting.append(value)

    def _call(self, node: ast.Call) -> None:
        self._calls.append(node)
        self.applies = self.applies or isinstance(node.func, ast.Call)
        for each in node.keywords:
            if each.arg:
                self.keywords.add(each.arg)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.written.update(alias.name.split("."))
            self._modules.add(alias.name)
            top = alias.name.partition(".")[0]
            self._bind(alias.asname or top, alias.name if alias.asname else top)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.written.update((node.module or "").split("."))
        for alias in node.names:
            self.written.add(alias.name)
            if alias.name == "*":
                self._star_modules.add(module)
            else:
                self._bind(alias.asname or alias.name, _joined(module, (alias.name,)))

    def _bind(self, local: str, name: str) -> None:
        self.written.add(local)
        self._imported.setdefault(local, set()).update(self._with_tree(name))

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._alias(target, node.value)

    def _assign_one(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value is not None:
            self._alias(node.target, node.value)

    def _alias(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, []).append(value)
            if isinstance(value, ast.List):
                self.lists.add(target.id)
            root, path = _chain(value)
            if root:
                self._aliases.setdefault(target.id, set()).add((root, path))
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._alias(one, other)

    def _document(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            text = first.value.value
            if isinstance(text, str):
                self.documents.add(text)


def dotted(node: ast.expr) -> str:
    """Return ``a.b.c`` as it is written, "" for anything else."""
    root, path = _chain(node)
    return ".".join((root, *path)) if root else ""


def _chain(node: ast.expr) -> tuple[str, Path]:
    """Return ``a.b.c`` as its root and the rest; the root is "" for anything else."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return (node.id, tuple(path[::-1])) if isinstance(node, ast.Name) else ("", ())


def _joined(name: str, path: Iterable[str]) -> str:
    rest = ".".join(path)
    if not rest or not name:
        return name or rest
    return name + rest if name.endswith(".") else f"{name}.{rest}"


_IDENTIFIERS = frozenset({"name", "arg", "asname", "names", "rest", "kwd_attrs"})
_NO_NODES = frozenset({"ctx", "kind", "type_comment", "op", "ops", "simple", "conversion"})


class _Fields(dict[type[ast.AST], tuple[tuple[str, ...], tuple[str, ...]]]):
    """Of each class of nodes: the fields that hold nodes, and those that hold identifiers."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = getattr(kind, "_fields", ())  # None has none: `{**a}` has no key
        texts = tuple(each for each in known if each in _IDENTIFIERS)
        skipped = _NO_NODES | _IDENTIFIERS
        nodes = tuple(each for each in known if each not in skipped)
        if kind in {ast.Import, ast.ImportFrom}:
            nodes = texts = ()
        self[kind] = nodes, texts
        return self[kind]


_FIELDS = _Fields()
_KEPT = frozenset(
    {
        *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.FunctionDef),
        *(ast.If, ast.While, ast.IfExp, ast.Assert, ast.Return, ast.Yield),
        *(ast.ClassDef, ast.Compare, ast.BinOp, ast.Lambda, ast.Subscript),
        *(ast.AsyncFunctionDef, ast.AsyncFor),
    }
)
_AS_IN_LIBCST: dict[type[ast.AST], type[ast.AST]] = {
    ast.AsyncFunctionDef: ast.FunctionDef,
    ast.AsyncFor: ast.For,
}
_HANDLERS: dict[type[ast.AST], Callable[[Glimpse, Any], None]] = {
    ast.Call: Glimpse._call,  # noqa: SLF001
    ast.Import: Glimpse._import,  # noqa: SLF001
    ast.ImportFrom: Glimpse._import_from,  # noqa: SLF001
    ast.Assign: Glimpse._assign,  # noqa: SLF001
    ast.AnnAssign: Glimpse._assign_one,  # noqa: SLF001
    ast.NamedExpr: Glimpse._assign_one,  # noqa: SLF001
    ast.FunctionDef: Glimpse._document,  # noqa: SLF001
    ast.AsyncFunctionDef: Glimpse._document,  # noqa: SLF001
}
