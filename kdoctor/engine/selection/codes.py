"""Resolve ``--select`` and ``--ignore``: codes, code prefixes, names and topics."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from kdoctor.errors import UsageProblem
from kdoctor.rules import Rule, all_rules, rule_by_code
from kdoctor.rules.index import rule_index
from kdoctor.rules.own import in_use
from kdoctor.rules.redirects import redirected
from kdoctor.rules.topics import TOPICS, topic_named

_ALL = "ALL"  # as users of ruff write it


def choose(select: Iterable[str] | None = None, ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Return the selected rules (default: all) without the ignored ones, by code.

    Raises:
        UsageProblem: an entry names no rule.
    """
    codes = chosen_codes(select, ignore)
    return tuple(rule for rule in all_rules() if rule.code in codes)


def chosen_codes(select: Iterable[str] | None, ignore: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the codes of the same rules, without importing a single one.

    >>> chosen_codes(["KD101", "KD9"], ["unused-ignore"])
    ('KD101', 'KD902')

    Raises:
        UsageProblem: an entry names no rule.
    """
    every = tuple(entry.code for entry in rule_index())
    selected = set(every) if select is None else codes_of(select)
    wanted = selected - codes_of(ignore)
    return tuple(code for code in every if code in wanted)


def codes_of(entries: Iterable[str]) -> set[str]:
    """Return the codes of rules given by code, code prefix, name, topic or ``ALL``.

    >>> sorted(codes_of(["unused-ignore", "masks"]))
    ['KD425', 'KD434', 'KD901']

    Raises:
        UsageProblem: an entry names no rule.
    """
    return {code for entry in entries for code in _meant(entry)}


def rule_named(entry: str) -> Rule:
    """Return the rule with this code or name. No other is imported.

    Raises:
        UsageProblem: there is none; it says which one may be meant.
    """
    try:
        return rule_by_code(entry)
    except UsageProblem:
        raise UsageProblem(f"there is no rule {entry!r}{_suggestion(entry)}") from None


def codes_beyond_its_text(entry: str) -> frozenset[str]:
    """Return the codes that an entry means although no code or name of kdoctor's begins so.

    >>> sorted(codes_beyond_its_text("masks")), sorted(codes_beyond_its_text("KD425"))
    (['KD425', 'KD434'], [])
    >>> sorted(codes_beyond_its_text("rate-is-an-int"))
    ['KD309']
    """
    topic = topic_named(entry)
    if topic is not None:
        return frozenset(topic.codes)
    own = [rule.code for rule in in_use().rules if rule.code.startswith(entry.upper())]
    now = redirected(entry)
    return frozenset(_meant(now) if now else own)


def may_be_withheld(entry: str) -> bool:
    """Say whether an entry that names no rule may name one of one's own that is not loaded."""
    return bool(in_use().withheld) and not entry.upper().startswith("KD")


def _meant(entry: str) -> Collection[str]:
    code = entry.upper()
    meant = [
        each.code
        for each in rule_index()
        if each.name == entry or code == _ALL or (code and each.code.startswith(code))
    ]
    meant += codes_beyond_its_text(entry)
    if not meant and redirected(entry) is None:
        raise UsageProblem(f"there is no rule {entry!r}{_suggestion(entry)}")
    return meant


_LOOK_ALIKE = str.maketrans("OoIl", "0011")  # letters that are typed for digits


def _suggestion(entry: str) -> str:
    known = [name for each in rule_index() for name in (each.code, each.name)]
    known += [topic.name for topic in TOPICS]
    digits = entry[:2].upper() + entry[2:].translate(_LOOK_ALIKE)
    if digits in known:
        return f"; did you mean {digits}?"
    close = difflib.get_close_matches(entry, known, n=1) or difflib.get_close_matches(
        entry.upper(), known, n=1
    )
    if close:
        is_topic = topic_named(close[0]) is not None
        return f"; did you mean {'the topic ' if is_topic else ''}{close[0]}?"
    if may_be_withheld(entry):
        return f" ({in_use().withheld})"
    return "; `kdoctor rules` lists them all"
