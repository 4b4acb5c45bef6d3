"""Rename an entry of the logs where a string asks for it: a key, `monitor=`, a field of a path."""

from __future__ import annotations

import libcst as cst

from kdoctor.model import Applicability, Edit, Fix, Span
from kdoctor.syntax import Module


def write_log_name(
    module: Module, node: cst.SimpleString, old: str, new: str, applicability: Applicability
) -> Fix:
    """Return the fix that writes the new name instead of the old one in a string."""
    return Fix(
        f"Write `{new}` instead of `{old}`", (renamed(module, node, old, new),), applicability
    )


def renamed(module: Module, node: cst.SimpleString, old: str, new: str) -> Edit:
    """Return the edit that renames the first occurrence in a string."""
    start = module.span(node).start + node.value.index(old)
    return Edit(Span(start, start + len(old)), (new,))
