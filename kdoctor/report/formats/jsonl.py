"""JSON lines: one object per line, for programs that read a stream.

``type`` tells them apart: one ``scan``, each ``finding`` (as in the format ``json``), each
``own_target`` of a file that has one, then each ``unreadable`` file. Fields and types are added,
never renamed or removed.
"""

from __future__ import annotations

import json
from typing import Any

from kdoctor import __version__
from kdoctor.engine.result import ScanResult
from kdoctor.report import statistics
from kdoctor.report.formats import Format
from kdoctor.report.formats.json import finding_of, own_target_of, target_of
from kdoctor.report.output import Page


def _write(result: ScanResult, page: Page) -> None:
    target = result.target
    _write_line(
        "scan",
        {
            "kdoctor": __version__,
            "target": target_of(target),
            "read": result.read,
            "skipped": len(result.skipped),
            "suppressed": len(result.suppressed),
        },
        page,
    )
    for finding in result.findings:
        _write_line("finding", finding_of(finding), page)
    for own in result.own_targets:
        _write_line("own_target", own_target_of(own), page)
    for file in result.unhandled:
        _write_line("unreadable", {"path": file.path, "why": file.why}, page)


def _write_line(kind: str, content: dict[str, Any], page: Page) -> None:
    page.line(json.dumps({"type": kind, **content}))


FORMAT = Format(
    write=_write,
    diffs=True,
    replacements=True,
    statistics=statistics.write_lines,
    ending=".jsonl",
)
