"""Errors that the surrounding code handles or expects: no finding for them.

``try: model.save("folder")``, ``except ValueError: model.export("folder")``. Asked of the few
findings that there are, so it reads Python's own tree, of the statement around: no rule has to know
of it.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, Severity, Span
from kdoctor.modules.module_summary import parsed
from kdoctor.rewrite.source_lines import LINE_BREAK
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import chain_of, children_of, nodes_in

# Code without any of these waits for nothing. What has none of the words is not searched: a pattern
# takes several times as long.
_WAITING_WORDS: Final = ("except", "raises", "assertRaises", "suppress")
_WAITING: Final = pattern(r"\b(?:raises|assertRaises\w*|suppress)\b|\bexcept\b[^\n]*[\w)]")
_SIGNATURES: Final = frozenset({"signature", "getfullargspec", "getargspec"})
_ASKING: Final = pattern(rf"\b(?:{'|'.join(sorted(_SIGNATURES))})\b")
_NAMED: Final = pattern(r"\b([A-Z]\w*(?:Error|Exception)): ")
_RAISES: Final = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"})
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_EXITS: Final = frozenset({"exit", "_exit", "quit", "abort", "fail"})
# Who catches one of these catches whatever happens, and need not know of the error.
_ALL: Final = frozenset({"Exception", "BaseException"})
# Whether something that stands in does the work is asked by the rules themselves.
_OF_NAMES: Final = frozenset({"AttributeError", "NameError", "ImportError", "ModuleNotFoundError"})

# All that is asked what it waits for, and the functions that what is around them says nothing to.
_ASKED: Final = (ast.Try, ast.With, ast.AsyncWith, ast.If, ast.IfExp, *_FUNCTIONS)

_Place = tuple[int, int]


class _Part(Struct, frozen=True, eq=False, gc=False):
    """A queried node, and the enclosing node of its kind."""

    start: _Place
    node: ast.AST
    around: _Part | None


class ExpectedErrors:
    """Answers for one module, in time proportional to the nesting depth."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Span, _Code] = {}
        self._waiting: dict[Span, bool] = {}

    def include(self, finding: Finding) -> bool:
        """Say whether the surrounding code expects a finding's error."""
        named = set(_NAMED.findall(finding.message))
        is_error = finding.severity is Severity.ERROR or bool(named)  # `… only works with …: else`
        span = self._code_at(finding.place.span.start) if is_error else None
        if span is None:
            return False
        if span not in self._known:
            self._known[span] = _Code(self._module.text[span.start : span.end])
        offset = finding.place.span.start - span.start
        return self._known[span].expects(named, finding.message, offset)

    def _code_at(self, offset: int) -> Span | None:
        """Return the code that may say what a place waits for, None where no word of it does."""
        text = self._module.text
        if self._asks:  # by names that may be bound anywhere
            return Span(0, len(text))
        at = bisect_right(self._starts, offset)
        span = self._statements[at - 1] if at else None
        if span is None or offset >= span.end:
            return None
        if span not in self._waiting:  # there may be many findings in one class
            self._waiting[span] = _WAITING.search(text, span.start, span.end) is not None
        return span if self._waiting[span] else None

    @cached_property
    def _asks(self) -> bool:
        text = self._module.text
        return any(word in text for word in _SIGNATURES) and _ASKING.search(text) is not None

    @cached_property
    def _statements(self) -> list[Span]:
        """Where those of the module itself stand, without their decorators."""
        if not any(word in self._module.text for word in _WAITING_WORDS):
            return []
        return [self._module.span(each) for each in self._module.tree.body]

    @cached_property
    def _starts(self) -> list[int]:
        return [each.start for each in self._statements]


