"""Symbol table of a source from its ``ast``: bindings of names and attributes.

A sketch errs on the side of more, as a glimpse does: what a comprehension or a lambda binds counts
for the function around it, and a name read in a scope may be what any scope around that binds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from kdoctor.syntax.scopes import BindingKind

Steps = tuple[int | None, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef
_PUTTING = frozenset({"append", "extend", "insert", "setdefault", "update"})
_PUTTING_MANY = frozenset({"extend", "update"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Condition = ast.If | ast.While | ast.IfExp | ast.Assert
Loop = ast.For | ast.AsyncFor | ast.comprehension


class Namespace(Struct, eq=False):
    """One namespace: module, class or function. ``returns``, ``yields``: what a function gives."""

    node: ast.AST
    parent: Namespace | None
    bound: dict[str, list[BoundName]] = field(default_factory=dict)
    returns: list[ast.expr] = field(default_factory=list)
    yields: list[ast.expr] = field(default_factory=list)

    def enclosing(self) -> Iterator[Namespace]:
        """Yield this one and those around it, the module last."""
        space: Namespace | None = self
        while space is not None:
            yield space
            space = space.parent


class BoundName(Struct, eq=False):
    """One binding of a name or attribute. The fields are those of ``scopes.Binding``.

    ``node`` is the function or the class, for a parameter its function, of which it is that called
    ``name`` at ``place`` (-1 where it is not passed by position).
    """

    kind: BindingKind
    space: Namespace
    value: ast.expr | None = None
    path: Steps = ()
    annotation: ast.expr | None = None
    node: ast.AST | None = None
    name: str = ""
    place: int = -1

    @property
    def is_surely_own(self) -> bool:
        """Whether it binds for the whole space, unlike what a comprehension or a lambda binds."""
        if self.kind is BindingKind.PARAMETER:
            return self.node is self.space.node
        return self.kind is BindingKind.ASSIGN


Place = tuple[Any, Namespace]
"""An attribute that is read or assigned, or a call, and where."""


class SymbolTable:
    """The symbol table of one source."""

    def __init__(self, scopes: Mapping[ast.AST, Iterable[Any]]) -> None:
        self.module = Namespace(next(iter(scopes)), None)
        self.spaces: dict[ast.AST, Namespace] = {self.module.node: self.module}
        self.by_name: dict[str, list[BoundName]] = {}  # wherever they are bound
        self.stores: dict[str, list[BoundName]] = {}  # by attribute
        self.reads: dict[str, list[Place]] = {}  # of attributes, by their names
        self.writes: dict[str, list[Place]] = {}
        self.methods: dict[str, list[Function]] = {}
        self.calls: dict[str, list[Place]] = {}  # of a name
        self.applied: dict[str, list[Place]] = {}  # `layer(…)(x)`, by the name that is passed first
        self.made_and_called: dict[str, list[Place]] = {}  # `Class(…)(x)`, by the name of the class
        self.called_members: dict[str, list[Place]] = {}  # calls of attributes with something
        self.places: dict[ast.AST, Namespace] = {}  # of calls, loops and conditions
        self.remote: set[str] = set()  # names that are said to be global, or not local
        for node, found in scopes.items():
            self._space = self.spaces[node]
            self._note(found)

    def __del__(self) -> None:
        """Part the spaces from what they bind: the ring would keep the tree alive with them."""
        # One that ctrl-C struck while it was made has none yet.
        for space in vars(self).get("spaces", {}).values():
            space.bound.clear()

    def bindings(self, name: str, space: Namespace) -> list[BoundName]:
        """Return all possible bindings of a name at its read."""
        if name in self.remote:
            return self.by_name.get(name, [])
        return [each for around in space.enclosing() for each in around.bound.get(name, ())]

    def own_values(self, name: str, place: ast.Call) -> list[ast.expr] | None:
        """Return all that a function binds a name to of which a call in it takes the value.

        None where the name may be of somewhere else.
        """
        space = self.places.get(place)
        if space is None or name in self.remote or isinstance(space.node, ast.ClassDef):
            return None
        bound = space.bound.get(name, [])
        if not any(each.is_surely_own for each in bound):
            return None
        return [each.value for each in bound if each.value is not None and not each.path]

    def nodes_around(self, place: ast.Call) -> set[ast.AST]:
        """Return the functions and classes that a call stands in, and the module."""
        return {each.node for each in self.places.get(place, self.module).enclosing()}

    def passed_for(self, bound: BoundName, function: Function) -> list[tuple[ast.expr, Namespace]]:
        """Return what may be passed for a parameter of a function, by calls or by default."""
        default = _default_of(function.args, bound.place)
        found = [] if default is None else [(default, bound.space)]
        for call, space in self.calls.get(function.name, ()):
            found += [(each, space) for each in _passed_for(call, bound.place, bound.name)]
        if bound.place and function in self.methods.get(function.name, ()):
            for call, space in self.called_members.get(function.name, ()):  # without `self`
                found += [(each, space) for each in _passed_for(call, bound.place - 1, bound.name)]
        around = bound.space.parent
        if bound.place and function.name == "__call__" and around is not None:
            for call, space in self._calls_of_objects(around.node):
                found += [(each, space) for each in _passed_for(call, bound.place - 1, bound.name)]
        return found

    def _calls_of_objects(self, cls: ast.AST) -> Iterator[Place]:
        """Yield the calls that may be of objects of a class: of what it makes, and of ``self``."""
        if isinstance(cls, ast.ClassDef):
            yield from self.made_and_called.get(cls.name, ())
            for name in self._named_objects.get(cls.name, ()):
                yield from self.calls.get(name, ())
            yield from self._called_receivers.get(cls, ())

    @cached_property
    def _named_objects(self) -> dict[str, dict[str, None]]:
        """The names that are assigned ``Class(…)``, by the name of the class."""
        found: dict[str, dict[str, None]] = {}
        for name, bindings in self.by_name.items():
            for each in bindings:
                if isinstance(each.value, ast.Call) and isinstance(each.value.func, ast.Name):
                    found.setdefault(each.value.func.id, {})[name] = None
        return found

    @cached_property
    def _called_receivers(self) -> dict[ast.AST, list[Place]]:
        """The calls ``self(…)`` in methods, by the class."""
        found: dict[ast.AST, list[Place]] = {}
        for name, calls in self.calls.items():
            if all(each.place for each in self.by_name.get(name, ())):
                continue  # nowhere a first parameter
            for call, space in calls:
                for around in space.enclosing():
                    firsts = (each for each in around.bound.get(name, ()) if each.place == 0)
                    if around.parent is not None and any(firsts):
                        found.setdefault(around.parent.node, []).append((call, space))
        return found

    def passed_here(
        self, bound: BoundName, function: Function
    ) -> Iterator[tuple[ast.expr, Namespace]]:
        """Yield what calls of the source may pass for a parameter, those of its classes, too."""
        yield from self.passed_for(bound, function)
        if function.name != "__init__":
            return
        for node in self.spaces:
            if isinstance(node, ast.ClassDef):
                for calls in (self.calls, self.called_members):
                    for call, space in calls.get(node.name, ()):
                        for each in _passed_for(call, bound.place - 1, bound.name):
                            yield each, space

    def name_in_module(self, bound: BoundName, function: Function) -> str:
        """Return ``function`` or ``Class.method`` for what stands at the top level, else "".

        So it is of what has a decorator: what calling it does is not known. ``bound`` is one of its
        parameters; of ``self`` it is "", too, and of what is a number or a text by default.
        """
        around, name = bound.space.parent, function.name
        default = _default_of(function.args, bound.place)
        if isinstance(default, ast.Constant) and default.value is not None:
            return ""
        if around is not None and isinstance(around.node, ast.ClassDef):
            if not bound.place:
                return ""
            name, around = f"{around.node.name}.{name}", around.parent
        return "" if around is not self.module or function.decorator_list else name

    def applied_to(self, bound: BoundName) -> Iterator[Place]:
        """Yield the calls ``layer(…)(x)`` of a parameter ``x``, or of what calls make of it."""
        names = [bound.name]
        for name in names if self.applied else ():  # it grows meanwhile
            for call, space in self.applied.get(name, ()):
                if bound.space in space.enclosing():
                    yield call, space
            for other, bindings in bound.space.bound.items():
                if other not in names and any(_is_made_of(each, name) for each in bindings):
                    names.append(other)

    # -- what stands in one space

    def _note(self, found: Iterable[Any]) -> None:
        space, reads, writes = self._space, self.reads, self.writes
        for node in found:
            kind = node.__class__
            if kind is ast.Attribute:
                each = node
                while each.__class__ is ast.Attribute:
                    used = reads if each.ctx.__class__ is ast.Load else writes
                    used.setdefault(each.attr, []).append((each, space))
                    each = each.value
            elif kind is ast.Call:
                self._call(node)
            else:
                handler = _HANDLERS.get(kind)
                if handler is not None:
                    handler(self, node)

    def _bind(self, name: str, bound: BoundName) -> None:
        self._space.bound.setdefault(name, []).append(bound)
        self.by_name.setdefault(name, []).append(bound)

    def _target(self, target: ast.expr, bound: BoundName) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, bound)
        elif isinstance(target, ast.Subscript) and bound.value is not None:
            self._put(target.value, ast.List([bound.value]))
        elif isinstance(target, ast.Attribute):
            self.stores.setdefault(target.attr, []).append(bound)
        elif isinstance(target, ast.Tuple | ast.List):
            for index, each in enumerate(target.elts):
                starred = isinstance(each, ast.Starred)
                part = BoundName(
                    bound.kind, bound.space, bound.value,
                    (*bound.path, None if starred else index),
                )  # fmt: skip
                self._target(each.value if isinstance(each, ast.Starred) else each, part)

    def _put(self, owner: ast.expr, items: ast.expr) -> None:
        """Note what is put into a list: ``xs.append(x)`` leaves in it what ``xs += [x]`` does."""
        if isinstance(owner, ast.Name):
            bound = BoundName(BindingKind.AUGMENT, self._space, items)
            self.by_name.setdefault(owner.id, []).append(bound)
            for space in self._space.enclosing():
                space.bound.setdefault(owner.id, []).append(bound)
        elif isinstance(owner, ast.Attribute):
            bound = BoundName(BindingKind.AUGMENT, self._space, items)
            self.stores.setdefault(owner.attr, []).append(bound)

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._target(target, BoundName(BindingKind.ASSIGN, self._space, node.value))

    def _annotated(self, node: ast.AnnAssign) -> None:
        bound = BoundName(BindingKind.ASSIGN, self._space, node.value, annotation=node.annotation)
        self._target(node.target, bound)

    def _augmented(self, node: ast.AugAssign) -> None:
        self._target(node.target, BoundName(BindingKind.AUGMENT, self._space, node.value))

    def _walrus(self, node: ast.NamedExpr) -> None:
        self._target(node.target, BoundName(BindingKind.ASSIGN, self._space, node.value))

    def _condition(self, node: Condition) -> None:
        self.places[node] = self._space

    def _loop(self, node: Loop) -> None:
        self.places[node] = self._space
        self._target(node.target, BoundName(BindingKind.LOOP, self._space, node.iter))

    def _with(self, node: ast.withitem) -> None:
        if node.optional_vars is not None:
            bound = BoundName(BindingKind.WITH, self._space, node.context_expr)
            self._target(node.optional_vars, bound)

    def _remote(self, node: ast.Global | ast.Nonlocal) -> None:
        self.remote.update(node.names)

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._space.returns.append(node.value)

    def _yield(self, node: ast.Yield) -> None:
        if node.value is not None:
            self._space.yields.append(node.value)

    def _tested(self, subject: ast.expr, classes: ast.expr) -> None:
        """Note what ``isinstance`` asks of a name or an attribute."""
        bound = BoundName(BindingKind.AUGMENT, self._space, annotation=classes)
        if isinstance(subject, ast.Name):
            self._bind(subject.id, bound)
        elif isinstance(subject, ast.Attribute):
            self.stores.setdefault(subject.attr, []).append(bound)

    def _call(self, node: ast.Call) -> None:
        place = node, self._space
        self.places[node] = self._space
        function = node.func
        if isinstance(function, ast.Attribute):
            if node.keywords or node.args:
                self.called_members.setdefault(function.attr, []).append(place)
            if function.attr in _PUTTING and (node.args or node.keywords):
                given = [*node.args[-1:], *(each.value for each in node.keywords)]
                for each in given:
                    is_many = function.attr in _PUTTING_MANY and each in node.args
                    self._put(function.value, each if is_many else ast.List([each]))
        elif isinstance(function, ast.Name):
            self.calls.setdefault(function.id, []).append(place)
            if function.id == "isinstance" and len(node.args) == 2:
                self._tested(*node.args)
        elif isinstance(function, ast.Call):
            if isinstance(function.func, ast.Name):
                self.made_and_called.setdefault(function.func.id, []).append(place)
            first = innermost_first(node)
            if first is not None:
                self.applied.setdefault(first.id, []).append(place)

    def _function(self, node: Function) -> None:
        outer = self._space
        self._bind(node.name, BoundName(BindingKind.FUNCTION, outer, node=node))
        if isinstance(outer.node, ast.ClassDef):
            self.methods.setdefault(node.name, []).append(node)
        self._space = self.spaces[node] = Namespace(node, outer)
        self._parameters(node)
        self._space = outer

    def _parameters(self, node: Function | ast.Lambda) -> None:
        arguments = node.args
        for place, each in enumerate((*arguments.posonlyargs, *arguments.args)):
            self._parameter(node, each.arg, each.annotation, place)
        for each in arguments.kwonlyargs:
            self._parameter(node, each.arg, each.annotation)
        for starred in (arguments.vararg, arguments.kwarg):
            if starred is not None:  # its annotation is of what is in it
                self._parameter(node, starred.arg, None)

    def _parameter(
        self, node: Function | ast.Lambda, name: str, annotation: ast.expr | None, place: int = -1
    ) -> None:
        kind, space = BindingKind.PARAMETER, self._space
        self._bind(name, BoundName(kind, space, None, (), annotation, node, name, place))

    def _class(self, node: ast.ClassDef) -> None:
        self._bind(node.name, BoundName(BindingKind.CLASS, self._space, node=node))
        self.spaces[node] = Namespace(node, self._space)


def passed_values(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what is passed, in order, without the stars of it."""
    for each in call.args:
        yield each.value if isinstance(each, ast.Starred) else each
    for keyword in call.keywords:
        yield keyword.value


