"""Limit a scan's result to the lines that changed since a commit."""

from __future__ import annotations

from msgspec.structs import replace

from kdoctor.engine.result import ScanResult
from kdoctor.model import Finding
from kdoctor.project.changed_lines import ChangedLines


def only_changed(result: ScanResult, changed: ChangedLines) -> ScanResult:
    """Return the findings on changed lines, and the unreadable files that changed.

    A finding of several lines counts where one of them changed. Files of the project that say for
    which Keras it is stay named where they cannot be read: they matter to every line.
    """

    def stands_in(finding: Finding) -> bool:
        region = result.region(finding.place)
        return changed.touch(finding.place.path, region.line, region.end_line)

    return replace(
        result,
        findings=tuple(filter(stands_in, result.findings)),
        known=tuple(filter(stands_in, result.known)),
        suppressed=tuple(each for each in result.suppressed if stands_in(each.finding)),
        unreadable=tuple(each for each in result.unreadable if changed.has(each.path)),
        skipped=tuple(each for each in result.skipped if changed.has(each.path)),
        own_targets=tuple(each for each in result.own_targets if changed.has(each.path)),
    )
