"""Parse, apply and edit suppression comments (``# kdoctor: ignore``, ``# noqa``).

- ``x = f()  # kdoctor: ignore``: nothing is reported here.
- ``# kdoctor: ignore[KD101] reason``: not this rule. A rule is named by its code, the start of its
  code, its name, or a topic (``freezing``); several with commas. Alone on its line, the comment is
  about the line below.
- ``# kdoctor: ignore-file[KD1] reason``, alone on its line, anywhere: not in this file.
- ``# kdoctor: off[KD1]`` … ``# kdoctor: on``, alone on their lines: not between them. ``on``
  ends every ``off``, ``on[KD1]`` that one; without it, it ends with the block that it stands in.
- ``# noqa``, ``# noqa: E501, KD101``: as flake8 reads it.

A comment counts for a statement that it stands on the first or last line of, and for what touches
its own line. What speaks of the comments themselves (KD9) is silenced by its own code only.

This package reads, judges and writes such comments. It knows no rules and parses no Python: the
tokenizer finds comments in any source, with or without Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.suppression.directives import Directive, Entry, Form, directives_of
    from kdoctor.suppression.edit_comments import ignore_edits, ignore_fix, removal_edit
    from kdoctor.suppression.match_findings import Directives, SuppressionResult
    from kdoctor.suppression.may_have_comments import may_have_directives, may_have_suppressions

# A file without a mark needs nothing that reads comments.
_HOMES = {
    "Directive": "directives",
    "Entry": "directives",
    "Form": "directives",
    "directives_of": "directives",
    "may_have_directives": "may_have_comments",
    "may_have_suppressions": "may_have_comments",
    "Directives": "match_findings",
    "SuppressionResult": "match_findings",
    "ignore_edits": "edit_comments",
    "ignore_fix": "edit_comments",
    "removal_edit": "edit_comments",
}

__all__ = [
    "Directive",
    "Directives",
    "Entry",
    "Form",
    "SuppressionResult",
    "directives_of",
    "ignore_edits",
    "ignore_fix",
    "may_have_directives",
    "may_have_suppressions",
    "removal_edit",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
