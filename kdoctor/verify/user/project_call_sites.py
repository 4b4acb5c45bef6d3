"""How the project calls a definition in its tests, examples and other modules."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from kdoctor.project.root import root_of
from kdoctor.verify.user.call_sites import CallSites, uses_of
from kdoctor.verify.user.statements import statements_of

_MAX_FILES = 400
_MAX_FILE_BYTES = 300_000
_IGNORED_FOLDERS = re.compile(
    r"\.|__pycache__$|venv|env$|node_modules$|build$|dist$|site-packages$"
)


class ProjectCallSites:
    """The uses of some names in all files of a project."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._by_root: dict[Path, dict[str, CallSites]] = {}

    def of(self, path: Path) -> dict[str, CallSites]:
        """Return the uses in the project of a file, by name."""
        root = root_of(path.absolute().parent)
        if root is None:
            return {}
        if root not in self._by_root:
            self._by_root[root] = self._read(root) if self._names else {}
        return self._by_root[root]

    def _read(self, root: Path) -> dict[str, CallSites]:
        found: dict[str, CallSites] = {}
        called = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(self._names)))})\b\s*\(")
        for path in _files_below(root):
            try:
                text = path.read_text("utf-8-sig")
                if not called.search(text):
                    continue
                uses = uses_of(statements_of(text))
            except (OSError, ValueError, SyntaxError, RecursionError):
                continue
            for name in sorted(self._names & uses.keys()):
                found.setdefault(name, CallSites()).add(uses[name])
        return found


def _files_below(root: Path) -> Iterator[Path]:
    """Yield the Python files of a project, in a fixed order."""
    count = 0
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(each for each in inner if not _IGNORED_FOLDERS.match(each))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.endswith(".py") or not path.is_file():
                continue
            if path.stat().st_size <= _MAX_FILE_BYTES:
                count += 1
                if count > _MAX_FILES:
                    return
                yield path
