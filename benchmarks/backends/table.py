"""The results as Markdown, on the terminal and in this folder's README."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.backends.figures import FIXED, Figures, mean_share, pooled_share
from benchmarks.backends.model import OTHERS, Half, Stage

README = Path(__file__).with_name("README.md")
RESULTS = Path(__file__).with_name("results.json")
TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- end -->\n)", re.DOTALL)
NAMES = {Half.WORK: "half to work on", Half.HELD: "held out"}


def write(subjects: Sequence[Figures], results: Path = RESULTS, readme: Path = README) -> None:
    """Keep the figures, and write them into the README."""
    results.write_bytes(msgspec.json.format(msgspec.json.encode(subjects), indent=1) + b"\n")
    text = readme.read_text("utf-8")
    told = page(subjects)
    readme.write_text(TABLE.sub(lambda found: found[1] + told + found[2], text), "utf-8")


def page(subjects: Sequence[Figures]) -> str:
    """Return both tables: the halves with their sum, and each subject."""
    halves = [
        [name, *_summary(chosen)]
        for half, name in NAMES.items()
        if (chosen := [each for each in subjects if each.half is half])
    ]
    if len(halves) > 1:
        halves.append(["both", *_summary(subjects)])
    head = ["", "subjects", "tests", "fail on JAX", "on PyTorch"]
    head += ["pass after, safe", "unsafe", "of all tests, safe", "unsafe", "lost safe", "unsafe"]
    lines = [
        "subject", "half", "TensorFlow",
        *(f"{each} {stage}" for each in ("JAX", "PyTorch") for stage in ("before", *FIXED)),
        "lost",
    ]  # fmt: skip
    return f"{_markdown(head, halves)}\n{_markdown(lines, [_line(each) for each in subjects])}"


def _summary(subjects: Sequence[Figures]) -> list[str]:
    return [
        str(len(subjects)),
        str(sum(each.tests for each in subjects)),
        *(str(sum(each.gap[backend] for each in subjects)) for backend in OTHERS),
        *(_percent(mean_share(subjects, stage)) for stage in FIXED),
        *(_percent(pooled_share(subjects, stage)) for stage in FIXED),
        *(str(sum(each.lost[stage] for each in subjects)) for stage in FIXED),
    ]


def _line(each: Figures) -> list[str]:
    counts = (each.passed[backend][stage] for backend in OTHERS for stage in Stage)
    lost = max(each.lost.values())
    return [each.name, each.half.value, str(each.tests), *map(str, counts), str(lost)]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    rule = [" --- ", *(" ---: " for _ in head[1:])]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"