def _passed_for(call: ast.Call, place: int, name: str) -> list[ast.expr]:
    """Return what may be passed for the parameter ``name`` at a place (from 0)."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    ):
        return [*passed_values(call)]
    by_keyword = [each.value for each in call.keywords if each.arg == name]
    return [*call.args[place : place + 1], *by_keyword]


def _default_of(arguments: ast.arguments, place: int) -> ast.expr | None:
    """Return the default of the parameter at a place (from 0), None where there is none."""
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return arguments.defaults[place - required] if place >= required else None


def chain_in(text: str) -> ast.expr:
    """Return the expression that a dotted name is."""
    root, *path = text.split(".")
    node: ast.expr = ast.Name(root)
    for part in path:
        node = ast.Attribute(node, part)
    return node


_HANDLERS: dict[type[ast.AST], Callable[[SymbolTable, Any], None]] = {
    ast.Assign: SymbolTable._assign,  # noqa: SLF001
    ast.AnnAssign: SymbolTable._annotated,  # noqa: SLF001
    ast.AugAssign: SymbolTable._augmented,  # noqa: SLF001
    ast.NamedExpr: SymbolTable._walrus,  # noqa: SLF001
    ast.For: SymbolTable._loop,  # noqa: SLF001
    ast.AsyncFor: SymbolTable._loop,  # noqa: SLF001
    ast.comprehension: SymbolTable._loop,  # noqa: SLF001
    ast.If: SymbolTable._condition,  # noqa: SLF001
    ast.While: SymbolTable._condition,  # noqa: SLF001
    ast.IfExp: SymbolTable._condition,  # noqa: SLF001
    ast.Assert: SymbolTable._condition,  # noqa: SLF001
    ast.withitem: SymbolTable._with,  # noqa: SLF001
    ast.Global: SymbolTable._remote,  # noqa: SLF001
    ast.Nonlocal: SymbolTable._remote,  # noqa: SLF001
    ast.Return: SymbolTable._return,  # noqa: SLF001
    ast.Yield: SymbolTable._yield,  # noqa: SLF001
    ast.FunctionDef: SymbolTable._function,  # noqa: SLF001
    ast.AsyncFunctionDef: SymbolTable._function,  # noqa: SLF001
    ast.Lambda: SymbolTable._parameters,  # noqa: SLF001
    ast.ClassDef: SymbolTable._class,  # noqa: SLF001
}


def innermost_first(call: ast.expr | None) -> ast.Name | None:
    """Return ``x`` of ``layer(…)(x)`` and of ``layer(…)(f(x))``."""
    while isinstance(call, ast.Call):
        call = next(passed_values(call), None)
    return call if isinstance(call, ast.Name) else None


def _is_made_of(bound: BoundName, name: str) -> bool:
    is_call = bound.kind is BindingKind.ASSIGN and isinstance(bound.value, ast.Call)
    first = innermost_first(bound.value) if is_call else None
    return first is not None and first.id == name
