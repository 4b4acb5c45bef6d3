"""Find reads through text: ``getattr(import_module("losses"), "K")``.

What may be that module, or its name, is followed through the names of the file: an attribute ``K``
of anything else, or a text that happens to hold both words, is no such read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from kdoctor.syntax.ast_walk import ast_dotted_name, children_of, leaf_of, nodes_in

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# By these a file gets a module, by the text that is their argument of that place.
_LOADERS = {
    "import_module": 0,
    "__import__": 0,
    "resolve_name": 0,
    "run_module": 0,
    "run_path": 0,
    "find_spec": 0,
    "load_module": 0,
    "load_source": 1,
    "spec_from_file_location": 1,
}
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "hasattr", "attrgetter", "object"})
_ALL = frozenset({"vars", "dir", "getmembers"})
# With these something is put into what they are called on.
_KEEPS = frozenset({
    "add", "append", "appendleft", "extend", "insert", "put", "register", "setdefault", "update",
})  # fmt: skip


class _Source:
    """What an expression may give: what some names hold, the module, or ``any`` module at all."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.is_it = False
        self.any = False

    def note(self, *, answer: bool | None) -> None:
        """Note whether a text is the module's name; None for a text that is not known."""
        self.is_it = self.is_it or answer is True
        self.any = self.any or answer is None


class _Parameters:
    """What the functions of one name call what they are given."""

    def __init__(self) -> None:
        self._places: list[set[str]] = []
        self._keywords: set[str] = set()
        self._rest: set[str] = set()

    def note(self, function: _Function | ast.Lambda) -> None:
        taken = function.args
        names = [each.arg for each in (*taken.posonlyargs, *taken.args)]
        self._keywords.update(names, (each.arg for each in taken.kwonlyargs))
        self._rest.update(each.arg for each in (taken.vararg, taken.kwarg) if each is not None)
        if names[:1] in (["self"], ["cls"]):
            del names[0]
        self._places += (set[str]() for _ in names[len(self._places) :])
        for place, name in zip(self._places, names, strict=False):
            place.add(name)

    @property
    def every(self) -> set[str]:
        """The names of all parameters."""
        return self._keywords | self._rest

    def of(self, call: ast.Call) -> Iterator[tuple[set[str], ast.expr]]:
        """Yield the names that each argument of a call may get."""
        for place, value in enumerate(call.args):
            spread = isinstance(value, ast.Starred)
            placed = set[str]().union(*self._places[place : place + 1])
            yield (self.every if spread else {*placed, *self._rest}), value
        for each in call.keywords:
            yield (self.every if each.arg is None else {each.arg, *self._rest}), each.value


def _parameters(nodes: Iterable[ast.AST]) -> dict[str, _Parameters]:
    """Return the parameters of a file's functions, and of its classes, by name."""
    found: dict[str, _Parameters] = {}
    for node in nodes:
        if isinstance(node, _Function):
            found.setdefault(node.name, _Parameters()).note(node)
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, _Function) and each.name == "__init__":
                    found.setdefault(node.name, _Parameters()).note(each)
    return found


