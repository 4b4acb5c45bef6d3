"""What is known of the rules without importing a single one: ``index.json``.

To import a rule takes longer than to ask it about a file, and most rules have nothing to say about
most files. The index is written by ``make rule-index`` from the rules themselves; a rule that is
not in it yet is found by its place, and imported at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kdoctor.rules.entry import RuleEntry
from kdoctor.rules.own import OwnRules, in_use

if TYPE_CHECKING:
    from kdoctor.rules.rule import Rule

_HERE = Path(__file__).parent
INDEX = _HERE / "index.json"
_SHARED = "fixes"  # what the fixes of several rules write: no family


def rule_index() -> tuple[RuleEntry, ...]:
    """Return the entry of every rule, by code; also of those of one's own that are in use."""
    own = in_use()
    return _with_own(own) if own.rules else built_in_index()


@lru_cache(maxsize=4)
def _with_own(own: OwnRules) -> tuple[RuleEntry, ...]:
    entries = (*built_in_index(), *map(entry_of, own.rules))
    return tuple(sorted(entries, key=lambda entry: entry.code))


@cache
def built_in_index() -> tuple[RuleEntry, ...]:
    """Return the entry of every rule of kdoctor's, by code."""
    listed = msgspec.json.decode(INDEX.read_bytes()) if INDEX.is_file() else {}
    entries = (_entry(place, listed.get(place)) for place in places())
    return tuple(sorted(entries, key=lambda entry: entry.code))


def entry_of(rule: Rule) -> RuleEntry:
    """Return the entry of a rule that is loaded."""
    return _made(as_data(rule), lambda: rule)


def as_data(rule: Rule) -> Mapping[str, Any]:
    """Return what the index says of a rule."""
    from kdoctor.analysis.triggers import trigger_of  # noqa: PLC0415 - of no use to who only reads

    needs = trigger_of(rule.triggers).needs
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "since": rule.since,
        "until": rule.until,
        "only_with_namespace": rule.only_with_namespace,
        "needs": sorted((where, sorted(words)) for where, words in needs),
    }


def _entry(place: str, data: Mapping[str, Any] | None) -> RuleEntry:
    def load() -> Rule:
        from kdoctor.rules.loading import load_rule  # noqa: PLC0415

        return load_rule(place)

    return _made(as_data(load()) if data is None else data, load)


def _made(data: Mapping[str, Any], load: Callable[[], Rule]) -> RuleEntry:
    needs = tuple((where, frozenset(words)) for where, words in data["needs"])
    return RuleEntry(**{**data, "needs": needs}, load=load)


def places() -> Iterator[str]:
    """Yield where each rule lies: ``names.missing_name``."""
    for family in os.scandir(_HERE):
        if family.is_dir() and family.name != _SHARED:
            for file in os.scandir(family):
                stem, ending = os.path.splitext(file.name)  # noqa: PTH122 - hot
                # A leading underscore marks what several rules of a family share.
                if ending == ".py" and not stem.startswith("_"):
                    yield f"{family.name}.{stem}"
