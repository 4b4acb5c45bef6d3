"""Reformat statements that edits make too long."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from msgspec.structs import replace

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Edit, Span
from kdoctor.rewrite.import_lines import LINE_LIMIT
from kdoctor.rewrite.kept_layout import preserves_layout
from kdoctor.rewrite.layout import has_same_tokens, realigned, rejoined, statements, wrapped
from kdoctor.rewrite.render import render
from kdoctor.rewrite.source_lines import line_start, margin
from kdoctor.syntax import Module

_INDENT = pattern(r"^([ \t]+)\S", re.MULTILINE)
_TEXT = pattern(r"\s*[rRuUbB]?[\"']")
# A line of a text alone, as in the message of an error: nothing in it can be broken.
_ONLY_TEXT = pattern(r"\s*[rRuUbBfF]{0,2}(?P<quote>[\"'])[^\"']*(?P=quote)[,)\]}]*\s*$")
_MARK = pattern(r"\s*#\s*(?:type:|noqa|pylint:|pragma:|nosec).*$")
# What people set, where their lines are longer than the usual limit.
_LIMITS = (LINE_LIMIT, 100, 120)


def line_limit_of(module: Module, setting: int | None) -> int:
    """Return a file's line length limit: configured, or the one its code keeps to."""
    return _limit_in_use(module) if setting is None else setting


def with_layout(module: Module, edits: Sequence[Edit], limit: int) -> list[Edit]:
    """Return equivalent edits that break lines that would be too long.

    Lines below a bracket that moved move with it. What was too long before stays as it is.
    """
    edits = list(dict.fromkeys(edits))
    regions = _regions(module)
    edits = [
        _with_short_lines(module, each, limit) if not _region_of(regions, each) else each
        for each in edits
    ]
    changed = dict(_changed(module, edits, limit))
    if not changed:
        return edits
    left = [edit for edit in edits if _region_of(regions, edit) not in changed]
    return [*left, *(Edit(region, (text,)) for region, text in changed.items())]


def _changed(module: Module, edits: Sequence[Edit], limit: int) -> Iterator[tuple[Span, str]]:
    """Yield the statements whose layout changes, with their new text."""
    regions = _regions(module)
    inside: dict[Span, list[Edit]] = {}
    for edit in edits:
        region = _region_of(regions, edit)
        if region is not None:
            inside.setdefault(region, []).append(edit)
    written = _Written(module, edits)
    for region, own in inside.items():
        if preserves_layout(module, region, own, limit) or not written.may_change(region):
            continue
        old = _with_plain_breaks(module.text[region.start : region.end])
        new = _with_plain_breaks(render(module.text, own, region, "\n"))
        laid = _layout(old, new, limit, _unit(module))
        if laid != new and has_same_tokens(laid, new):
            yield region, laid


def _with_short_lines(module: Module, edit: Edit, limit: int) -> Edit:
    """Return an edit that writes whole statements, with lines that are short enough."""
    before = margin(module.text, edit.span.start)
    if before.strip() or not all(isinstance(each, str) for each in edit.parts):
        return edit
    text = before + "".join(map(str, edit.parts))
    laid = _layout("", text, limit, _unit(module))
    if laid == text or not has_same_tokens(laid, text):
        return edit
    return replace(edit, parts=(laid.removeprefix(before),))


def _layout(old: str, new: str, limit: int, unit: str) -> str:
    new = rejoined(old, realigned(old, new), limit) if "\n" in old else new
    if _too_long(new, limit) <= _too_long(old, limit):
        return new
    parts, offset = list[str](), 0
    for start, end in statements(new):
        first = line_start(new, start)
        parts += [new[offset:first], wrapped(new[first:end], limit, unit)]
        offset = end
    return "".join([*parts, new[offset:]])


def _too_long(text: str, limit: int) -> int:
    return sum(len(line) > limit for line in text.split("\n"))


@once
def _regions(module: Module) -> tuple[Span, ...]:
    """Return the lines of each statement of a module, in order."""
    text = module.text
    if "\r" in text.replace("\r\n", ""):
        return ()
    found = (Span(line_start(text, start), end) for start, end in statements(text))
    return tuple(Span(each.start, _end(text, each)) for each in found)


def _end(text: str, region: Span) -> int:
    return region.end - text.endswith("\r", region.start, region.end)


def _region_of(regions: Sequence[Span], edit: Edit) -> Span | None:
    after = bisect.bisect_right(regions, edit.span.start, key=lambda each: each.start)
    region = regions[after - 1] if after else None
    return region if region is not None and _is_in(edit, region) else None


def _is_in(edit: Edit, region: Span) -> bool:
    """Say whether an edit is of a statement; what is put above it is not."""
    is_above = edit.span.start == edit.span.end == region.start
    return region.covers(edit.span) and not is_above


class _Written:
    """Where a module is masked, and where edits change it."""

    def __init__(self, module: Module, edits: Iterable[Edit]) -> None:
        self._unit = module.unit
        self._masks = _masked(module)
        self._edits = _SpanIndex(edit.span for edit in edits)

    def may_change(self, region: Span) -> bool:
        """Say whether all that is written in some lines is known, and lies in one cell."""
        if not self._unit.cell_at(region.start).span.covers(region):
            return False
        return not any(self._masks.meeting(region)) and all(
            map(region.covers, self._edits.meeting(region))
        )


@once
def _masked(module: Module) -> _SpanIndex:
    return _SpanIndex(edit.span for edit in module.unit.masks)


class _SpanIndex:
    """Pieces of a text by their places."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans)
        self._starts = [each.start for each in self._spans]
        # Of those up to each the one that ends last.
        self._longest = list(accumulate(self._spans, lambda *two: max(two, key=_ending)))

    def meeting(self, region: Span) -> Iterator[Span]:
        """Yield those that share characters with a region: of those that start above it one.

        >>> list(_SpanIndex([Span(0, 9), Span(1, 5), Span(5, 6)]).meeting(Span(4, 8)))
        [Span(start=0, end=9), Span(start=5, end=6)]
        """
        first = bisect.bisect_left(self._starts, region.start)
        last = bisect.bisect_left(self._starts, region.end, first)
        above = self._longest[first - 1 : first] if first else []
        for each in (*above, *self._spans[first:last]):
            if region.start < each.end:
                yield each


def _ending(span: Span) -> int:
    return span.end


def _with_plain_breaks(text: str) -> str:
    return text.replace("\r\n", "\n")


@once
def _unit(module: Module) -> str:
    """Return what a block is indented by."""
    found = _INDENT.search(module.text)
    return found.group(1) if found is not None and len(found.group(1)) <= 8 else "    "


@once
def _limit_in_use(module: Module) -> int:
    """Return the limit that the code of a file keeps to: its texts are often longer."""
    longest = 0
    for region in _regions(module):
        lines = module.text[region.start : region.end].splitlines()
        if not _TEXT.match(lines[0]):
            kept = (line for line in lines if not _ONLY_TEXT.match(line))
            longest = max([longest, *(len(_MARK.sub("", line)) for line in kept)])
    return next((each for each in _LIMITS if longest <= each), _LIMITS[-1])
