"""Index a source's names, strings and nodes in one ``ast`` walk."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

from kdoctor.syntax.ast_walk import NODE_FIELDS, chain_of, parameters_of

Path = tuple[str, ...]


class SourceIndex:
    """The names, strings and nodes of one source."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.strings: set[str] = set()
        self.documents: set[str] = set()
        self.stores: set[str] = set()
        self.keywords: set[str] = set()
        self.lists: set[str] = set()  # names that a list is assigned to, written out
        self.assigned: dict[str, list[ast.expr]] = {}  # all values of each name, as written
        self.nodes: dict[type[ast.AST], list[Any]] = {}  # of some kinds; async ones, too
        self.imported: dict[str, set[str]] = {}
        self.modules: set[str] = set()
        self.star_modules: set[str] = set()
        self.aliases: dict[str, set[tuple[str, Path]]] = {}
        self.identifiers: set[str] = set()  # those that stand in statements, not expressions
        self.read: set[str] = set()  # names, alone
        self.chains: set[tuple[str, Path]] = set()  # attributes of names
        self.of_expressions: set[str] = set()  # attributes of anything else
        self.call_nodes: list[ast.Call] = []
        self.unpacking: list[ast.Call] = []  # those that pass `**something`
        self.bound: set[str] = set()  # by anything but an import
        # Of the module, and of each class and function, those around first: all nodes that stand in
        # it, but for names, constants and what is inside of an attribute.
        self.scopes: dict[ast.AST, list[Any]] = {}
        self._opened: list[Any] = [tree]
        while self._opened:
            self._walk(self._opened.pop())

    @cached_property
    def written(self) -> frozenset[str]:
        """Each identifier."""
        roots = (root for root, _ in self.chains)
        return self.attributes.union(self.identifiers, self.bound, self.read, roots, self.keywords)

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Each attribute that is read, called or assigned, of whatever."""
        return frozenset(self.of_expressions).union(*(path for _, path in self.chains))

    @cached_property
    def applies(self) -> bool:
        """Whether what a call gave is called: ``layer(…)(x)``."""
        return any(each.func.__class__ is ast.Call for each in self.call_nodes)

    def _walk(self, scope: Any) -> None:
        """Note all that is there in a scope. Most nodes are of a few kinds, which need no table."""
        here = self.scopes[scope] = []
        waiting: list[Any] = [*scope.body]
        read, bound, strings, chains = self.read, self.bound, self.strings, self.chains
        calls, keywords, nodes = self.call_nodes, self.keywords, self.nodes
        a_name, an_attribute, a_constant, a_call = ast.Name, ast.Attribute, ast.Constant, ast.Call
        store = ast.Store
        assigns = nodes.setdefault(ast.Assign, [])
        for node in waiting:  # it grows meanwhile
            kind = node.__class__
            if kind is a_name:
                read.add(node.id)
                if node.ctx.__class__ is store:
                    bound.add(node.id)
            elif kind is an_attribute:
                here.append(node)
                value = node.value
                if node.ctx.__class__ is not ast.Load:
                    self.stores.add(node.attr)
                if value.__class__ is a_name:
                    chains.add((value.id, (node.attr,)))
                else:
                    self._attribute(node, waiting)
            elif kind is a_constant:
                if node.value.__class__ is str:
                    strings.add(node.value)
            elif kind is a_call:
                here.append(node)
                calls.append(node)
                waiting.append(node.func)
                waiting += node.args
                for each in node.keywords:
                    if each.arg is not None:
                        keywords.add(each.arg)
                    else:
                        self.unpacking.append(node)
                    waiting.append(each.value)
            elif kind is ast.Assign:
                here.append(node)
                assigns.append(node)
                self._assign(node)
                waiting += node.targets
                waiting.append(node.value)
            elif kind is ast.Expr:
                if node.value.__class__ is not a_constant:  # a docstring
                    waiting.append(node.value)
            elif kind is ast.arguments:
                self._parameters(node, waiting)
            else:
                here.append(node)
                self._other(node, waiting)

    def _other(self, node: ast.AST, waiting: list[Any]) -> None:
        """Note a node of one of the many kinds that are rare, as the table says."""
        note, kept, identifiers, fields = _PLANS[node.__class__]
        if kept is not None:
            self.nodes.setdefault(kept, []).append(node)
        if note is not None:
            note(self, node)
        for field in identifiers:
            value = getattr(node, field)
            if value.__class__ is str:
                self.bound.add(value)
            elif value:
                self.identifiers.update(value)
        for field in fields:
            value = getattr(node, field)
            if value.__class__ is list:
                waiting += value
            elif value is not None:
                waiting.append(value)

    def _parameters(self, node: ast.arguments, waiting: list[ast.AST | None]) -> None:
        """Note the parameters of a function. Their annotations and defaults are looked at next."""
        for each in parameters_of(node):
            self.bound.add(each.arg)
            if each.annotation is not None:
                waiting.append(each.annotation)
        waiting += node.defaults
        waiting += node.kw_defaults

    def _attribute(self, node: ast.Attribute, waiting: list[ast.AST]) -> None:
        """Note an attribute of anything but a name, and those on the way there."""
        path = [node.attr]
        value = node.value
        while isinstance(value, ast.Attribute):
            path.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name):
            self.chains.add((value.id, tuple(path[::-1])))
        else:
            self.of_expressions.update(path)
            waiting.append(value)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.identifiers.update(alias.name.split("."))
            self.modules.add(alias.name)
            top = alias.name.partition(".")[0]
            self._bind(alias.asname or top, alias.name if alias.asname else top)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.identifiers.update((node.module or "").split("."))
        for alias in node.names:
            self.identifiers.add(alias.name)
            if alias.name == "*":
                self.star_modules.add(module)
            else:
                self._bind(alias.asname or alias.name, joined(module, (alias.name,)))

    def _bind(self, local: str, name: str) -> None:
        self.identifiers.add(local)
        self.imported.setdefault(local, set()).add(name)

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
            sides = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
            for chain in map(chain_of, sides):
                if chain:
                    self.aliases.setdefault(target.id, set()).add((chain[0], chain[1:]))
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._alias(one, other)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._opened.append(node)
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            text = first.value.value
            if isinstance(text, str):
                self.documents.add(text)

    def _class(self, node: ast.ClassDef) -> None:
        self._opened.append(node)


def joined(name: str, path: Iterable[str]) -> str:
    """Return the dotted name of a path in a module."""
    rest = ".".join(path)
    if not rest or not name:
        return name or rest
    return name + rest if name.endswith(".") else f"{name}.{rest}"


_KEPT = frozenset(
    {
        *(ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.FunctionDef),
        *(ast.If, ast.While, ast.IfExp, ast.Assert, ast.Return, ast.Yield),
        *(ast.ClassDef, ast.Compare, ast.BinOp, ast.Lambda, ast.Subscript),
        *(ast.AsyncFunctionDef, ast.AsyncFor),
    }
)
_AS_IN_LIBCST: dict[type[ast.AST], type[ast.AST]] = {
    ast.AsyncFunctionDef: ast.FunctionDef,
    ast.AsyncFor: ast.For,
}
_HANDLERS: dict[type[ast.AST], Callable[[SourceIndex, Any], None]] = {
    ast.Import: SourceIndex._import,  # noqa: SLF001
    ast.ImportFrom: SourceIndex._import_from,  # noqa: SLF001
    ast.AnnAssign: SourceIndex._assign_one,  # noqa: SLF001
    ast.NamedExpr: SourceIndex._assign_one,  # noqa: SLF001
    ast.FunctionDef: SourceIndex._function,  # noqa: SLF001
    ast.AsyncFunctionDef: SourceIndex._function,  # noqa: SLF001
    ast.ClassDef: SourceIndex._class,  # noqa: SLF001
}
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_IDENTIFIERS = frozenset({"name", "names", "arg", "rest", "kwd_attrs"})


class _WalkPlan(NamedTuple):
    """What is done with a class of nodes. ``fields`` are those that hold nodes to look at."""

    note: Callable[[SourceIndex, Any], None] | None
    kept_as: type[ast.AST] | None
    identifiers: tuple[str, ...]
    fields: tuple[str, ...]


class _WalkPlans(dict[type[ast.AST], _WalkPlan]):
    """Of each class of nodes."""

    def __missing__(self, kind: type[ast.AST]) -> _WalkPlan:
        known = getattr(kind, "_fields", ())  # None has none: `{**a}` has no key
        identifiers = tuple(each for each in known if each in _IDENTIFIERS - {*NODE_FIELDS[kind]})
        if kind in {ast.Import, ast.ImportFrom}:
            identifiers = ()
        kept = _AS_IN_LIBCST.get(kind, kind) if kind in _KEPT else None
        fields = NODE_FIELDS[kind]
        if kind in _SCOPES:  # what is inside has its own turn
            fields = tuple(each for each in fields if each != "body")
        self[kind] = _WalkPlan(_HANDLERS.get(kind), kept, identifiers, fields)
        return self[kind]


_PLANS = _WalkPlans()
