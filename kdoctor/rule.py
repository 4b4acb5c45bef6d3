"""What a rule of one's own is made of. In preview: names are added, and may still change.

A rule is a file that binds one :class:`Rule`; ``VALID`` and ``INVALID`` beside it are its tests,
its documentation and its proof. ``docs/own-rules.md`` writes one from beginning to end.
"""

from __future__ import annotations

from kdoctor.analysis.calls import (
    UNKNOWN,
    add_keyword,
    argument,
    instances,
    is_hidden,
    literal,
    replace_expression,
    value_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, keyword, member, named, word
from kdoctor.keras_api import Lookup, Presence, Signature
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    ImportNeed,
    Place,
    Severity,
    Span,
)
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberStore, MemberUse, Module, Reference, ReferenceKind
from kdoctor.value_types import Context, Kind, Type

__all__ = [
    "UNKNOWN",
    "Applicability",
    "Confidence",
    "Context",
    "Edit",
    "Example",
    "Finding",
    "Fix",
    "Hole",
    "ImportNeed",
    "Kind",
    "Lookup",
    "MemberStore",
    "MemberUse",
    "Module",
    "Place",
    "Presence",
    "Reference",
    "ReferenceKind",
    "Rule",
    "Severity",
    "Signature",
    "Span",
    "TargetFacts",
    "Trigger",
    "Type",
    "add_keyword",
    "argument",
    "attribute",
    "instances",
    "is_hidden",
    "keyword",
    "literal",
    "member",
    "named",
    "remove_arguments",
    "replace_expression",
    "value_of",
    "word",
]
