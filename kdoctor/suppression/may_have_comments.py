"""Say from its characters whether a source may contain suppression comments."""

from __future__ import annotations

import re

from kdoctor.lazy_regex import pattern

_MARK = "kdoctor:"
# Both begin with a literal: that is fast. In a notebook a line ends as "\n" within the JSON: what
# follows it is looked at too, no matter.
_NOQA_WITH_CODE = pattern(rb"#\s*noqa[^\n\r]*\bKD\d", re.IGNORECASE)
_NOQA = pattern(r"#\s*noqa", re.IGNORECASE)


def may_have_directives(data: bytes) -> bool:
    """Say whether a file may contain a comment that is reported if unused.

    >>> holds_marks(b"x = 1  # kdoctor: ignore"), holds_marks(b"x = 1  # noqa: E501")
    (True, False)
    """
    return _MARK.encode() in data or _NOQA_WITH_CODE.search(data) is not None


def may_have_suppressions(text: str) -> bool:
    """Say whether a text may contain any comment that suppresses findings."""
    return _MARK in text or _NOQA.search(text) is not None
