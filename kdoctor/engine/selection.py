"""Which rules count: ``--select`` and ``--ignore`` by code, by the start of a code, or by name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from kdoctor.errors import UsageProblem
from kdoctor.rules import Rule, all_rules


def choose(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Return the selected rules (all, where nothing is selected) without the ignored, by code.

    Raises:
        UsageProblem: an entry names no rule.
    """
    rules = sorted(all_rules(), key=lambda rule: rule.code)
    selected = [_meant(entry, rules) for entry in select]
    ignored = {rule.code for entry in ignore for rule in _meant(entry, rules)}
    wanted = {rule.code for each in selected for rule in each} if selected else None
    return tuple(
        rule
        for rule in rules
        if (wanted is None or rule.code in wanted) and rule.code not in ignored
    )


def rule_named(entry: str) -> Rule:
    """Return the rule with this code or name.

    Raises:
        UsageProblem: there is none.
    """
    rules = all_rules()
    for rule in rules:
        if entry.upper() == rule.code or entry == rule.name:
            return rule
    raise UsageProblem(f"there is no rule {entry!r}{_suggestion(entry, rules)}")


def _meant(entry: str, rules: Collection[Rule]) -> list[Rule]:
    code = entry.upper()
    meant = [rule for rule in rules if rule.name == entry or (code and rule.code.startswith(code))]
    if not meant:
        raise UsageProblem(f"there is no rule {entry!r}{_suggestion(entry, rules)}")
    return meant


_LOOK_ALIKE = str.maketrans("OoIl", "0011")  # letters that are typed for digits


def _suggestion(entry: str, rules: Collection[Rule]) -> str:
    known = [name for rule in rules for name in (rule.code, rule.name)]
    digits = entry[:2].upper() + entry[2:].translate(_LOOK_ALIKE)
    if digits in known:
        return f"; did you mean {digits}?"
    close = difflib.get_close_matches(entry, known, n=1) or difflib.get_close_matches(
        entry.upper(), known, n=1
    )
    if close:
        return f"; did you mean {close[0]}?"
    return "; `kdoctor rules` lists them all"
