"""What a module of the tree binds at its top level, read off its ``ast``.

Other modules are only asked what they export. That takes no libcst, whose parse costs ten times as
much, and nothing of the tree is kept but a few strings a module.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kdoctor.documents.reading import read_regular
from kdoctor.syntax.package import is_registry

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_DYNAMIC = frozenset({"__getattr__", "__getattribute__"})


@dataclass(frozen=True, slots=True)
class Imported:
    """``from ..a import b`` is ("a", 2, "b"), ``import a.b as c`` is ("a.b", 0, None)."""

    module: str
    level: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Alias:
    """``Dense = keras.layers.Dense``: the dotted name that is assigned."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class statement.

    ``bases`` are dotted names as written, None for any other expression. ``members`` are the names
    that the body and ``self.… =`` bind. ``closed``: nothing else can add members. ``hands_on``:
    ``__init__`` passes each keyword on to its base, save what is in ``takes``. ``gives``: what it
    takes and passes on under the same name, as it is.
    """

    name: str
    bases: tuple[str | None, ...]
    members: frozenset[str]
    closed: bool
    takes: frozenset[str] = frozenset()
    hands_on: bool = False
    gives: frozenset[str] = frozenset()


@dataclass(slots=True)
class Outline:
    """The bindings of a module: every one of each name, None for one that says nothing."""

    names: dict[str, set[Imported | Alias | Class | None]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)  # a.b of a plain `import a.b`
    stars: list[Imported] = field(default_factory=list)
    listed: tuple[str, ...] | None = None  # __all__
    listed_in_parts: bool = False  # __all__ is not one literal


def parsed(source: str | bytes) -> ast.Module | None:
    """Return the syntax tree, None where Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are no news
            return ast.parse(source)
    except UNPARSABLE:
        return None


def outline_of(path: str) -> Outline | None:
    """Return the outline of a file, None where it cannot be read or parsed."""
    try:
        return outline_in(read_regular(path))
    except OSError:
        return None


def outline_in(source: str | bytes) -> Outline | None:
    """Return the outline of a source, None where it cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return None
    outline = Outline()
    for statement in _top_level(tree.body):
        _note(statement, outline)
    return outline


def imports_of(tree: ast.Module) -> Iterator[Imported]:
    """Yield every import in a file, whatever its scope; the name of a star import is ``*``."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, 0, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Imported(node.module or "", node.level, alias.name)


def _statements(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        yield from _statements(_inner(statement))


def _top_level(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that bind names of the module, also those under ``if`` and ``try``."""
    for statement in statements:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _top_level(_inner(statement))


def _inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements directly inside a compound one."""
    for body in ("body", "orelse", "finalbody"):
        yield from getattr(statement, body, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from part.body


def _note(statement: ast.stmt, outline: Outline) -> None:
    match statement:
        case ast.Import(names=aliases):
            for alias in aliases:
                top = alias.name.partition(".")[0]
                module = Imported(alias.name if alias.asname else top, 0, None)
                _bind(outline, alias.asname or top, module)
                if not alias.asname:
                    outline.whole.add(alias.name)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                imported = Imported(module or "", level, alias.name)
                if alias.name == "*":
                    outline.stars.append(imported)
                else:
                    _bind(outline, alias.asname or alias.name, imported)
        case ast.ClassDef(name=name):
            _bind(outline, name, _class(statement))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            _bind(outline, name, None)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target, value, outline)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            _assign(target, value, outline)
        case ast.AugAssign(target=ast.Name(id="__all__")):
            outline.listed_in_parts = True
        case _:
            for name in _stored(statement):
                _bind(outline, name, None)


def _bind(outline: Outline, name: str, what: Imported | Alias | Class | None) -> None:
    outline.names.setdefault(name, set()).add(what)


def _assign(target: ast.expr, value: ast.expr, outline: Outline) -> None:
    if not isinstance(target, ast.Name):
        for name in _stored(target):
            _bind(outline, name, None)
        return
    if target.id == "__all__":
        names = _strings(value)
        outline.listed_in_parts |= names is None or outline.listed is not None
        outline.listed = names
        return
    written = dotted(value)
    _bind(outline, target.id, Alias(written) if written else None)


def _strings(value: ast.expr) -> tuple[str, ...] | None:
    try:
        names = ast.literal_eval(value)
    except UNPARSABLE:
        return None
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
        waiting += (child for child in _children(each) if not isinstance(child, ast.stmt))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, in no order that means anything."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += _children(each)


def _children(node: ast.AST) -> list[ast.AST]:
    """Return what is directly below a node."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if isinstance(value, list):
            found += (each for each in value if isinstance(each, ast.AST))
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def _class(node: ast.ClassDef) -> Class:
    members: set[str] = set()
    closed = not node.keywords and all(map(_is_registry, node.decorator_list))
    for statement in _top_level(node.body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                members.add(name)
                closed = _note_method(statement, members) and closed
            case ast.ClassDef(name=name):
                members.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                members.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case _:
                members.update(_stored(statement))
    closed = closed and not members & _DYNAMIC
    takes, hands_on = _keywords(node)
    bases = tuple(map(dotted, node.bases))
    return Class(node.name, bases, frozenset(members), closed, takes, hands_on, _gives(node))


def _is_registry(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    match name:
        case ast.Name(id=leaf) | ast.Attribute(attr=leaf):
            return is_registry(leaf)
    return False


def _keywords(node: ast.ClassDef) -> tuple[frozenset[str], bool]:
    """Return what ``__init__`` may take out of its keywords, and whether it hands on the others."""
    made = [
        each
        for each in _top_level(node.body)
        if isinstance(each, ast.FunctionDef) and each.name in {"__init__", "__new__"}
    ]
    if len(made) != 1:
        return frozenset(), not made
    method, rest = made[0], made[0].args.kwarg
    arguments = method.args
    takes = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    handed = False
    for each in _walk(method):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            takes.add(each.value)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            handed |= each.func.attr == "__init__" and any(
                keyword.arg is None
                and isinstance(keyword.value, ast.Name)
                and rest is not None
                and keyword.value.id == rest.arg
                for keyword in each.keywords
            )
    return frozenset(takes), handed and method.name == "__init__"


def _gives(node: ast.ClassDef) -> frozenset[str]:
    """Return the parameters that ``__init__`` passes on under their own names, unchanged."""
    made = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    method = next((each for each in made if each.name == "__init__"), None)
    if method is None:
        return frozenset()
    nodes = list(ast.walk(method))
    stored = {
        each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return frozenset(
        keyword.arg
        for each in nodes
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "__init__"
        for keyword in each.keywords
        if keyword.arg is not None
        and isinstance(keyword.value, ast.Name)
        and keyword.value.id == keyword.arg
        and keyword.arg not in stored
    )


def _note_method(method: ast.FunctionDef | ast.AsyncFunctionDef, members: set[str]) -> bool:
    """Add what the method sets on ``self``. Say whether that is all that it can set."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    own = parameters[0].arg if parameters else None
    closed = True
    for node in _walk(method):
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                if node.value.id == own:
                    members.add(node.attr)
            elif node.attr == "__dict__":
                closed = False
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            closed = closed and node.func.id not in {"setattr", "vars"}
    return closed


def dotted(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for a name or a chain of attributes, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])
