"""Rename an entry of the logs where a string asks for it: a key, `monitor=`, a field of a path."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Match
from kdoctor.model import Edit, Fix, NoFix, Span
from kdoctor.syntax import Module


def write_log_name(match: Match, node: cst.SimpleString, old: str, new: str) -> Fix | NoFix:
    """Return the fix that writes the new name instead of the old one in a string."""
    return match.fix(f"Write `{new}` instead of `{old}`", renamed(match.module, node, old, new))


def renamed(module: Module, node: cst.SimpleString, old: str, new: str) -> Edit:
    """Return the edit that renames the first occurrence in a string."""
    start = module.span(node).start + node.value.index(old)
    return Edit(Span(start, start + len(old)), (new,))
