"""Mark fixes inside ``f"{x=}"`` as unsafe: the program prints the expression's text."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import libcst as cst
from msgspec.structs import replace

from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Finding, Span
from kdoctor.syntax import Module

_MAY_HOLD_ONE: Final = pattern(r"=\s*(?:![rsa]\s*)?[:}]")
_PRINTED: Final = "the f-string also prints the text of the expression, which would change"


class DebugFStringGuard:
    """Checks the fixes of one module, whichever rule writes them."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def guarded(self, finding: Finding) -> Finding:
        """Return a finding, its fix marked as unsafe if it edits such an f-string."""
        fix = finding.fix
        if fix is None or fix.applicability is not Applicability.SAFE or not self._spans:
            return finding
        if not any(_overlap(edit.span, shown) for edit in fix.edits for shown in self._spans):
            return finding
        unsafe = replace(fix, applicability=Applicability.UNSAFE, unsafe_because=_PRINTED)
        return replace(finding, fix=unsafe)

    @cached_property
    def _spans(self) -> list[Span]:
        if _MAY_HOLD_ONE.search(self._module.text) is None:
            return []
        return [
            self._module.span(each.expression)
            for each in self._module.nodes(cst.FormattedStringExpression)
            if each.equal is not None
        ]


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
