"""Before→after templates, the edits that they make, and the import block.

A rewrite is stated as code (``rewrite("keras.backend.square(x)", "keras.ops.square(x)")``); a
``RewriteTable`` tries the rows of a name on one use of it and gives a ``Fix`` or a ``Refusal``
with the reason; ``plan_imports`` sees to the imports, and ``render`` makes the edits.
"""

from kdoctor.rewrite.arguments import without
from kdoctor.rewrite.guards import (
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
from kdoctor.rewrite.imports import plan_imports
from kdoctor.rewrite.members import MemberRewrite, MemberTable, attribute, method
from kdoctor.rewrite.questions import Answer, Guard, Question, Situation
from kdoctor.rewrite.refusal import Refusal
from kdoctor.rewrite.render import render
from kdoctor.rewrite.slots import SignatureLookup
from kdoctor.rewrite.spelling import Speller
from kdoctor.rewrite.table import RewriteTable
from kdoctor.rewrite.template import Rewrite, rewrite

__all__ = [
    "Answer",
    "Guard",
    "MemberRewrite",
    "MemberTable",
    "Question",
    "Refusal",
    "Rewrite",
    "RewriteTable",
    "SignatureLookup",
    "Situation",
    "Speller",
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
    "render",
    "rewrite",
    "statement_position",
    "without",
]
