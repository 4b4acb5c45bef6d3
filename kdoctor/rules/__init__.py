"""The rules: one file a rule, found by walking this package.

A rule is a module ``kdoctor/rules/<family>/<rule_name>.py``, and beside it a page of the same name
(``pages``) with its documentation and examples. Importing this package imports none of them (and
no libcst): ``all_rules()`` does, on its first call. A scan imports those that a file has words for,
which ``index`` knows; a page is read when someone asks what is on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred
from kdoctor.rules.words import words  # its module has the same name

if TYPE_CHECKING:
    from kdoctor.rules.entry import applies
    from kdoctor.rules.example import Example
    from kdoctor.rules.registry import all_rules, rule_by_code
    from kdoctor.rules.rule import Check, Rule

# Files that do not speak of Keras need the words only.
_HOMES = {
    "Check": "rule",
    "Example": "example",
    "Rule": "rule",
    "all_rules": "registry",
    "applies": "entry",
    "rule_by_code": "registry",
}

__all__ = ["Check", "Example", "Rule", "all_rules", "applies", "rule_by_code", "words"]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
