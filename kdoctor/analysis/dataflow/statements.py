"""Insert, remove and find whole-line statements."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.model import Edit, Span
from kdoctor.rewrite.source_lines import margin, whole_line
from kdoctor.syntax import Module


class StatementSlot(Struct, frozen=True):
    """A small statement on a line (or lines) of its own."""

    statement: cst.BaseSmallStatement
    line: cst.SimpleStatementLine
    block: Sequence[cst.CSTNode]
    span: Span
    indent: str

    def behind(self, text: str) -> Edit:
        """Return the edit that inserts a statement on the next line."""
        return Edit(Span(self.span.end, self.span.end), (f"\n{self.indent}{text}",))

    @property
    def assigns_once(self) -> bool:
        """Whether it is a single assignment: ``a.b = value``."""
        return isinstance(self.statement, cst.Assign) and len(self.statement.targets) == 1

    @property
    def above(self) -> Sequence[cst.CSTNode]:
        """The preceding statements of the same block, from the top."""
        return self.block[: next(i for i, each in enumerate(self.block) if each is self.line)]


def statement_slot(module: Module, node: cst.CSTNode) -> StatementSlot | None:
    """Return the statement around ``node``, None if it shares its line."""
    line = next((e for e in module.ancestors(node) if isinstance(e, cst.SimpleStatementLine)), None)
    if line is None or len(line.body) != 1:
        return None
    block = module.parent(line)
    if not isinstance(block, cst.IndentedBlock | cst.Module):
        return None
    if any(isinstance(each, cst.Lambda | cst.BaseComp) for each in _up_to(module, node, line)):
        return None  # it is made later, or several times
    span = module.span(line.body[0])
    indent = margin(module.text, span.start)
    if indent.strip():
        return None
    return StatementSlot(line.body[0], line, block.body, span, indent)


def insert_at_body_start(module: Module, function: cst.FunctionDef, text: str) -> Edit | None:
    """Return the edit that inserts a statement first in a function, below its docstring.

    None where the body stands on the line of its ``def``, or is a docstring alone.
    """
    body = function.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    first = body.body[0]
    if is_docstring(first):
        if len(body.body) == 1:
            return None
        first = body.body[1]
    start = module.span(first).start
    indent = margin(module.text, start)
    if indent.strip():
        return None
    return Edit(Span(start, start), (f"{text}\n{indent}",))


def remove_statement(module: Module, call: cst.Call) -> Edit:
    """Return the edit that removes a call that is a statement.

    ``pass`` takes its place where its block, or the rest of its line, would miss it.
    """
    whole = whole_line(module, module.span(call))
    if whole is None or is_only_statement_of_block(module, call):
        return Edit(module.span(call), ("pass",))
    return Edit(whole, ())


def is_only_statement_of_block(module: Module, call: cst.Call) -> bool:
    """Say whether a call is the only statement of its block."""
    line = module.parent(module.parent(call) or call)
    block = None if line is None else module.parent(line)
    return not isinstance(block, cst.Module) and len(getattr(block, "body", ())) == 1


def free_name(module: Module, at: cst.CSTNode, wanted: str) -> str:
    """Return an unused name at ``at``: ``wanted``, ``wanted_2``."""
    scope = module.scope_of(at)
    candidates = (wanted, *(f"{wanted}_{number}" for number in range(2, 1000)))
    return next(each for each in candidates if scope.owner(each) is None)


def is_docstring(node: cst.CSTNode) -> bool:
    """Say whether a statement is a string literal."""
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.BaseString)
    )


def _up_to(module: Module, node: cst.CSTNode, end: cst.CSTNode) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for each in module.ancestors(node):
        if each is end:
            break
        found.append(each)
    return found
