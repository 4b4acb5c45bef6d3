"""`AveragePooling2D()`: arguments that had a default in Keras 2 and are now required."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kdoctor.analysis.calls import add_keyword, argument
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import RELEASES
from kdoctor.analysis.queries.bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.model import Finding, Severity
from kdoctor.rules.arguments._keras_1_rewrites import renamed
from kdoctor.rules.rule import rule


def _lacks_one(facts: TargetFacts, callee: Bound, passed: Passed) -> bool:
    return not passed.is_hidden and any(
        not passed.has(*each) and _last_default(facts, callee.name, each[0]) is not None
        for each in callee.required
    )


@rule(
    "KD308",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_calls(lambda each: each.required, _lacks_one, by_name=True),
)
def check(match: BoundCall) -> Iterator[Finding]:
    """Report each call without an argument that is wanted now."""
    call = match.bound
    for name, position in call.required:
        default = _last_default(match.facts, call.name, name)
        if default is None or argument(call.call, name, position) is not None:
            continue
        if _has_its_old_name(match, name):
            continue
        yield match.finding(
            f"`{call.leaf}` no longer has a default for `{name}`: TypeError: {call.written} "
            f"missing 1 required positional argument: '{name}'",
            symbol=f"{call.name}({name})",
            help=f"The default in Keras 2 was `{name}={default}`.",
            fix=match.fix(
                f"Write `{name}={default}`, the old default",
                add_keyword(match.module, call.call, f"{name}={default}"),
            ),
        )


def _has_its_old_name(match: BoundCall, parameter: str) -> bool:
    """Say whether it is passed by its name of Keras 1: KD310 renames it, none is to be written."""
    return any(
        new == parameter and argument(match.call, old) is not None
        for old, new in renamed(match.bound).items()
    )


@lru_cache(maxsize=1024)
def _last_default(facts: TargetFacts, name: str, parameter: str) -> str | None:
    for release in RELEASES:
        old = facts.at_release(release).signature(name)
        found = None if old is None else old.parameter(parameter)
        if found is not None and found.default is not None:
            return found.default
    return None
