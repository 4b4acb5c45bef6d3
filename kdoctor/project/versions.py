"""Which releases a requirement allows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

import msgspec
from packaging.version import Version

from kdoctor.keras_api import known_releases
from kdoctor.project.evidence import Distribution, Evidence
from kdoctor.project.requirement import exact_version


def allowed(evidence: Sequence[Evidence]) -> tuple[Version, ...]:
    """Return the releases that all requirements on a package allow, newest first.

    What counts always narrows; of what counts on a condition (a marker, an extra) one is enough.
    An exact version is allowed even if it was never published under this name.
    """
    known = _candidates(evidence)
    always = [each for each in evidence if not each.is_conditional]
    sometimes = [each for each in evidence if each.is_conditional]
    for each in always:
        known = [version for version in known if _allows(each, version)]
    narrowed = [version for version in known if any(_allows(each, version) for each in sometimes)]
    return tuple(narrowed or known)


def exact(evidence: Evidence) -> Version | None:
    """Return the one version that a requirement names, None for a range.

    >>> exact(Evidence(Distribution.KERAS, "keras==2.10", "==2.10", "requirements.txt"))
    <Version('2.10')>
    """
    return exact_version(evidence.specifiers)


def is_open(evidence: Evidence) -> bool:
    """Say whether a requirement has no upper limit, so that pip installs the newest release."""
    clauses = filter(None, evidence.specifiers.split(","))
    return all(clause.strip().startswith((">", "!=")) for clause in clauses)


def same_minor(one: Version, other: Version) -> bool:
    """Say whether two releases share major and minor number, and with them the API."""
    return (one.major, one.minor) == (other.major, other.minor)


def _allows(evidence: Evidence, version: Version) -> bool:
    pin = exact(evidence)
    if pin is not None:
        return pin == version or pin.public == version.public
    # Imported for ranges only: it takes longer than all the rest of the way to a target.
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415

    return SpecifierSet(evidence.specifiers).contains(version, prereleases=True)


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
    file = Path(__file__).with_name("published.json")
    listed = msgspec.json.decode(file.read_bytes(), type=dict[str, list[str]])[distribution.value]
    known = () if distribution is Distribution.TENSORFLOW else known_releases(distribution.value)
    return frozenset(map(Version, [*listed, *known]))
