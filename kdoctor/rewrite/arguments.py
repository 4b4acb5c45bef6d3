"""Remove arguments from a call."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import libcst as cst

from kdoctor.model import Edit, Span
from kdoctor.rewrite.source_lines import LINE_BREAK, margin
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants


def remove_arguments(
    module: Module, call: cst.Call, gone: Collection[cst.Arg]
) -> list[Edit] | None:
    """Return the edits that remove ``gone``, None if a comment or a name would be lost.

    What stays keeps its text, its comments and its line breaks.
    """
    if any(isinstance(part, cst.NamedExpr) for each in gone for part in descendants(each.value)):
        return None  # what it binds may be read below
    edits: list[Edit] = []
    removed = [any(each is arg for each in gone) for arg in call.args]
    first = next((index for index, each in enumerate(removed) if each), 0)
    for index, is_gone in enumerate([*removed, False]):
        if is_gone:
            continue
        if index and removed[index - 1]:
            span = _span(module, call, first, index - 1)
            if span is None:
                return None
            edits.append(Edit(span, ()))
        first = index + 1
    return edits


def _span(module: Module, call: cst.Call, first: int, last: int) -> Span | None:
    """Return what goes with the arguments ``first`` to ``last``: their commas and blanks."""
    args, text = call.args, module.text
    start, end = module.span(args[first]).start, module.outer_span(args[last].value).end
    for index in range(first, last + 1):
        value = module.outer_span(args[index].value)
        begin = module.span(args[index]).start
        after = module.span(args[index + 1]).start if index < last else value.end
        if "#" in text[begin : value.start] + text[value.end : after]:
            return None
    if last + 1 < len(args):
        following = module.span(args[last + 1]).start
        gap = text[end:following]
        if "#" not in gap:
            return argument_with_separator(text, Span(start, end), following)
        # The comment stays where it is: on the line of what stood before.
        stop = end + gap.index(",") + 1 if "," in gap.partition("#")[0] else None
        return None if stop is None else Span(_after_a_comma(text, start), stop)
    before = module.outer_span(args[first - 1].value).end if first else start
    if first and "#" not in text[before:start]:
        return Span(before, end)
    comma = module.comma_after(args[last])
    if comma is not None:
        if "#" in text[end : comma.start]:
            return None
        end = comma.end
    # A comment stays on its line, and what ends the call off it.
    return Span(
        _line_break_before(text, start) if first and _ends_a_line(text, end) else start, end
    )


def _ends_a_line(text: str, place: int) -> bool:
    """Say whether nothing but blanks follows on the line."""
    return LINE_BREAK.match(text[place:].lstrip(" \t")) is not None


def _line_break_before(text: str, place: int) -> int:
    """Return where the line break before ``place`` begins, ``place`` where more stands between."""
    above = text[:place].rstrip(" \t")
    return len(above.rstrip("\r\n")) if above.endswith(("\n", "\r")) else place


def lost_with(values: Iterable[cst.BaseExpression]) -> str:
    """Return what is lost where arguments with these values go, "" where nothing is."""
    is_made = any(isinstance(each, cst.Call | cst.Await | cst.NamedExpr) for each in values)
    return "the call that computes its value is no longer made" if is_made else ""


def argument_with_separator(text: str, argument: Span, following: int) -> Span:
    """Return an argument with its comma and the blanks up to the next one.

    Where another argument stands before it on its line, the line break behind it stays.
    """
    gap = text[argument.end : following]
    if not LINE_BREAK.search(gap) or not text[: argument.start].rstrip(" \t").endswith(","):
        return Span(argument.start, following)
    return Span(_after_a_comma(text, argument.start), argument.end + gap.index(",") + 1)


def separator_before_new(module: Module, last: cst.Arg) -> str:
    """Return the separator before a new last argument, in the call's layout.

    Not where a comment stands behind the last one, which would then be about the new one.
    """
    if module.comma_after(last) is None:
        return ", "
    span = module.span(last)
    indent = margin(module.text, span.start)
    rest = module.text[span.end :].partition("\n")[0]
    return ", " if indent.strip() or rest.strip() != "," else f",\n{indent}"


def _after_a_comma(text: str, start: int) -> int:
    """Return where the blanks between a comma and an argument begin, else the argument."""
    end = len(text[:start].rstrip(" \t"))
    return end if text[:end].endswith(",") else start
