"""What a file must have for a query to find anything: ``files(…)``, ``query.beside(…)``."""

from __future__ import annotations

from kdoctor.analysis.triggers import (
    assigned,
    attribute,
    defines,
    keyword,
    member,
    mentions,
    named,
    package,
    string,
    suffix,
    text,
    word,
)

__all__ = [
    "assigned",
    "attribute",
    "defines",
    "keyword",
    "member",
    "mentions",
    "named",
    "package",
    "string",
    "suffix",
    "text",
    "word",
]
