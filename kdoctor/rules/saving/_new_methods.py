"""Methods that a fix writes at the end of a class."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.model import Edit, Span
from kdoctor.rewrite.source_lines import line_end, margin
from kdoctor.syntax import Module


def at_the_end(module: Module, node: cst.ClassDef, methods: dict[str, str]) -> Edit | None:
    """Return the edit that adds methods of one line each: what follows ``def``, and the line.

    None where the class, or its first method, stands on the line of something else.
    """
    first = next(iter(methods_in(node).values()), None)
    if not isinstance(node.body, cst.IndentedBlock) or first is None:
        return None
    indent = margin(module.text, module.span(first).start)
    outer = margin(module.text, module.span(node).start)
    step = indent.removeprefix(outer)
    if indent.strip() or outer.strip() or not step:
        return None
    lines = "".join(
        f"\n\n{indent}def {head}:\n{indent}{step}{line}" for head, line in methods.items()
    )
    at = line_end(module.text, module.span(node.body.body[-1]).end)
    return Edit(Span(at, at), (lines,))
