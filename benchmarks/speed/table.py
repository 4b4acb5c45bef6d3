"""The runs as a table: ratios of medians, held against the goals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.speed.measure import Run
from benchmarks.speed.record import Case

HEADINGS = ("case", "lines", "against", "kdoctor", "peer", "ratio", "goal", "")

_TWO_CORES = "cold, 2 cores"
_ONE_CORE = "cold, one core"
_TITLES = {
    "cold": f"half of the files mention Keras, {_TWO_CORES}",
    "one-core": f"the same, {_ONE_CORE}",
    "one-core-slow": f"the same, {_ONE_CORE}",
    "libcst": f"the same, {_TWO_CORES}",
    "dense": f"densest tree, {_TWO_CORES}",
    "warm": "half of the files mention Keras, warm",
    "commit": "pre-commit: 5 files, one with findings, cold process",
}
_GOALS = {
    ("cold", "ruff"): 4.0,
    ("one-core", "django-upgrade"): 1.0,
    ("one-core-slow", "pyupgrade"): 0.25,
    ("one-core-slow", "flake8"): 0.08,
    ("libcst", "TorchFix"): 0.05,
    ("libcst", "Fixit"): 0.05,
    ("dense", "TorchFix"): 0.06,
    ("dense", "Fixit"): 0.06,
    ("dense", "pylint"): 0.06,
    ("warm", "find -exec cat"): 3.0,
    ("commit", "django-upgrade"): 3.0,
}
_HELP_MS, _PEAK_MB, _FIX, _EXPONENT = 250, 200, 2.0, 1.05
_MILLION = 990_000  # lines, from which the memory is to be the same
_KEEP_THE_SAME = 1.1  # what "the same memory" may differ by


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. ``met``: whether the goal is."""

    case: str
    lines: int | None
    against: str
    ours: str
    theirs: str
    ratio: str
    goal: str
    met: bool

    def cells(self) -> list[str]:
        """Return what stands in the columns."""
        lines = f"{self.lines:,}" if self.lines else ""
        met = "met" if self.met else "**not met**"
        return [
            self.case, lines, self.against, self.ours, self.theirs, self.ratio, self.goal, met,
        ]  # fmt: skip


def lines_of(cases: Mapping[str, Case]) -> Iterator[Line]:
    """Yield the lines of the table, in the order of the issue, for the cases that were run."""
    for (name, peer), goal in _GOALS.items():
        if name in cases and peer in cases[name].runs:
            yield _against(name, cases[name], peer, goal)
    for name, tell in _OTHERS.items():
        if name in cases:
            yield from tell(cases[name])


def page(cases: Mapping[str, Case]) -> str:
    """Return the table as Markdown, and how often each peer ran."""
    rows = [
        "| " + " | ".join(HEADINGS) + " |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |",
        *("| " + " | ".join(line.cells()) + " |" for line in lines_of(cases)),
    ]
    return "\n".join(rows) + "\n"


def exponent(sizes: Mapping[int, float]) -> float:
    """Return b of the least squares fit of seconds = a * lines**b, on logarithms.

    >>> round(exponent({1: 3.0, 2: 6.0, 4: 12.0}), 3)
    1.0
    """
    points = [(math.log(lines), math.log(seconds)) for lines, seconds in sizes.items()]
    slope = statistics.linear_regression(*zip(*points, strict=True)).slope
    return float(slope)


def wall(runs: list[Run]) -> float:
    """Return the median of the wall times."""
    return statistics.median(run.wall for run in runs)


def _against(name: str, case: Case, peer: str, goal: float) -> Line:
    ours, theirs = case.runs["kdoctor"], case.runs[peer]
    ratio = wall(ours) / wall(theirs)
    return Line(
        _TITLES[name],
        case.lines["kdoctor"],
        peer,
        _seconds(ours),
        _seconds(theirs),
        _ratio(ratio),
        f"≤ {goal:g}",
        ratio <= goal,
    )


def _help(case: Case) -> Iterator[Line]:
    milliseconds = statistics.median(run.cpu for run in case.runs["kdoctor"]) * 1000
    told = f"{milliseconds:.0f} ms"
    met = milliseconds <= _HELP_MS
    yield Line("`kdoctor --help`, CPU", None, "", told, "", "", f"≤ {_HELP_MS} ms", met)


def _memory(case: Case) -> Iterator[Line]:
    """Yield the peaks at a million lines and at the most there are, which must be the same."""
    millions = {told: lines for told, lines in case.lines.items() if lines >= _MILLION}
    if not millions:
        return
    shown = [min(millions, key=millions.__getitem__), max(millions, key=millions.__getitem__)]
    peaks = [max(run.peak or 0 for run in case.runs[told]) / 1e6 for told in shown]
    for told, peak in zip(dict.fromkeys(shown), peaks, strict=False):
        rss = max(run.rss for run in case.runs[told]) / 1e6
        yield Line(
            "peak memory of all processes, 2 cores",
            case.lines[told],
            "",
            f"{peak:.0f} MB (the largest process {rss:.0f} MB)",
            "",
            _ratio(peak / peaks[0]),
            f"≤ {_PEAK_MB} MB",
            peak <= _PEAK_MB and peak <= peaks[0] * _KEEP_THE_SAME,
        )


def _fix(case: Case) -> Iterator[Line]:
    ours, theirs = case.runs["fix --apply"], case.runs["scan"]
    ratio = wall(ours) / wall(theirs)
    told = "`fix --apply` on the densest tree"
    against = "`scan` of it"
    yield Line(
        told,
        case.lines["scan"],
        against,
        _seconds(ours),
        _seconds(theirs),
        _ratio(ratio),
        f"≤ {_FIX:g}",
        ratio <= _FIX,
    )


def _growth(case: Case) -> Iterator[Line]:
    sizes = {case.lines[told]: wall(runs) for told, runs in case.runs.items()}
    found = exponent(sizes)
    told = ", ".join(f"{seconds:.1f}" for seconds in sizes.values())
    spread = f"growth from {min(sizes) / 1e6:.2f} to {max(sizes) / 1e6:.2f} million lines"
    yield Line(
        spread,
        None,
        "",
        f"{told} s",
        "",
        f"exponent {found:.3f}",
        f"≤ {_EXPONENT}",
        found <= _EXPONENT,
    )
    yield from _memory(case)


_OTHERS: Mapping[str, Callable[[Case], Iterator[Line]]] = {
    "help": _help,
    "fix": _fix,
    "growth": _growth,
}


def _seconds(runs: list[Run]) -> str:
    """Return the median, and how many runs it is of where they are fewer than three."""
    told = f"{wall(runs):.2f} s"
    return told if len(runs) >= 3 else f"{told} ({len(runs)} run{'s'[: len(runs) - 1]})"


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"