class _Code:
    """What stands around findings: a statement with all that is in it, or a module."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tree = parsed(text)
        self._goes_on: dict[ast.ExceptHandler, bool] = {}

    def expects(self, named: set[str], message: str, offset: int) -> bool:
        """Say whether it waits for errors of these names, or for a message, at an offset."""
        if not self._parts:
            return False
        place = self._place(offset)
        return any(self._is_expected(each, place, named, message) for each in self._around(place))

    @cached_property
    def _parts(self) -> list[_Part]:
        """The queried nodes, in source order, enclosing ones first."""
        found: list[_Part] = []
        waiting: list[tuple[ast.AST, _Part | None]] = [(self._tree, None)] if self._tree else []
        for node, around in waiting:  # it grows meanwhile
            part = around
            if isinstance(node, _ASKED):
                part = _Part((node.lineno, node.col_offset), node, around)
                found.append(part)
            waiting += ((each, part) for each in children_of(node))
        return sorted(found, key=lambda part: part.start)

    @cached_property
    def _starts(self) -> list[_Place]:
        return [part.start for part in self._parts]

    @cached_property
    def _rows(self) -> list[int]:
        return [0, *(found.end() for found in LINE_BREAK.finditer(self._text))]

    def _place(self, offset: int) -> _Place:
        """Return line and column as ``ast`` counts them: from 1, and in bytes from 0."""
        line = bisect_right(self._rows, offset)
        return line, len(self._text[self._rows[line - 1] : offset].encode())

    def _around(self, place: _Place) -> Iterator[ast.AST]:
        """Yield what a place is inside of, from the inside out, up to its function."""
        at = bisect_right(self._starts, place)
        part = self._parts[at - 1] if at else None
        while part is not None:
            if _holds([part.node], place):
                yield part.node
                if isinstance(part.node, _FUNCTIONS):
                    return
            part = part.around

    def _is_expected(self, node: ast.AST, place: _Place, named: set[str], message: str) -> bool:
        match node:
            case ast.Try(body=body) if named and _holds(body, place):
                return all(self._is_caught(each, node.handlers) for each in named)
            case ast.With(body=body) | ast.AsyncWith(body=body) if _holds(body, place):
                return any(_expects_exception(item.context_expr, named) for item in node.items)
            case ast.If(body=body, orelse=orelse, test=test):
                wanted = True if _holds(body, place) else False if _holds(orelse, place) else None
            case ast.IfExp(body=one, orelse=other, test=test):
                wanted = True if _holds([one], place) else False if _holds([other], place) else None
            case _:
                return False
        return wanted is not None and any(
            each in message for each in self._parameters_tested(test, wanted=wanted)
        )

    def _is_caught(self, error: str, handlers: Iterable[ast.ExceptHandler]) -> bool:
        """Say whether a handler is there for an error, and goes on after it."""
        if error in _OF_NAMES:
            return False
        for handler in handlers:
            caught = set() if handler.type is None else _exceptions([handler.type])
            if handler.type is None or caught & _ALL:
                return False
            if any(_is_a(error, each) for each in caught):
                if handler not in self._goes_on:
                    self._goes_on[handler] = not any(map(_reraises, nodes_in(handler)))
                return self._goes_on[handler]
        return False

    def _parameters_tested(self, test: ast.expr, *, wanted: bool) -> Iterator[str]:
        """Yield the parameters that a function has where ``test`` turns out as it is wanted."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values) if wanted:
                for each in values:
                    yield from self._parameters_tested(each, wanted=True)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._parameters_tested(operand, wanted=not wanted)
            case ast.Compare(
                left=ast.Constant(value=str() as name), ops=[operation], comparators=[parameters]
            ):
                kind = ast.In if wanted else ast.NotIn
                if isinstance(operation, kind) and self._is_signature(parameters):
                    yield name

    def _is_signature(self, node: ast.expr) -> bool:
        return _reads_signature(node) or not self._signatures.isdisjoint(_names_in(node))

    @cached_property
    def _signatures(self) -> frozenset[str]:
        """The names that are bound to a signature, or to a part of one."""
        found: set[str] = set()
        for each in nodes_in(self._tree) if self._tree is not None else ():
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if _reads_signature(value):
                        found.add(name)
        for each in nodes_in(self._tree) if found and self._tree is not None else ():
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if not found.isdisjoint(_names_in(value)):
                        found.add(name)
        return frozenset(found)


def _holds(nodes: list[ast.stmt] | list[ast.expr] | list[ast.AST], place: _Place) -> bool:
    if not nodes:
        return False
    first, last = nodes[0], nodes[-1]
    start = (first.lineno, first.col_offset)  # type: ignore[attr-defined]
    end = (last.end_lineno, last.end_col_offset)  # type: ignore[attr-defined]
    return start <= place < end


def _reraises(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return bool(_EXITS.intersection(chain_of(node.func)[-1:]))
    return isinstance(node, ast.Raise)


def _expects_exception(manager: ast.expr, named: set[str]) -> bool:
    """Say whether a context is there for an error: ``pytest.raises(ValueError)``, ``suppress``."""
    if not isinstance(manager, ast.Call):
        return False
    (name,) = chain_of(manager.func)[-1:] or ("",)
    given = [*manager.args[: 1 if name != "suppress" else None]]
    given += [each.value for each in manager.keywords if each.arg == "expected_exception"]
    errors = _exceptions(given) - _ALL
    if name == "suppress":
        return bool(named) and all(any(_is_a(error, each) for each in errors) for error in named)
    return name in _RAISES and any(
        not named or any(_is_a(error, each) for error in named) for each in errors
    )


def _exceptions(nodes: Iterable[ast.expr]) -> set[str]:
    """Return the exceptions that are named, each by the last part of its name."""
    found: set[str] = set()
    for node in nodes:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        found.update(name for each in parts for name in chain_of(each)[-1:])
    return found


def _is_a(error: str, other: str) -> bool:
    if error == other:
        return True
    one, base = getattr(builtins, error, None), getattr(builtins, other, None)
    return isinstance(one, type) and isinstance(base, type) and issubclass(one, base)


def _reads_signature(node: ast.AST) -> bool:
    calls = (each for each in nodes_in(node) if isinstance(each, ast.Call))
    return any(_SIGNATURES.intersection(chain_of(each.func)[-1:]) for each in calls)


def _names_in(node: ast.AST) -> Iterator[str]:
    return (each.id for each in nodes_in(node) if isinstance(each, ast.Name))
