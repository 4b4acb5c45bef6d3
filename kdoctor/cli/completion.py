"""Shell completion of option values."""

from __future__ import annotations

from kdoctor.report.formats import format_names


def complete_format(incomplete: str) -> list[str]:
    """Return the formats that start with ``incomplete``."""
    return [name for name in format_names() if name.startswith(incomplete)]


def complete_rules(incomplete: str) -> list[tuple[str, str]]:
    """Return the rules and topics that complete the last entry of a list, and their help.

    >>> complete_rules("KD101,KD10")[1][0]
    'KD101,KD102'
    >>> complete_rules("free")
    [('freezing', 'Freezing: 5 rules')]
    """
    from kdoctor.rules import all_rules  # noqa: PLC0415 - imports libcst
    from kdoctor.rules.topics import TOPICS  # noqa: PLC0415

    before, comma, last = incomplete.rpartition(",")
    topics = [
        (f"{before}{comma}{topic.name}", f"{topic.title}: {len(topic.codes)} rules")
        for topic in TOPICS
        if topic.name.startswith(last.lower())
    ]
    return topics + [
        (f"{before}{comma}{word}", rule.summary)
        for rule in all_rules()
        for word in (rule.code, rule.name)
        if word.lower().startswith(last.lower()) and (word == rule.code or last.islower())
    ]
