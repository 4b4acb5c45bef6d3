"""Summarize what a module binds at its top level, from its ``ast``.

Other modules are only asked what they export. That takes none of libcst's trees, and nothing of
Python's is kept but a few strings a module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from kdoctor import parse_ast
from kdoctor.documents.reading import read_regular
from kdoctor.syntax.ast_walk import NODE_FIELDS, ast_dotted_name, children_of, statements_in
from kdoctor.syntax.bases import unsubscripted
from kdoctor.syntax.literals import literal
from kdoctor.syntax.package import is_registry

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_DYNAMIC = frozenset({"__getattr__", "__getattribute__"})
_OPEN = frozenset({"setattr", "vars"})  # they may bind any member
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Imported(Struct, frozen=True):
    """``from ..a import b`` is ("a", 2, "b"), ``import a.b as c`` is ("a.b", 0, None)."""

    module: str
    level: int
    name: str | None


class Alias(Struct, frozen=True):
    """``Dense = keras.layers.Dense``: the dotted name that is assigned."""

    dotted: str


class Class(Struct, frozen=True):
    """A class statement.

    ``bases`` are dotted names as written, None for any other expression; so is ``metaclass``, ""
    where there is none. ``members`` are the names that the body and ``self.… =`` bind. ``closed``:
    nothing else can add members. ``hands_on``: ``__init__`` passes each keyword on to its base,
    save what is in ``takes``. ``gives``: what it takes and passes on under the same name, as it is.
    """

    name: str
    bases: tuple[str | None, ...]
    members: frozenset[str]
    closed: bool
    takes: frozenset[str] = frozenset()
    hands_on: bool = False
    gives: frozenset[str] = frozenset()
    metaclass: str = ""


class ModuleSummary(Struct):
    """The bindings of a module by name; None for an unknown value."""

    names: dict[str, set[Imported | Alias | Class | None]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)  # a.b of a plain `import a.b`
    stars: list[Imported] = field(default_factory=list)
    listed: tuple[str, ...] | None = None  # __all__
    listed_in_parts: bool = False  # __all__ is not one literal
    takes_tf_keras: bool = False  # it imports tf_keras, be it in a function
    given: set[str] = field(default_factory=set)  # `K.f` of `K.f = …`; `K.*` where it may be any


def parsed(source: str | bytes) -> ast.Module | None:
    """Return the syntax tree, None where Python cannot parse it."""
    try:
        return parse_ast.parse(source)
    except UNPARSABLE:
        return None


def summary_of(path: str) -> ModuleSummary | None:
    """Return the summary of a file, None if it cannot be read or parsed."""
    try:
        return summary_in(read_regular(path))
    except OSError:
        return None


def summary_in(source: str | bytes) -> ModuleSummary | None:
    """Return the summary of a source, None if it cannot be parsed."""
    tree = parsed(source)
    return None if tree is None else summary_from(tree, source)


def summary_from(tree: ast.Module, source: str | bytes) -> ModuleSummary:
    """Return the summary of a source's syntax tree."""
    summary = ModuleSummary(takes_tf_keras=_imports_tf_keras(tree, source))
    for statement in statements_in(tree.body, outside_of=_SCOPES):
        _note(statement, summary)
    return summary


def imports_of(tree: ast.Module) -> Iterator[Imported]:
    """Yield every import in a file, in any scope; the name of a star import is ``*``."""
    return imports_in(statements_in(tree.body))


def imports_in(statements: Iterable[ast.stmt]) -> Iterator[Imported]:
    """Yield the imports among some statements."""
    for node in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, 0, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Imported(node.module or "", node.level, alias.name)


def _imports_tf_keras(tree: ast.Module, source: str | bytes) -> bool:
    """Say whether a module imports tf_keras anywhere. Most do not even speak of it."""
    speaks = b"tf_keras" in source if isinstance(source, bytes) else "tf_keras" in source
    return speaks and any(
        each.level == 0 and each.module.partition(".")[0] == "tf_keras" for each in imports_of(tree)
    )


def _note(statement: ast.stmt, summary: ModuleSummary) -> None:
    match statement:
        case ast.Import(names=aliases):
            for alias in aliases:
                top = alias.name.partition(".")[0]
                module = Imported(alias.name if alias.asname else top, 0, None)
                _bind(summary, alias.asname or top, module)
                if not alias.asname:
                    summary.whole.add(alias.name)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                imported = Imported(module or "", level, alias.name)
                if alias.name == "*":
                    summary.stars.append(imported)
                else:
                    _bind(summary, alias.asname or alias.name, imported)
        case ast.ClassDef(name=name):
            _bind(summary, name, _class(statement))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            _bind(summary, name, None)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target, value, summary)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            _assign(target, value, summary)
        case ast.AugAssign(target=ast.Name(id="__all__")):
            summary.listed_in_parts = True
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[owner, name, _])):
            _note_foreign_assignment(
                owner, name.value if isinstance(name, ast.Constant) else "*", summary
            )
        case _:
            for name in _stored(statement):
                _bind(summary, name, None)


def _bind(summary: ModuleSummary, name: str, what: Imported | Alias | Class | None) -> None:
    summary.names.setdefault(name, set()).add(what)


