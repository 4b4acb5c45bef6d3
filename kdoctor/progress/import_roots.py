"""Code that always runs when a module is imported, and the modules it imports.

Read off Python's own ``ast``: this is asked of every file that may lead to Keras, also of those in
which no rule can fire.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kdoctor.model import Span
from kdoctor.modules.module_summary import parsed

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?")
_NAMED = re.compile(r"(?:async\s+)?(?:class|def)\s+(\w+)")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class OwnImport:
    """A module that is named by an import that runs as the file starts. ``at`` is its offset.

    It need not be of the tree.
    """

    at: int
    module: str
    level: int


@dataclass(frozen=True, slots=True)
class ImportRoot:
    """How a module starts.

    ``later`` are the outermost stretches of code that an import does not, or may not, run: the
    bodies of functions, what stands under a condition, and a ``try`` that survives its failure. The
    name of a class, of a function or of a parameter is one, too: what is wrong with a definition as
    a whole is met when it is used. ``bases`` are the base classes, which are read, and not called.
    """

    later: tuple[Span, ...]
    imports: tuple[OwnImport, ...]
    bases: tuple[Span, ...] = ()

    def runs(self, span: Span) -> bool:
        """Say whether code surely runs as the module is imported."""
        return not any(each.covers(span) for each in self.later)

    def has_base(self, span: Span) -> bool:
        """Say whether a base class stands there."""
        return any(each.covers(span) for each in self.bases)


def start_of(text: str) -> ImportRoot | None:
    """Return how a module with this text starts, None where Python cannot parse it."""
    tree = parsed(text)
    if tree is None:
        return None
    offsets = _Offsets(text)
    later: list[Span] = []
    imports: list[OwnImport] = []
    bases: list[Span] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports += _imported(node, offsets.start(node))
        if isinstance(node, _Function | ast.ClassDef):
            later += offsets.name(node)
        if isinstance(node, ast.ClassDef):
            names = (each for each in node.bases if not isinstance(each, ast.Call))
            bases += (offsets.span([each]) for each in names)
        apart = _apart(node)
        later += (offsets.span(block) for block in apart if block)
        kept = {id(each) for block in apart for each in block}
        waiting += (each for each in ast.iter_child_nodes(node) if id(each) not in kept)
    imports.sort(key=lambda each: each.at)
    return ImportRoot(tuple(sorted(later)), tuple(imports), tuple(sorted(bases)))


def _apart(node: ast.AST) -> list[Sequence[ast.AST]]:
    """Return the parts of a node that do not surely run when the node does, as blocks."""
    match node:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.While(body=body):
            return [body]
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Lambda(body=value) | ast.GeneratorExp(elt=value):
            return [[value]]
        case ast.IfExp(body=value, orelse=other):
            return [[value], [other]]
        case ast.BoolOp(values=[_, *others]):
            return [others]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            survives = any(not isinstance(each.body[-1], ast.Raise) for each in handlers)
            return [*(each.body for each in handlers), *([node.body] if survives else [])]
    return []


def _imported(node: ast.Import | ast.ImportFrom, at: int) -> Iterator[OwnImport]:
    if isinstance(node, ast.Import):
        yield from (OwnImport(at, alias.name, 0) for alias in node.names)
        return
    module = node.module or ""
    yield OwnImport(at, module, node.level)
    for alias in node.names:
        if alias.name != "*":
            below = f"{module}.{alias.name}" if module else alias.name
            yield OwnImport(at, below, node.level)


class _Offsets:
    """Where nodes stand, in characters: ``ast`` counts lines, and bytes within them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _LINE.findall(text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        """Return where a node starts, with its decorators."""
        parts = [*getattr(node, "decorator_list", ()), node]
        return min(self._at(each.lineno, each.col_offset) for each in parts)

    def span(self, block: Sequence[ast.AST]) -> Span:
        """Return where nodes in a row stand."""
        last: ast.AST = block[-1]
        return Span(self.start(block[0]), self._at(last.end_lineno, last.end_col_offset))  # type: ignore[attr-defined]

    def name(self, node: _Function | ast.ClassDef) -> Iterator[Span]:
        """Yield where the name of a definition stands, and those of its parameters."""
        for each in ast.walk(node.args) if isinstance(node, _Function) else ():
            if isinstance(each, ast.arg):
                at = self._at(each.lineno, each.col_offset)
                yield Span(at, at + len(each.arg))
        found = _NAMED.match(self._text, self._at(node.lineno, node.col_offset))
        if found:
            yield Span(*found.span(1))

    def _at(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="replace"))
        return self._starts[line - 1] + column
