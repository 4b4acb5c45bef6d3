"""Withhold fixes in changelogs: their code is right for the release they describe."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from msgspec.structs import replace

from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding

_TEXTS: Final = frozenset({".md", ".markdown", ".rst"})
_NAME: Final = pattern(
    r"change[-_]?logs?|changes|history|news|releases?|release[-_]?(notes|history)|what[-_]?s[-_]?new"
)
_REASON: Final = "a changelog describes old releases: code in it is not rewritten"


def is_changelog(path: str) -> bool:
    """Say whether a file is a changelog, by its name in any case."""
    pure = PurePath(path.lower())
    return pure.suffix in _TEXTS and _NAME.fullmatch(pure.stem) is not None


def without_fix_in_changelog(path: str, finding: Finding) -> Finding:
    """Return a finding, without its fix if the file is a changelog."""
    if finding.fix is None or not is_changelog(path):
        return finding
    return replace(finding, fix=None, no_fix_because=_REASON)
