"""What each finding of a module hangs on: the definition around it, and its own source."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.engine.fingerprints import essence
from kdoctor.engine.result import Anchor
from kdoctor.model import Place, Span
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants


def anchors_of(module: Module, places: Iterable[Place]) -> dict[Place, Anchor]:
    """Return what stays of each place of a module, whatever moves around it."""
    waiting = _definitions(module)[::-1]
    around: list[tuple[Span, str]] = []
    anchors = {}
    for place in sorted(places):
        start = place.span.start
        while waiting and waiting[-1][0].start <= start:
            around.append(waiting.pop())
            # Definitions nest: what ended before this one starts is around nothing any more.
            around = [each for each in around if each[0].end > around[-1][0].start]
        around = [each for each in around if each[0].end > start]
        source = essence(module.text[start : place.span.end])
        anchors[place] = Anchor(around[-1][1] if around else "", source)
    return anchors


def _definitions(module: Module) -> list[tuple[Span, str]]:
    """List where each class and function stands, and its qualified name, in source order."""
    return [
        (module.span(node), _qualified(node, module))
        for node in descendants(module.tree)
        if isinstance(node, cst.ClassDef | cst.FunctionDef)
    ]


def _qualified(node: cst.ClassDef | cst.FunctionDef, module: Module) -> str:
    outer = (
        each.name.value
        for each in module.ancestors(node)
        if isinstance(each, cst.ClassDef | cst.FunctionDef)
    )
    return ".".join([*reversed([node.name.value, *outer])])
