"""Which code of a module surely runs as the module is imported."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.model import Span
from kdoctor.syntax import Module
from kdoctor.syntax.walk import children


def later(module: Module) -> tuple[Span, ...]:
    """Return the outermost stretches of code that an import does not, or may not, run.

    These are the bodies of functions, what stands under a condition, and a ``try`` that survives
    its failure. A class's and a function's name is one, too: what is wrong with a class as a whole
    is met when it is used.
    """
    spans: list[Span] = []
    waiting: list[cst.CSTNode] = [module.tree]
    while waiting:
        node = waiting.pop()
        apart = list(_apart(node))
        spans += (module.outer_span(each) for each in apart)
        waiting += (each for each in children(node) if each not in apart)
    return tuple(sorted(spans))


def _apart(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a node that do not surely run when the node does."""
    match node:
        case cst.FunctionDef(name=name, body=body):
            yield from (name, body)
        case cst.ClassDef(name=name):
            yield name
        case cst.Lambda(body=body) | cst.While(body=body):
            yield body
        case cst.GeneratorExp():
            yield node.elt
        case cst.If(body=body, orelse=orelse):
            yield body
            if orelse is not None:
                yield orelse
        case cst.IfExp(body=body, orelse=other):
            yield from (body, other)
        case cst.BooleanOperation(right=right):
            yield right
        case cst.Match(cases=cases):
            yield from cases
        case cst.Try(handlers=handlers) | cst.TryStar(handlers=handlers):
            yield from handlers
            if any(not _passes_on(each) for each in handlers):
                yield node.body
        case _:
            return


def _passes_on(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """Say whether a handler ends with ``raise``."""
    body = handler.body.body
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Raise)