def _assign(target: ast.expr, value: ast.expr, summary: ModuleSummary) -> None:
    if isinstance(target, ast.Attribute):
        _note_foreign_assignment(target.value, target.attr, summary)
    if not isinstance(target, ast.Name):
        for name in _stored(target):
            _bind(summary, name, None)
        return
    if target.id == "__all__":
        names = _strings(value)
        summary.listed_in_parts |= names is None or summary.listed is not None
        summary.listed = names
        return
    written = ast_dotted_name(value)
    _bind(summary, target.id, Alias(written) if written else None)


def _note_foreign_assignment(owner: ast.expr, name: object, summary: ModuleSummary) -> None:
    """Note that a module puts something into another one."""
    written = ast_dotted_name(owner)
    if written is not None:
        summary.given.add(f"{written}.{name}")


def _strings(value: ast.expr) -> tuple[str, ...] | None:
    names = literal(value)
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds itself, not those of the statements inside it."""
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            if not isinstance(each.ctx, ast.Load):
                yield each.id
            continue
        if isinstance(each, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and each.name:
            yield each.name
        waiting += (child for child in children_of(each) if not isinstance(child, ast.stmt))


def _class(node: ast.ClassDef) -> Class:
    members: set[str] = set()
    metaclass = "".join(ast_dotted_name(each.value) or "" for each in node.keywords[:1])
    closed = all(map(_is_registry, node.decorator_list)) and (
        not node.keywords
        or (len(node.keywords) == 1 and node.keywords[0].arg == "metaclass" and bool(metaclass))
    )
    methods: list[_Method] = []
    for statement in statements_in(node.body, outside_of=_SCOPES):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                members.add(name)
                method = _Method(statement)
                closed = _note_method(method, members) and closed
                methods.append(method)
            case ast.ClassDef(name=name):
                members.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                members.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case _:
                members.update(_stored(statement))
    closed = closed and not members & _DYNAMIC
    takes, hands_on = _keywords(methods)
    own = (each for each in methods if each.node in node.body and each.node.name == "__init__")
    gives = _forwarded_parameters(next(own, None))
    bases = tuple(ast_dotted_name(unsubscripted(each)) for each in node.bases)
    return Class(node.name, bases, frozenset(members), closed, takes, hands_on, gives, metaclass)


class _Method:
    """A method, and what stands in it. Most nodes are of a few kinds, which need no table."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.node = node
        self.names: list[ast.Name] = []
        self.constants: list[ast.Constant] = []
        self.attributes: list[ast.Attribute] = []
        self.calls: list[ast.Call] = []
        waiting: list[Any] = [node]
        for each in waiting:  # it grows meanwhile
            kind = each.__class__
            if kind is ast.Name:
                self.names.append(each)
            elif kind is ast.Attribute:
                self.attributes.append(each)
                waiting.append(each.value)
            elif kind is ast.Constant:
                self.constants.append(each)
            elif kind is ast.Call:
                self.calls.append(each)
                waiting.append(each.func)
                waiting += each.args
                waiting += [keyword.value for keyword in each.keywords]
            else:
                for field in NODE_FIELDS[kind]:
                    value = getattr(each, field)
                    if value.__class__ is list:
                        waiting += value
                    elif value is not None:
                        waiting.append(value)

    def calls_of_init(self) -> list[ast.Call]:
        """Return the calls of something's ``__init__``."""
        return [
            each
            for each in self.calls
            if isinstance(each.func, ast.Attribute) and each.func.attr == "__init__"
        ]


def _is_registry(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    match name:
        case ast.Name(id=leaf) | ast.Attribute(attr=leaf):
            return is_registry(leaf)
    return False


def _keywords(methods: Iterable[_Method]) -> tuple[frozenset[str], bool]:
    """Return what ``__init__`` may take out of its keywords, and whether it hands on the others."""
    made = [each for each in methods if each.node.name in {"__init__", "__new__"}]
    if len(made) != 1:
        return frozenset(), not made
    method, arguments = made[0], made[0].node.args
    takes = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    takes |= {each.value for each in method.constants if isinstance(each.value, str)}
    rest = arguments.kwarg
    handed = any(
        keyword.arg is None
        and isinstance(keyword.value, ast.Name)
        and rest is not None
        and keyword.value.id == rest.arg
        for each in method.calls_of_init()
        for keyword in each.keywords
    )
    return frozenset(takes), handed and method.node.name == "__init__"


def _forwarded_parameters(init: _Method | None) -> frozenset[str]:
    """Return the parameters that ``__init__`` passes on under their own names, unchanged."""
    if init is None:
        return frozenset()
    stored = {each.id for each in init.names if isinstance(each.ctx, ast.Store)}
    return frozenset(
        keyword.arg
        for each in init.calls_of_init()
        for keyword in each.keywords
        if keyword.arg is not None
        and isinstance(keyword.value, ast.Name)
        and keyword.value.id == keyword.arg
        and keyword.arg not in stored
    )


def _note_method(method: _Method, members: set[str]) -> bool:
    """Add what the method sets on ``self``. Say whether that is all that it can set."""
    arguments = method.node.args
    own = next((each.arg for each in (*arguments.posonlyargs, *arguments.args)), None)
    opened = False
    for each in method.attributes:
        if each.ctx.__class__ is ast.Store:
            if isinstance(each.value, ast.Name) and each.value.id == own:
                members.add(each.attr)
        elif each.attr == "__dict__":
            opened = True
    called = {each.func.id for each in method.calls if isinstance(each.func, ast.Name)}
    return not opened and called.isdisjoint(_OPEN)
