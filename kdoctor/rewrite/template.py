"""A rewrite template: left and right side as code, and a guard.

``rewrite("keras.backend.expand_dims(x, axis=-1)", "keras.ops.expand_dims(x, axis)")``: the left
side is the full old signature with its defaults, the right side any expression over its
parameters. A left side without parentheses (``"keras.models.Input"``) is a plain change of name.

Stating a rewrite costs nothing: both sides are parsed when they are first asked for.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kdoctor.rewrite.pattern import Code, Pattern

if TYPE_CHECKING:
    from kdoctor.rewrite.guard_base import Guard

_INNER_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Replacement(Struct, frozen=True):
    """A right side: its tree and what its names are.

    ``uses`` counts how often each parameter is read; ``inner`` are the parameters read inside a
    lambda or the inner part of a comprehension, ``local`` the names that those bind. What is read
    of ``first_as_written`` first is what stands first, and always is; of ``read_once`` only one of
    what stands there is read.
    """

    code: Code
    uses: Counter[str]
    inner: frozenset[str]
    local: frozenset[str]
    first_as_written: frozenset[str]
    read_once: frozenset[str]

    @classmethod
    def parse(cls, text: str, pattern: Pattern) -> Replacement:
        """Read any expression over the parameters of ``pattern``."""
        if not text.isascii() or "\n" in text:
            raise ValueError(f"{text!r}: a template is one line of ASCII")  # positions are bytes
        tree = ast.parse(text, mode="eval").body
        nodes = list(ast.walk(tree))
        local = frozenset(_bound_names(nodes))
        names = pattern.parameters
        uses = Counter(node.id for node in nodes if isinstance(node, ast.Name) and node.id in names)
        if clash := local & names.keys():
            raise ValueError(f"{text!r} binds {sorted(clash)}, which are parameters")
        _check_stars(nodes, names)
        _check_names(nodes, known=names.keys() | local, a_name_alone=pattern.signature is None)
        inner = frozenset(
            name.id
            for scope in nodes
            if isinstance(scope, _INNER_SCOPES)
            for part in _inner_parts(scope)
            for name in ast.walk(part)
            if isinstance(name, ast.Name) and name.id in names
        )
        first: dict[str, bool] = {}
        _note_first_reads(tree, first, is_sure=True)
        sure = frozenset(name for name, is_sure in first.items() if is_sure)
        once = frozenset(name for name, count in _most_reads(tree).items() if count == 1)
        known = names.keys()
        return cls(Code(tree, text), uses, inner, local, sure & known, (once & known) - inner)


def _note_first_reads(node: ast.AST, first: dict[str, bool], *, is_sure: bool) -> None:
    """Note of each name, by where it stands first, whether it surely is read there, and first."""
    parts: list[tuple[ast.AST, bool]]
    match node:
        case ast.Name():
            first.setdefault(node.id, is_sure)
            return
        case ast.IfExp():  # its test comes first, and stands behind
            parts = [(node.body, False), (node.test, is_sure), (node.orelse, False)]
        case ast.BoolOp():
            parts = [(each, is_sure and not index) for index, each in enumerate(node.values)]
        case ast.Compare():  # `a < b < c` does not get to `c` where `a < b` is not so
            two = (node.left, node.comparators[0])
            parts = [(each, is_sure) for each in two]
            parts += [(each, False) for each in node.comparators[1:]]
        case _:
            is_sure = is_sure and not isinstance(node, (*_INNER_SCOPES, ast.JoinedStr))
            parts = [(each, is_sure) for each in ast.iter_child_nodes(node)]
    for part, part_is_sure in parts:
        _note_first_reads(part, first, is_sure=part_is_sure)


def _most_reads(node: ast.AST) -> Counter[str]:
    """Return how often each name is read at most: of two branches one is taken."""
    match node:
        case ast.Name():
            return Counter({node.id: 1})
        case ast.IfExp():
            return _most_reads(node.test) + (_most_reads(node.body) | _most_reads(node.orelse))
    return sum(map(_most_reads, ast.iter_child_nodes(node)), Counter[str]())


class Rewrite(Struct, frozen=True, dict=True):
    """One rewrite. ``id`` is its key in the proof record."""

    left: str
    right: str
    when: Guard | None = None

    @cached_property
    def id(self) -> str:
        """A readable text of both sides and the guard: stable as long as they are."""
        condition = f" when {self.when}" if self.when is not None else ""
        return f"{self.left} -> {self.right}{condition}"

    @cached_property
    def pattern(self) -> Pattern:
        """The left side, parsed. ``ValueError`` or ``SyntaxError`` where it is no signature."""
        return Pattern.parse(self.left)

    @cached_property
    def replacement(self) -> Replacement:
        """The right side, parsed. ``ValueError`` or ``SyntaxError`` where it is no template."""
        asked = self.when.parameters if self.when is not None else frozenset()
        if unknown := asked - self.pattern.parameters.keys():
            raise ValueError(f"the guard of {self.id!r} asks about {sorted(unknown)}")
        return Replacement.parse(self.right, self.pattern)


def rewrite(left: str, right: str, when: Guard | None = None) -> Rewrite:
    """State that code of the form ``left`` may be written as ``right`` where ``when`` holds."""
    return Rewrite(left.strip(), right.strip(), when)


def _bound_names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _inner_parts(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs in the scope's own namespace: all but a comprehension's first iterable."""
    if isinstance(scope, ast.Lambda):
        yield scope.body
        return
    for field, value in ast.iter_fields(scope):
        if field != "generators":
            yield value
            continue
        for index, clause in enumerate(value):
            yield from clause.ifs
            if index:
                yield clause.iter


def _check_stars(nodes: Sequence[ast.AST], parameters: Mapping[str, inspect.Parameter]) -> None:
    """Refuse a variadic parameter anywhere but behind its own star in a call."""
    starred: dict[int, inspect._ParameterKind] = {}
    for call in nodes:
        if isinstance(call, ast.Call):
            starred |= {
                id(node.value): inspect.Parameter.VAR_POSITIONAL
                for node in call.args
                if isinstance(node, ast.Starred)
            }
            starred |= {
                id(keyword.value): inspect.Parameter.VAR_KEYWORD
                for keyword in call.keywords
                if keyword.arg is None
            }
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in parameters:
            kind = parameters[node.id].kind
            if (kind in _VARIADIC or id(node) in starred) and starred.get(id(node)) is not kind:
                raise ValueError(f"{node.id!r}: a star takes a parameter with the same star")


def _check_names(nodes: Sequence[ast.AST], known: set[str], *, a_name_alone: bool) -> None:
    """Refuse a bare name that is nothing: a misspelt parameter must not become an import."""
    dotted = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if not isinstance(node, ast.Name) or node.id in known or id(node) in dotted:
            continue
        if hasattr(builtins, node.id) or (a_name_alone and node is nodes[0]):
            continue
        raise ValueError(f"{node.id!r} is neither a parameter nor a builtin nor a dotted name")