class TextReads:
    """The names that a file may read from the module imported as ``leaf``."""

    def __init__(self, tree: ast.Module, leaf: str, *, imports_it: bool) -> None:
        self._leaf = leaf
        self._naming = re.compile(rf"(?:[\w./\\:-]*[./\\])?{re.escape(leaf)}(?:\.py)?")
        self._nodes = nodes_in(tree)
        self._texts = {
            each.value
            for each in self._nodes
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
        self._loaders = dict(_LOADERS)
        self._imported = set(self._imports(imports_it=imports_it))

    # Where nothing is read that may be the module, nobody asks what flows where.

    @cached_property
    def _it(self) -> set[str]:
        """The names that may hold the module, or its name."""
        if not (self._imported or self._names_it()):
            return set()
        start = self._imported.union(*(to for to, each in self._flows if each.is_it))
        return _reachable_names(self._flows, start)

    @cached_property
    def _any(self) -> set[str]:
        """The same names, and those that may hold any module."""
        start = self._it.union(*(to for to, each in self._flows if each.any))
        return _reachable_names(self._flows, start)

    def read(self, name: str) -> bool:
        """Say whether the file may read a name of the module."""
        whole = re.compile(rf"(?:[\w.]*\.)?{re.escape(self._leaf)}[.:]{re.escape(name)}\b")
        return any(map(whole.match, self._texts)) or any(
            self._is_read(each, name) for each in self._nodes
        )

    def _is_read(self, node: ast.AST, name: str) -> bool:
        match node:
            case ast.Attribute(value=value, attr=attr):
                return (attr == name and self._may_be_module(value)) or (
                    attr == "__dict__" and self._is_module(value)
                )
            case ast.Subscript(value=value, slice=key) if ast_dotted_name(value) != "sys.modules":
                told = key.value == name if isinstance(key, ast.Constant) else name in self._texts
                return told and self._may_be_module(value)
            case ast.Call():
                return self._is_read_by(node, name)
        return False

    def _is_read_by(self, call: ast.Call, name: str) -> bool:
        given = [*call.args, *(each.value for each in call.keywords)]
        function = leaf_of(call.func)
        if isinstance(call.func, ast.Call):  # attrgetter("K")(losses)
            function = leaf_of(call.func.func)
            given += call.func.args
        told = any(isinstance(each, ast.Constant) and each.value == name for each in given)
        told = told or any(each.arg == name for each in call.keywords)
        by_name = function in _BY_NAME and name in self._texts
        if told or by_name:
            return any(map(self._may_be_module, given))
        return function in _ALL and any(map(self._is_module, given))

    def _is_module(self, node: ast.AST) -> bool:
        source = self._source(node)
        return source.is_it or not self._it.isdisjoint(source.names)

    def _may_be_module(self, node: ast.AST) -> bool:
        """Say whether something may be the module, be it one of many that are loaded by name."""
        source = self._source(node)
        return source.is_it or source.any or not self._any.isdisjoint(source.names)

    # What holds the module

    def _imports(self, *, imports_it: bool) -> Iterator[str]:
        """Yield the names that the module is imported as."""
        for node in self._nodes:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for alias in node.names:
                last = alias.name.rpartition(".")[2]
                if last in _LOADERS and alias.asname:
                    self._loaders[alias.asname] = _LOADERS[last]
                if imports_it and last == self._leaf:
                    yield alias.asname or last

    def _names_it(self) -> bool:
        """Say whether a text, or an attribute, may name the module."""
        return any(self._leaf in each for each in self._texts) or any(
            isinstance(each, ast.Attribute) and each.attr == self._leaf for each in self._nodes
        )

    @cached_property
    def _flows(self) -> Sequence[tuple[set[str], _Source]]:
        return tuple(self._find_flows())

    def _find_flows(self) -> Iterator[tuple[set[str], _Source]]:
        """Yield which names get what an expression gives."""
        functions = _parameters(self._nodes)
        for node in self._nodes:
            for targets, value in _assignments_in(node):
                names = set[str]().union(*map(_bound, targets))
                if value is not None and names:
                    yield names, self._source(value)
            if isinstance(node, ast.Call):
                for names, value in _passed(node, functions):
                    yield names, self._source(value)

    def _source(self, expression: ast.AST) -> _Source:
        source = _Source()
        waiting: list[ast.AST] = [expression]
        while waiting and not source.is_it:
            node = waiting.pop()
            match node:
                case ast.Name(id=name):
                    source.names.add(name)
                case ast.Attribute(attr=attr):  # of the module it is something else
                    source.names.add(attr)
                    source.note(
                        answer=None
                        if ast_dotted_name(node) == "sys.modules"
                        else attr == self._leaf
                    )
                case ast.Constant(value=str(text)):
                    source.note(answer=self._naming.fullmatch(text) is not None)
                case ast.Subscript(value=ast.Attribute() as table, slice=key) if (
                    ast_dotted_name(table) == "sys.modules"
                ):
                    source.note(answer=self._names_module(key))
                case ast.Call(func=function, args=args, keywords=keywords):
                    if leaf_of(function) in self._loaders:
                        given = args[self._loaders[leaf_of(function)] :][:1]
                        answer = self._names_module(given[0]) if given else None
                        source.note(answer=answer)
                        waiting += given if answer is None else ()
                        continue
                    # What a method gives may be of what it is called on: `names.items()`.
                    waiting.append(function)
                    if isinstance(function, ast.Attribute):
                        waiting.append(function.value)
                    waiting += (*args, *(each.value for each in keywords))
                case ast.Compare():
                    pass
                case _:
                    waiting += children_of(node)
        return source

    def _names_module(self, node: ast.AST) -> bool | None:
        """Say whether a text is the name, or the path, of the module; None where it may be."""
        match node:
            case ast.Name(id="__name__"):
                return False
            case ast.JoinedStr(values=[*_, ast.Constant(value=str(end))]):
                # What stands before it is not known: `f"{package}.losses"`.
                return self._naming.fullmatch(end) is not None or (None if end == ".py" else False)
            case ast.Constant(value=str(text)):
                return self._naming.fullmatch(text.partition(":")[0]) is not None
        return None


def _reachable_names(flows: Sequence[tuple[set[str], _Source]], start: set[str]) -> set[str]:
    """Return all names that what some hold gets to; each flow is looked at once a name."""
    by_name: dict[str, list[set[str]]] = {}
    for targets, source in flows:
        for name in source.names:
            by_name.setdefault(name, []).append(targets)
    held, waiting = set(start), list(start)
    while waiting:
        for targets in by_name.pop(waiting.pop(), ()):
            waiting += targets - held
            held |= targets
    return held


def _passed(
    call: ast.Call, functions: Mapping[str, _Parameters]
) -> Iterator[tuple[set[str], ast.expr]]:
    """Yield the names of parameters that get what is an argument of a call."""
    called = functions.get(leaf_of(call.func))
    if called is not None:
        yield from called.of(call)
    given = [*call.args, *(each.value for each in call.keywords)]
    for handed in given:  # `map(show, [losses])`
        if isinstance(handed, ast.Lambda):
            parameters = _Parameters()
            parameters.note(handed)
            names = parameters.every
        elif leaf_of(handed) in functions:
            names = functions[leaf_of(handed)].every
        else:
            continue
        yield from ((names, each) for each in given if each is not handed)


def _assignments_in(node: ast.AST) -> Iterator[tuple[list[ast.expr], ast.expr | None]]:
    """Yield the targets of a statement, or of a part of one, with what they get."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield targets, value
        case (
            ast.AnnAssign(target=target, value=value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
        ):
            yield [target], value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield [target], value
        case ast.Call(func=ast.Attribute(value=target, attr=attr)) if attr in _KEEPS:
            yield from (([target], each) for each in node.args)
            yield from (([target], each.value) for each in node.keywords)
        case ast.Call(func=ast.Name("setattr"), args=[_, ast.Constant(value=str(name)), value]):
            yield [ast.Name(name)], value
        case ast.FunctionDef(name=name, args=taken) | ast.AsyncFunctionDef(name=name, args=taken):
            placed = [*taken.posonlyargs, *taken.args]
            defaults = zip(placed[len(placed) - len(taken.defaults) :], taken.defaults, strict=True)
            named = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
            for parameter, default in (*defaults, *named):
                yield [ast.Name(parameter.arg)], default
            for each in nodes_in(node):
                if isinstance(each, ast.Return | ast.Yield | ast.YieldFrom):
                    yield [ast.Name(name)], each.value


def _bound(target: ast.AST) -> set[str]:
    """Return the names that a target binds, or changes: ``held["it"] = …``."""
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return _bound(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return set[str]().union(*map(_bound, parts))
    return set()
