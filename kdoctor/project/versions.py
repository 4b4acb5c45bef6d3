"""Which releases a requirement allows."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from kdoctor.keras_api import known_releases
from kdoctor.project.evidence import Distribution, Evidence


def allowed(evidence: Sequence[Evidence]) -> tuple[Version, ...]:
    """Return the releases that requirements on one package allow together, newest first.

    What counts always narrows; of what counts on a condition (a marker, an extra) one is enough.
    An exact version is allowed even if it was never published under this name.
    """
    always = [SpecifierSet(each.specifiers) for each in evidence if not each.is_conditional]
    sometimes = [SpecifierSet(each.specifiers) for each in evidence if each.is_conditional]
    known = _candidates(evidence)
    for specifiers in always:
        known = [version for version in known if specifiers.contains(version, prereleases=True)]
    narrowed = [
        version
        for version in known
        if any(specifiers.contains(version, prereleases=True) for specifiers in sometimes)
    ]
    return tuple(narrowed or known)


def exact(evidence: Evidence) -> Version | None:
    """Return the one version that a requirement names, None for a range.

    >>> exact(Evidence(Distribution.KERAS, "keras==2.10", "==2.10", "requirements.txt"))
    <Version('2.10')>
    """
    text = evidence.specifiers
    if not text.startswith("==") or "," in text or "*" in text:
        return None
    try:
        return Version(text.lstrip("="))
    except InvalidVersion:  # === takes anything
        return None


def is_open(evidence: Evidence) -> bool:
    """Say whether a requirement sets no upper limit: whoever installs it gets the newest."""
    operators = {specifier.operator for specifier in SpecifierSet(evidence.specifiers)}
    return operators <= {">=", ">", "!="}


def same_minor(one: Version, other: Version) -> bool:
    """Say whether two releases share major and minor number, and with them the API."""
    return (one.major, one.minor) == (other.major, other.minor)


def _candidates(evidence: Sequence[Evidence]) -> list[Version]:
    pins = {version for each in evidence if (version := exact(each)) is not None}
    always = {exact(each) for each in evidence if not each.is_conditional} - {None}
    if always:  # nothing else can be allowed
        return sorted(pins, reverse=True)
    distribution = evidence[0].distribution
    return sorted({*published(distribution), *pins}, reverse=True)


@cache
def published(distribution: Distribution) -> Collection[Version]:
    """Return all final releases of a package."""
    file = resources.files("kdoctor.project") / "published.json"
    listed = json.loads(file.read_text("utf-8"))[distribution.value]
    known = () if distribution is Distribution.TENSORFLOW else known_releases(distribution.value)
    return frozenset(map(Version, [*listed, *known]))
