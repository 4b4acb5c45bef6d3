"""Shell completion of option values."""

from __future__ import annotations

from kdoctor.report.formats import format_names


def complete_format(incomplete: str) -> list[str]:
    """Return the formats that start with ``incomplete``."""
    return [name for name in format_names() if name.startswith(incomplete)]


def complete_rules(incomplete: str) -> list[tuple[str, str]]:
    """Return the rules whose code or name completes the last entry of a list, and their help.

    >>> complete_rules("KD101,KD10")[1][0]
    'KD101,KD102'
    """
    from kdoctor.rules import all_rules  # noqa: PLC0415 - imports libcst

    before, comma, last = incomplete.rpartition(",")
    return [
        (f"{before}{comma}{word}", rule.summary)
        for rule in all_rules()
        for word in (rule.code, rule.name)
        if word.lower().startswith(last.lower()) and (word == rule.code or last.islower())
    ]
