"""Charts as inline SVG without scripts; widths in percent keep text readable on a phone.

Each effort has one colour and one pattern on the whole page. All values stand beside the marks or
in a table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from kdoctor.progress import Burndown, Counts, Effort, Sample
from kdoctor.report.migration.elements import Markup, element, join

_KEYS = {Effort.SAFE: "safe", Effort.UNSAFE: "unsafe", Effort.BY_HAND: "by-hand"}
_HEIGHT = 260
_TOP, _BOTTOM = 16, 22  # of the plot, for the labels
_LEFT, _PLOT = 8, 69  # percent of the width; labels stand beside it
_LAST = 0.04  # share of the time axis that the newest commit takes
_LINE = 17  # pixels between two labels


def patterns() -> Markup:
    """Return the fill patterns of the efforts, to be placed once on a page."""
    stripes = element("path", d="M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4", class_="stripe")
    dots = join(
        element("circle", cx=2, cy=2, r="1.4", class_="dot"),
        element("circle", cx=6, cy=6, r="1.4", class_="dot"),
    )
    return element(
        "svg",
        element(
            "defs",
            _pattern("unsafe", stripes),
            _pattern("by-hand", dots),
        ),
        width=0,
        height=0,
        aria_hidden="true",
        focusable="false",
        class_="patterns",
    )


def _pattern(key: str, marks: Markup) -> Markup:
    ground = element("rect", width=8, height=8, class_=f"ground-{key}")
    return element(
        "pattern", ground, marks, id=f"fill-{key}", width=8, height=8, patternUnits="userSpaceOnUse"
    )


def swatch(effort: Effort) -> Markup:
    """Return a small sample of an effort's colour and pattern."""
    mark = element("rect", width=12, height=12, class_=f"mark-{_KEYS[effort]}")
    return element(
        "svg", mark, width=12, height=12, aria_hidden="true", focusable="false", class_="swatch"
    )


def bar(counts: Counts, most: int) -> Markup:
    """Return a bar of counts by effort; ``most`` findings are the whole width.

    It is decoration: the numbers stand beside it.
    """
    at = 0
    parts = []
    for effort in Effort:
        if counts[effort]:
            parts.append(_rect(at / most, counts[effort] / most, 0, 14, _KEYS[effort]))
        at += counts[effort]
    return _strip(*parts)


def share(part: int, whole: int) -> Markup:
    """Return a bar that shows a part of a whole."""
    rest = element("rect", x="0", y=0, width="100%", height=14, class_="mark-rest")
    return _strip(rest, _rect(0, part / whole if whole else 0, 0, 14, "plain"))


def _strip(*parts: Markup) -> Markup:
    return element(
        "svg", *parts, width="100%", height=14, aria_hidden="true", focusable="false", class_="bar"
    )


def _rect(x: float, width: float, y: float, height: float, key: str) -> Markup:
    return element(
        "rect", x=_percent(x), y=_number(y), width=_percent(width), height=_number(height),
        class_=f"mark-{key}",
    )  # fmt: skip


def steps(history: Burndown, name: str) -> Markup:
    """Return the burndown chart: findings over time, stacked by effort."""
    samples = history.samples
    most = _ceiling(max((each.left.total for each in samples), default=0))
    starts = _starts(samples)
    plot: list[Markup] = []
    for index, sample in enumerate(samples):
        end = starts[index + 1] if index + 1 < len(samples) else 1.0
        plot += _column(sample.left, most, starts[index], end - starts[index])
    first, last = samples[0], samples[-1]
    told = (
        f"Findings left in {name}: {first.left.total} on {day(first.commit.time)}, "
        f"{last.left.total} on {day(last.commit.time)}. The table below has every value."
    )
    return element(
        "svg",
        element("title", "Burndown"),
        element("desc", told),
        element("svg", *_grid(most), *plot, x=f"{_LEFT}%", width=f"{_PLOT}%", height=_HEIGHT),
        *_axis(most),
        *_labels(last.left, most),
        element("text", day(first.commit.time), x=f"{_LEFT}%", y=_HEIGHT - 4, class_="tick"),
        element(
            "text", day(last.commit.time), x=f"{_LEFT + _PLOT}%", y=_HEIGHT - 4, text_anchor="end",
            class_="tick",
        ),
        role="img",
        width="100%",
        height=_HEIGHT,
        class_="chart",
    )  # fmt: skip


def _column(left: Counts, most: int, x: float, width: float) -> Iterator[Markup]:
    base = 0
    for effort in Effort:
        if left[effort]:
            top = _y(base + left[effort], most)
            yield _rect(x, width, top, _y(base, most) - top, _KEYS[effort])
        base += left[effort]


def _grid(most: int) -> Iterator[Markup]:
    for value in _ticks(most):
        y = _number(_y(value, most))
        kind = "grid" if value else "axis"
        yield element("line", x1=0, x2="100%", y1=y, y2=y, class_=kind)


def _axis(most: int) -> Iterator[Markup]:
    for value in _ticks(most):
        y = _number(_y(value, most) + 4)
        yield element("text", value, x=f"{_LEFT - 1}%", y=y, text_anchor="end", class_="tick")


def _labels(left: Counts, most: int) -> Iterator[Markup]:
    """Yield the name and number of each effort beside its last value, apart from each other."""
    base, floor = 0, float(_HEIGHT - _BOTTOM)
    for effort in Effort:
        if not left[effort]:
            continue
        middle = _y(base + left[effort] / 2, most) + 4
        floor = min(middle, floor)
        yield element(
            "text",
            f"{left[effort]} {effort}",
            x=f"{_LEFT + _PLOT + 1}%",
            y=_number(floor),
            class_="label",
        )
        floor -= _LINE
        base += left[effort]


def _starts(samples: Sequence[Sample]) -> list[float]:
    """Return each commit's position on the time axis, from 0 to 1.

    A commit is no earlier than those before it. Where all have one time they stand evenly.
    """
    times: list[int] = []
    for sample in samples:
        times.append(max([sample.commit.time, *times[-1:]]))
    whole = times[-1] - times[0]
    if not whole:
        return [index / len(samples) for index in range(len(samples))]
    return [(each - times[0]) / whole * (1 - _LAST) for each in times]


def _ceiling(value: int) -> int:
    """Round up to a number that is easily halved.

    >>> [_ceiling(each) for each in (0, 3, 17, 113, 300, 1021)]
    [2, 4, 20, 120, 300, 1200]
    """
    size: int = 10 ** max(0, len(str(value)) - 1)
    factors = (2.0, 4, 6, 8, 10) if size == 1 else (1.0, 1.2, 1.6, 2, 3, 4, 6, 8, 10)
    scales: Iterator[float] = (size * each for each in factors)
    return int(next(scale for scale in scales if scale >= value))


def _ticks(most: int) -> tuple[int, ...]:
    return (0, most // 2, most)


def _y(value: float, most: int) -> float:
    return _TOP + (1 - value / most) * (_HEIGHT - _TOP - _BOTTOM)


def day(seconds: int) -> str:
    """Return the day in UTC.

    >>> day(0)
    '1970-01-01'
    """
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def _percent(part: float) -> str:
    return f"{_number(part * 100)}%"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
