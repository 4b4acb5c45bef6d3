"""Read what ``in_tests/kdoctor_probe.py`` tells of a run, one entry of JSON on a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a log, none where there is no log."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the last line of a process that was killed
            continue
