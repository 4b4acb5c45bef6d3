"""Line-independent identity of findings: enclosing definition, own source, context."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.engine.identity.fingerprints import normalized_source
from kdoctor.engine.result import Anchor
from kdoctor.model import Place, Span
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import children

_CONTEXT = 120  # characters: about a line, however many lines it is spread over


def finding_anchors(module: Module, places: Iterable[Place]) -> dict[Place, Anchor]:
    """Return the identity of each place of a module, stable under moved lines."""
    anchors: dict[Place, Anchor] = {}
    waiting = [_Part(module.tree, "", "", tuple(sorted(places)))]
    while waiting:
        part = waiting.pop()
        own, parts = part.split(module)
        for place in own:
            source = normalized_source(module.text[place.span.start : place.span.end])
            anchors[place] = Anchor(part.scope, source, part.context or source)
        waiting += parts
    return anchors


class _Part(Struct, frozen=True):
    """A node with the places inside it, in order.

    ``context`` is the source of the largest node around it that is about one line long, "" where
    that begins further down.
    """

    node: cst.CSTNode
    scope: str
    context: str
    places: Sequence[Place]

    def split(self, module: Module) -> tuple[list[Place], list[_Part]]:
        """Split the places into those of this node and those of its child nodes."""
        scope = self.scope
        if isinstance(self.node, cst.ClassDef | cst.FunctionDef):
            scope = f"{scope}.{self.node.name.value}".removeprefix(".")
        own, parts, rest = list[Place](), list[_Part](), deque(self.places)
        for child in children(self.node):
            if not rest:
                break
            if isinstance(child, cst.Parameters) and _is_in_body(self.node, rest[0], module):
                continue  # where they stand, Python's own tree does not tell
            span, inside = module.outer_span(child), list[Place]()
            while rest and rest[0].span.start < span.end:
                place = rest.popleft()
                (inside if span.covers(place.span) else own).append(place)
            if inside:
                context = self.context or _context(child, span, module)
                parts.append(_Part(child, scope, context, inside))
        return [*own, *rest], parts


def _is_in_body(node: cst.CSTNode, place: Place, module: Module) -> bool:
    """Say whether a place is in the body of a function, not in its header."""
    match node:
        case cst.FunctionDef(body=cst.IndentedBlock() as body) | cst.Lambda(body=body):
            return place.span.start >= module.outer_span(body).start
    return False


def _context(node: cst.CSTNode, span: Span, module: Module) -> str:
    # A whole block of code is no context, however short it is: its lines change one by one.
    if isinstance(node, cst.BaseCompoundStatement | cst.BaseSuite):
        return ""
    if span.end - span.start > 5 * _CONTEXT:  # no comment is that long
        return ""
    source = normalized_source(module.text[span.start : span.end])
    return source if len(source) <= _CONTEXT else ""
