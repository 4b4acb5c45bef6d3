"""Attributes that are assigned by their name as text: ``setattr(owner, "member", value)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.scope_analysis import ScopeAnalysis


class NamedStore(Struct, frozen=True, eq=False):
    """One such call."""

    owner: cst.BaseExpression
    value: cst.BaseExpression


def named_stores(scope_analysis: ScopeAnalysis) -> Mapping[str, Sequence[NamedStore]]:
    """Return the calls of ``setattr`` with a name that is written out, by that name."""
    found: dict[str, list[NamedStore]] = {}
    for use in scope_analysis.uses_by_name.get("setattr", ()):
        match scope_analysis.parents.get(use.node):
            case cst.Call(
                args=[
                    cst.Arg(value=owner),
                    cst.Arg(value=cst.SimpleString() as member),
                    cst.Arg(value=value),
                ]
            ):
                found.setdefault(member.raw_value, []).append(NamedStore(owner, value))
            case _:
                continue
    return found
