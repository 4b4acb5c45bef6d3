"""Changelogs: what stands in one was right for the release that it speaks of, and stays."""

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
_REASON: Final = "a changelog tells what an old release was like: no code in it is written anew"


def is_changelog(path: str) -> bool:
    """Say whether a file is one by its name, in whatever case."""
    pure = PurePath(path.lower())
    return pure.suffix in _TEXTS and _NAME.fullmatch(pure.stem) is not None


def without_fix_in_changelog(path: str, finding: Finding) -> Finding:
    """Return a finding as it is, in a changelog without its fix."""
    if finding.fix is None or not is_changelog(path):
        return finding
    return replace(finding, fix=None, no_fix_because=_REASON)
