"""A baseline entry: a finding without its line number."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from kdoctor.engine.identity.fingerprints import features_of, normalized_source
from kdoctor.engine.result import ScanResult
from kdoctor.model import Finding


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """One accepted finding, as a baseline stores it.

    ``path`` is relative to the folder of the baseline, with ``/``. ``scope`` is the qualified name
    of the definition around the finding, ``source`` its own code, ``context`` about a line of code
    around it; both are without layout. Entries may be equal: two of them are two findings.
    """

    path: str
    scope: str
    rule: str
    symbol: str
    source: str
    context: str

    def at(self, path: str) -> BaselineEntry:
        """Return the entry with another path."""
        return replace(self, path=path)


def entry_of(finding: Finding, result: ScanResult, folder: Path) -> BaselineEntry:
    """Return the entry of a finding for a baseline in ``folder``."""
    rule, symbol, scope, source = features_of(finding, result)
    anchor = result.anchors.get(finding.place)
    context = anchor.context if anchor else normalized_source(result.lines.get(finding.place, ""))
    return BaselineEntry(relative(finding.place.path, folder), scope, rule, symbol, source, context)


def relative(path: str | os.PathLike[str], folder: Path) -> str:
    """Return a path relative to the baseline's folder, whatever the working directory."""
    # The folder without links, the file's own name as it is: a link to a file is that file's name.
    parent, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - a link stays a link
    real = Path(os.path.realpath(parent)) / name
    try:
        return Path(os.path.relpath(real, folder)).as_posix()
    except ValueError:  # another drive of Windows
        return real.as_posix()
