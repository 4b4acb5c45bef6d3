"""Rewrite templates, their edits, and import management.

A rewrite is stated as code (``rewrite("keras.backend.square(x)", "keras.ops.square(x)")``); a
``RewriteTable`` tries the rows of a name on one use of it and gives a ``Fix`` or a ``NoFix``
with the reason; ``plan_imports`` sees to the imports, and ``render`` makes the edits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred
from kdoctor.rewrite.render import render  # its module has the same name

if TYPE_CHECKING:
    from kdoctor.rewrite.arguments import remove_arguments
    from kdoctor.rewrite.common_guards import (
        context,
        display,
        equals,
        given,
        indexed,
        is_kind,
        is_lambda,
        literal,
        not_given,
        not_none,
        one_of,
        statement_position,
    )
    from kdoctor.rewrite.guard_base import Guard, GuardAnswer, Question, UseSite
    from kdoctor.rewrite.imports import plan_imports
    from kdoctor.rewrite.members import MemberRewrite, MemberTable, attribute, method
    from kdoctor.rewrite.parameters import SignatureLookup
    from kdoctor.rewrite.refusal import ONLY_IN_DEAD_CODE
    from kdoctor.rewrite.spelling import Speller
    from kdoctor.rewrite.table import RewriteTable
    from kdoctor.rewrite.template import Rewrite, rewrite

# A table of rewrites needs nothing of what writes them into a file.
_HOMES = {
    "ONLY_IN_DEAD_CODE": "refusal",
    "GuardAnswer": "guard_base",
    "Guard": "guard_base",
    "MemberRewrite": "members",
    "MemberTable": "members",
    "Question": "guard_base",
    "Rewrite": "template",
    "RewriteTable": "table",
    "SignatureLookup": "parameters",
    "UseSite": "guard_base",
    "Speller": "spelling",
    "attribute": "members",
    "context": "common_guards",
    "display": "common_guards",
    "equals": "common_guards",
    "given": "common_guards",
    "indexed": "common_guards",
    "is_kind": "common_guards",
    "is_lambda": "common_guards",
    "literal": "common_guards",
    "method": "members",
    "not_given": "common_guards",
    "not_none": "common_guards",
    "one_of": "common_guards",
    "plan_imports": "imports",
    "rewrite": "template",
    "statement_position": "common_guards",
    "remove_arguments": "arguments",
}

__all__ = [
    "ONLY_IN_DEAD_CODE",
    "Guard",
    "GuardAnswer",
    "MemberRewrite",
    "MemberTable",
    "Question",
    "Rewrite",
    "RewriteTable",
    "SignatureLookup",
    "Speller",
    "UseSite",
    "attribute",
    "context",
    "display",
    "equals",
    "given",
    "indexed",
    "is_kind",
    "is_lambda",
    "literal",
    "method",
    "not_given",
    "not_none",
    "one_of",
    "plan_imports",
    "remove_arguments",
    "render",
    "rewrite",
    "statement_position",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
