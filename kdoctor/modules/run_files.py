"""Files that another one runs among its own names: ``%run common.py``, ``exec(open(…).read())``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kdoctor.lazy_regex import pattern

_RUN = pattern(rb"%run[ \t]+(?:-\w+[ \t]+)*\\?['\"]?([\w./-]+)")
_EXECUTED = pattern(
    rb"\bexec(?:file)?\s*\(\s*(?:compile\s*\(\s*)?(?:open\s*\(\s*)?\\?['\"]([\w./-]+)"
)


def run_files(path: str, data: bytes) -> Iterator[str]:
    """Yield the Python files that a file runs so that their names become its own."""
    folder = os.path.dirname(path)  # noqa: PTH120
    found = _RUN.findall(data) if b"%run" in data else []
    found += _EXECUTED.findall(data) if b"exec" in data else []
    for each in found:
        name = each.decode("ascii", "replace")
        whole = os.path.normpath(f"{folder}{os.sep}{name}")
        yield whole if name.endswith(".py") else f"{whole}.py"
