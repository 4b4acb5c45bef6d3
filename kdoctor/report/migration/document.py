"""JSON: one object, a contract for programs. Fields are added, never renamed or removed."""

from __future__ import annotations

import json
from typing import Any

from kdoctor import __version__
from kdoctor.progress import Counts, Group, Overview, Sample
from kdoctor.report.links import page_url
from kdoctor.report.output import Page


def write_json(overview: Overview, page: Page) -> None:
    """Write the numbers of the page."""
    # ASCII only, like the JSON of a scan.
    page.line(json.dumps(_document(overview), indent=2))


def _document(overview: Overview) -> dict[str, Any]:
    scan, free = overview.scan, overview.portability
    target, commit, history = scan.target, overview.commit, overview.burndown
    return {
        "kdoctor": __version__,
        "name": overview.name,
        "target": {"name": target.name, "version": target.version, "source": target.source},
        "commit": commit and {"id": commit.id, "time": commit.time, "changed": overview.is_changed},
        "left": _counts(overview.left),
        "files": {
            "read": scan.read,
            "unreadable": [{"path": each.path, "why": each.why} for each in scan.unreadable],
            "concerned": len(overview.files),
            "done": sum(each.is_done for each in overview.files),
            "each": [
                {
                    "path": each.path,
                    "status": each.status.value,
                    "left": _counts(each.left),
                    "stopped_by": each.waits_for,
                    "entry": each.is_entry,
                }
                for each in overview.files
            ],
        },
        "folders": [_group(each) for each in overview.folders],
        "rules": [_group(each) for each in overview.rules],
        "breaks_first": [
            {
                "path": stop.finding.place.path,
                "line": stop.finding.place.line,
                "column": stop.finding.place.column,
                "cell": stop.finding.place.cell,
                "code": stop.finding.code,
                "url": page_url(stop.finding.code),
                "message": stop.finding.message,
                "stops": [list(way) for way in stop.ways],
            }
            for stop in overview.stops
        ],
        "portability": {
            "percent": free.percent,
            "files": free.files,
            "free": list(free.free),
            "tf_keras_import_alone": list(free.by_root),
            "free_with_old_backend": list(free.backend_only),
            "ties": [
                {
                    "name": use.tie.name,
                    "kind": use.tie.kind.value,
                    "uses": use.uses,
                    "files": list(use.files),
                }
                for use in free.ties
            ],
        },
        "burndown": history
        and {
            "since": history.since,
            "commits": history.commits,
            "samples": [_sample(each) for each in history.samples],
        },
    }


def _counts(left: Counts) -> dict[str, int]:
    return {
        "safe": left.safe,
        "unsafe": left.unsafe,
        "by_hand": left.by_hand,
        "total": left.total,
    }


def _group(group: Group) -> dict[str, Any]:
    return {"name": group.name, "left": _counts(group.left), "files": group.files}


def _sample(sample: Sample) -> dict[str, Any]:
    commit = sample.commit
    return {
        "commit": commit.id,
        "time": commit.time,
        "subject": commit.subject,
        "left": _counts(sample.left),
        "unreadable": sample.unreadable,
    }
