"""Fixes that follow from what names were seen to hold where tests failed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from kdoctor.engine import Options, ScanResult
from kdoctor.migrate.fixes import Code
from kdoctor.migrate.seen_values import SeenValue, observation_of
from kdoctor.model import Applicability, Finding, Place
from kdoctor.target import Target
from kdoctor.value_types import Observation

_KINDS: Final = frozenset({Applicability.SAFE, Applicability.UNSAFE})
_MAX_ASKED: Final = 40  # observations of a file that are asked for one by one
_MAX_TOLD: Final = 3  # of those that only together lead to a fix

Found = Collection[tuple[Place, str, str]]


class SeenFixes(Struct, frozen=True):
    """A scan that knows what was seen, the fixes that only it has, and what each rests on.

    ``how`` are the options of that scan. None of its fixes is safe: what was seen in one run need
    not be so in another.
    """

    scan: ScanResult
    how: Options
    fixes: tuple[Finding, ...]
    because: Mapping[Finding, tuple[str, ...]]


def seen_fixes(
    code: Code,
    seen: Iterable[SeenValue],
    target: Target,
    errors: Iterable[tuple[Observation, str]] = (),
) -> SeenFixes | None:
    """Return the fixes that follow from what was seen, None where nothing does."""
    known: dict[Observation, str] = dict(errors)
    for each in seen:
        observation = observation_of(each, target)
        if observation is not None:
            known.setdefault(observation, each.sentence)
    if not known:
        return None
    before = _fixable(code, code.scan({"preview": True}))
    how: Options = {"preview": True, "observations": tuple(known)}
    scan = code.scan(how)
    fixes = [each for each in code.fixable(scan, _KINDS) if _identity(each) not in before]
    because = {
        each: sentences
        for path in sorted({each.place.path for each in fixes})
        for each, sentences in _because(code, path, fixes, known).items()
    }
    return SeenFixes(scan, how, tuple(fixes), because) if fixes else None


def _fixable(code: Code, scan: ScanResult) -> Found:
    return set(map(_identity, code.fixable(scan, _KINDS)))


def _identity(finding: Finding) -> tuple[Place, str, str]:
    """Return what tells a fix from another one: at a place there may be a better one, too."""
    return finding.place, finding.code, finding.fix.title if finding.fix else ""


def _because(
    code: Code, path: str, fixes: Iterable[Finding], known: Mapping[Observation, str]
) -> dict[Finding, tuple[str, ...]]:
    """Return which observations lead to the fixes of one file, each asked for alone."""
    here = [each for each in fixes if each.place.path == path]
    real = os.path.realpath(path)
    of_file = [each for each in known if each.path == real][:_MAX_ASKED]
    found: dict[Finding, list[str]] = {each: [] for each in here}
    for each in of_file:
        alone = _fixable(code, code.scan({"preview": True, "observations": (each,)}, [path]))
        for finding in here:
            if _identity(finding) in alone:
                found[finding].append(known[each])
    together = [known[each] for each in of_file]
    return {each: _told(said or together) for each, said in found.items()}


def _told(sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentences))[:_MAX_TOLD]
