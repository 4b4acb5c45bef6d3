"""Take arguments out of a call."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kdoctor.model import Edit, Span
from kdoctor.syntax import Module


def without(module: Module, call: cst.Call, gone: Collection[cst.Arg]) -> list[Edit] | None:
    """Return the edits that take ``gone`` out, None where a comment would go with them.

    What stays keeps its text, its comments and its line breaks.
    """
    edits: list[Edit] = []
    run: list[int] = []
    removed = [any(each is arg for each in gone) for arg in call.args]
    for index, is_gone in enumerate([*removed, False]):
        if is_gone:
            run.append(index)
            continue
        if run:
            span = _span(module, call, run[0], run[-1])
            if _holds_a_comment(module, call, run, span):
                return None
            edits.append(Edit(span, ()))
            run = []
    return edits


def _span(module: Module, call: cst.Call, first: int, last: int) -> Span:
    """Return what goes with the arguments ``first`` to ``last``: their commas and blanks."""
    args = call.args
    end = module.outer_span(args[last].value).end
    if last + 1 < len(args):
        return Span(module.span(args[first]).start, module.span(args[last + 1]).start)
    if first:
        return Span(module.outer_span(args[first - 1].value).end, end)
    # All of them: nothing stays between the parentheses but what the user put there.
    comma = args[last].comma
    if isinstance(comma, cst.Comma):
        rest = module.text[end : module.span(call).end - 1]
        end += rest.index(",") + 1 if "," in rest else 0
    return Span(module.span(args[first]).start, end)


def _holds_a_comment(module: Module, call: cst.Call, run: list[int], span: Span) -> bool:
    offset, text = span.start, module.text
    for index in run:
        value = module.outer_span(call.args[index].value)
        if "#" in text[offset : value.start] or "#" in module.text[value.start : value.end]:
            return True
        offset = value.end
    return "#" in text[offset : span.end]
