"""What one look at a source shows, by Python's own ``ast``: enough to tell what cannot be in it.

A parse by libcst costs thirty times as much. A glimpse errs on the side of more: scopes and the
order of statements count for nothing, so that a name has all the meanings it has anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from kdoctor.syntax.imports import hands_over, through_tree
from kdoctor.syntax.knowledge import Knowledge
from kdoctor.syntax.nodes import NODE_FIELDS
from kdoctor.syntax.package import ClassInfo, Package
from kdoctor.syntax.possible import Possible

_WORD = re.compile(r"\w+")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# No module of the tree is called so, whatever lies in its folders.
_FRAMEWORKS = ("keras.", "tensorflow.", "tf_keras.")
_NOTHING: frozenset[str] = frozenset()
_LONGEST = 12  # parts of a name: `a = a.b` has no end
_LONGEST_ANNOTATION = 200  # characters

Path = tuple[str, ...]
Stars = Callable[[str], Collection[str] | None]


class Called(NamedTuple):
    """One call: of what (dotted names, none where it is nothing imported), and with what.

    ``leaf`` is the last name as written, "" where a call or the like is called. ``places`` is the
    number of arguments by position. ``node`` is the call.
    """

    names: frozenset[str]
    leaf: str
    places: int
    keywords: frozenset[str]
    node: ast.Call

    @property
    def starred(self) -> bool:
        """Whether there may be more arguments by position."""
        return any(isinstance(each, ast.Starred) for each in self.node.args)

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
        self._tree_of_nodes = tree
        self._path = path
        self._package = package
        self._stars = stars
        self.strings: set[str] = set()
        self.documents: set[str] = set()
        self.stores: set[str] = set()
        self.keywords: set[str] = set()
        self.lists: set[str] = set()  # names that a list is assigned to, written out
        self.assigned: dict[str, list[ast.expr]] = {}  # all values of each name, as written
        self.nodes: dict[type[ast.AST], list[Any]] = {}  # of some kinds; async ones, too
        self._imported: dict[str, set[str]] = {}
        self._modules: set[str] = set()
        self._star_modules: set[str] = set()
        self._aliases: dict[str, set[tuple[str, Path]]] = {}
        self._identifiers: set[str] = set()  # those that stand in statements, not expressions
        self._read: set[str] = set()  # names, alone
        self._chains: set[tuple[str, Path]] = set()  # attributes of names
        self._of_expressions: set[str] = set()  # attributes of anything else
        self._calls: list[ast.Call] = []
        self._bound: set[str] = set()  # by anything but an import
        self._through: dict[str, str | ClassInfo | None] = {}
        self._meanings: dict[tuple[str, Path], frozenset[str]] = {}
        self._possible: Possible | None = None
        self._walk(tree)

    # -- what is written

    @cached_property
    def written(self) -> frozenset[str]:
        """Each identifier."""
        roots = (root for root, _ in self._chains)
        return self.attributes.union(
            self._identifiers, self._bound, self._read, roots, self.keywords
        )

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Each attribute that is read, called or assigned, of whatever."""
        return frozenset(self._of_expressions).union(*(path for _, path in self._chains))

    @cached_property
    def applies(self) -> bool:
        """Whether what a call gave is called: ``layer(…)(x)``."""
        return any(each.func.__class__ is ast.Call for each in self._calls)

    @cached_property
    def words(self) -> frozenset[str]:
        """Each identifier, each word of a string, and of what is meant by way of own modules."""
        texts = _WORD.findall("\n".join(self.strings))
        meant = (part for name in self._own_meanings for part in name.split("."))
        return self.written.union(texts, meant)

    @cached_property
    def names(self) -> frozenset[str]:
        """The dotted name of whatever is imported, or read through an import."""
        found = {*self._modules, *self._star_modules}
        alone = ((root, ()) for root in self._read)
        texts = "\n".join(each for each in self.strings if len(each) <= _LONGEST_ANNOTATION)
        return frozenset(
            found.union(
                *self._imported.values(),
                *(self._meant(*each) for each in self._chains),
                *(self._meant(*each) for each in alone),
                self._in_text(texts),
            )
        )

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """``names``, and what types may be: named in docstrings, or bases of the tree's classes."""
        return self.names.union(self._in_text("\n".join(self.documents)), self._bases)

    @cached_property
    def members(self) -> frozenset[str]:
        """Attributes of what may be an instance, not of what is imported and nothing else."""
        imported = self._imported.keys() - self._bound
        ends = (path for root, path in self._chains if root not in imported)
        return frozenset(self._of_expressions).union(*ends)

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
        return self._meant(*_chain(node))

    def handed_over(self, name: str) -> Collection[tuple[int, str]]:
        """Return what a function of the tree surely calls with its parameters, by position."""
        if self._package is None or name.startswith(_FRAMEWORKS):
            return ()
        return hands_over(self._package, self._path, name)

    def classes_meant_by(self, node: ast.expr) -> Iterator[ClassInfo]:
        """Yield the classes of the tree's other modules that an expression may be."""
        for name in self.meant_by(node):
            found = self._tree(name)
            if isinstance(found, ClassInfo):
                yield found

    def possible(self, knowledge: Knowledge) -> Possible:
        """Return what the expressions may be, for somebody who knows what names make."""
        if self._possible is None:
            self._possible = Possible(self._tree_of_nodes, self, knowledge)
        return self._possible

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

    def _meant(self, root: str, path: Path) -> frozenset[str]:
        if root not in self.locals:
            return _NOTHING
        found = self._meanings.get((root, path))
        if found is None:
            found = self._meanings[root, path] = frozenset(
                name
                for meaning in self.locals[root]
                for name in self._with_tree(_joined(meaning, path))
            )
        return found

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

    def _in_text(self, text: str) -> frozenset[str]:
        """Return what the names that stand in a text mean."""
        if self.locals.keys().isdisjoint(_WORD.findall(text)):
            return _NOTHING
        chains = (each.split(".") for each in set(_DOTTED.findall(text)))
        return _NOTHING.union(*(self._meant(root, tuple(path)) for root, *path in chains))

    def _called(self, node: ast.Call) -> Called:
        function = node.func
        root, path = _chain(function)
        leaf = function.attr if isinstance(function, ast.Attribute) else root
        keywords = node.keywords
        return Called(
            self._meant(root, path),
            leaf,
            len(node.args),
            frozenset([each.arg for each in keywords if each.arg]) if keywords else _NOTHING,
            node,
        )

    # -- the walk

    def _walk(self, tree: ast.Module) -> None:
        """Note all that is there. Most nodes are of a few kinds, which need no table."""
        waiting: list[Any] = [tree]
        read, bound, strings = self._read, self._bound, self.strings
        calls, keywords = self._calls, self.keywords
        for node in waiting:  # it grows meanwhile
            kind = node.__class__
            if kind is ast.Name:
                read.add(node.id)
                if node.ctx.__class__ is ast.Store:
                    bound.add(node.id)
            elif kind is ast.Attribute:
                self._attribute(node, waiting)
            elif kind is ast.Constant:
                if node.value.__class__ is str:
                    strings.add(node.value)
            elif kind is ast.Call:
                calls.append(node)
                waiting.append(node.func)
                waiting += node.args
                for each in node.keywords:
                    if each.arg is not None:
                        keywords.add(each.arg)
                    waiting.append(each.value)
            elif kind is ast.Expr:
                if node.value.__class__ is not ast.Constant:  # a docstring
                    waiting.append(node.value)
            elif kind is ast.arguments:
                waiting += self._parameters(node)
            else:
                self._note(node)
                for field in NODE_FIELDS[kind]:
                    value = getattr(node, field)
                    if value.__class__ is list:
                        waiting += value
                    elif value is not None:
                        waiting.append(value)

    def _note(self, node: ast.AST) -> None:
        note, kept, identifiers = _PLANS[node.__class__]
        if kept is not None:
            self.nodes.setdefault(kept, []).append(node)
        if note is not None:
            note(self, node)
        for field in identifiers:
            value = getattr(node, field)
            if value.__class__ is str:
                self._bound.add(value)
            elif value:
                self._identifiers.update(value)

    def _parameters(self, node: ast.arguments) -> Iterator[ast.expr | None]:
        """Note the parameters of a function. Yield their annotations and defaults."""
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each is not None:
                self._bound.add(each.arg)
                if each.annotation is not None:
                    yield each.annotation
        yield from node.defaults
        yield from node.kw_defaults

    def _attribute(self, node: ast.Attribute, waiting: list[ast.AST]) -> None:
        if node.ctx.__class__ is not ast.Load:
            self.stores.add(node.attr)
        path = [node.attr]
        value = node.value
        while isinstance(value, ast.Attribute):
            path.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name):
            self._chains.add((value.id, tuple(path[::-1])))
        else:
            self._of_expressions.update(path)
            waiting.append(value)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._identifiers.update(alias.name.split("."))
            self._modules.add(alias.name)
            top = alias.name.partition(".")[0]
            self._bind(alias.asname or top, alias.name if alias.asname else top)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self._identifiers.update((node.module or "").split("."))
        for alias in node.names:
            self._identifiers.add(alias.name)
            if alias.name == "*":
                self._star_modules.add(module)
            else:
                self._bind(alias.asname or alias.name, _joined(module, (alias.name,)))

    def _bind(self, local: str, name: str) -> None:
        self._identifiers.add(local)
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
    ast.Import: Glimpse._import,  # noqa: SLF001
    ast.ImportFrom: Glimpse._import_from,  # noqa: SLF001
    ast.Assign: Glimpse._assign,  # noqa: SLF001
    ast.AnnAssign: Glimpse._assign_one,  # noqa: SLF001
    ast.NamedExpr: Glimpse._assign_one,  # noqa: SLF001
    ast.FunctionDef: Glimpse._document,  # noqa: SLF001
    ast.AsyncFunctionDef: Glimpse._document,  # noqa: SLF001
}
_IDENTIFIERS = frozenset({"name", "names", "arg", "rest", "kwd_attrs"})


class _Plans(
    dict[
        type[ast.AST],
        tuple[Callable[[Glimpse, Any], None] | None, type[ast.AST] | None, tuple[str, ...]],
    ]
):
    """Of each class of nodes: what notes it, what it is kept as, and its fields of identifiers."""

    def __missing__(
        self, kind: type[ast.AST]
    ) -> tuple[Callable[[Glimpse, Any], None] | None, type[ast.AST] | None, tuple[str, ...]]:
        known = getattr(kind, "_fields", ())  # None has none: `{**a}` has no key
        identifiers = tuple(each for each in known if each in _IDENTIFIERS - {*NODE_FIELDS[kind]})
        if kind in {ast.Import, ast.ImportFrom}:
            identifiers = ()
        kept = _AS_IN_LIBCST.get(kind, kind) if kind in _KEPT else None
        self[kind] = _HANDLERS.get(kind), kept, identifiers
        return self[kind]


_PLANS = _Plans()
