"""Turn an old call into the new one by minimal edits, where arguments can stay."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from kdoctor.model import Edit, Hole, Precedence, Span
from kdoctor.rewrite.arguments import separator_before_new
from kdoctor.rewrite.binding import Argument
from kdoctor.rewrite.build import Builder, joined
from kdoctor.rewrite.call_items import Item
from kdoctor.rewrite.precedence import precedence_of


class _Progress(Struct):
    """How far the argument list is written: a positional argument cannot follow a keyword."""

    positions: int = 0
    keywords: bool = False
    last_positional: Argument | None = None


def edits_in_place(builder: Builder, items: list[Item]) -> list[Edit] | None:
    """Return the edits inside the argument list, None where the call must be built anew."""
    arguments = builder.binding.arguments
    by_argument = _items_by_argument(items, arguments)
    if by_argument is None:
        return None
    progress = _Progress()
    edits: list[Edit] = []
    for argument in arguments:
        changed = _keep(builder, argument, by_argument[id(argument)], progress)
        if changed is None:
            return None
        edits += changed
    kept = {id(item) for item in by_argument.values()}
    added = _add(builder, [item for item in items if id(item) not in kept], progress)
    return None if added is None else _alone(builder, [*edits, *added])


def _items_by_argument(items: list[Item], arguments: Iterable[Argument]) -> dict[int, Item] | None:
    """Return which new argument each old one stands in, None unless that is one to one."""
    found: dict[int, Item] = {}
    for argument in arguments:
        holders = [
            item
            for item in items
            if item.passed is argument or (item.passed is None and argument.parameter in item.reads)
        ]
        if len(holders) != 1 or len(holders[0].reads) != 1:
            return None
        found[id(argument)] = holders[0]
    distinct = {id(item) for item in found.values()}
    return found if len(distinct) == len(found) else None


def _keep(
    builder: Builder, argument: Argument, item: Item, progress: _Progress
) -> list[Edit] | None:
    """Return what must change about one argument that stays in its place."""
    may_stay_positional = not progress.keywords and item.slot.position == progress.positions
    if argument.keyword is None and may_stay_positional:
        keyword = None
    elif item.slot.keyword is not None:
        keyword = item.slot.keyword
    elif may_stay_positional:
        keyword = None
    else:
        return None
    if keyword is None:
        progress.positions += 1
        progress.last_positional = argument
    progress.keywords = progress.keywords or keyword is not None
    module = builder.module
    value = module.outer_span(argument.value)
    as_it_was = item.passed is argument
    if as_it_was and keyword == argument.keyword:
        return []
    if as_it_was and keyword is not None and argument.arg.keyword is not None:
        return [Edit(module.span(argument.arg.keyword), (keyword,))]
    start = value.start
    if argument.arg.keyword is not None and keyword != argument.keyword:
        start = module.span(argument.arg.keyword).start
        if "#" in module.text[start : value.start]:
            return None  # a comment between the keyword and its value
    elif argument.arg.keyword is not None:
        keyword = None  # it stands before the value already
    hole = Hole(value, Precedence.LAMBDA, precedence_of(argument.value))
    inner = (hole,) if as_it_was else builder.item_parts(item)
    prefix = "" if keyword is None else f"{keyword}="
    return [Edit(Span(start, value.end), joined((prefix, *inner)))]


def _add(builder: Builder, items: list[Item], progress: _Progress) -> list[Edit] | None:
    """Return the insertions of the arguments that the old call did not have."""
    by_position: list[str | Hole] = []
    by_keyword: list[str | Hole] = []
    last = progress.last_positional
    before = _last(builder)
    separator = ", " if before is None else separator_before_new(builder.module, before.arg)
    for item in items:
        fits = item.slot.position == progress.positions and last is not None and not by_keyword
        if item.keyword is None and fits:
            by_position += [", ", *builder.item_parts(item)]
            progress.positions += 1
        elif item.slot.keyword is not None:
            by_keyword += [f"{separator}{item.slot.keyword}=", *builder.item_parts(item)]
        else:
            return None
    if (by_position or by_keyword) and not builder.binding.arguments:
        return None
    edits: list[Edit] = []
    for parts, argument in ((by_position, last), (by_keyword, _last(builder))):
        if parts and argument is not None:
            end = builder.module.outer_span(argument.value).end
            edits.append(Edit(Span(end, end), joined(tuple(parts))))
    return edits


def _last(builder: Builder) -> Argument | None:
    arguments = builder.binding.arguments
    return arguments[-1] if arguments else None


def _alone(builder: Builder, edits: list[Edit]) -> list[Edit]:
    """Give a generator its parentheses if it is the sole argument no longer."""
    if not edits or len(builder.binding.arguments) != 1:
        return edits
    value = builder.binding.arguments[0].value
    span = builder.module.outer_span(value)
    if precedence_of(value) is not Precedence.ANY or any(
        edit.span != Span(span.end, span.end) for edit in edits
    ):
        return edits
    hole = Hole(span, Precedence.LAMBDA, Precedence.ANY)
    return [Edit(span, (hole,)), *edits]
