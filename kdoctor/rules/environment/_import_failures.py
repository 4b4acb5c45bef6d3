"""Whether the program goes on when an import of a library fails."""

from __future__ import annotations

import builtins

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants


def failure_is_caught(
    module: Module, statement: cst.CSTNode, error: str = "AttributeError"
) -> bool:
    """Say whether a ``try`` around the import catches what it raises, or nobody ever runs it.

    ``error`` is the name of that error: of an AttributeError, ``except ImportError`` is not enough.
    """
    if module.is_guarded(statement):
        return True
    inside = statement
    for above in module.ancestors(statement):
        if isinstance(above, cst.Try) and inside is above.body:
            return any(_catches(handler, error) for handler in above.handlers)
        inside = above
    return False


def _catches(handler: cst.ExceptHandler, error: str) -> bool:
    raised = getattr(builtins, error, Exception)
    by = {each.__name__ for each in raised.__mro__}
    return handler.type is None or any(
        isinstance(each, cst.Name) and each.value in by for each in descendants(handler.type)
    )
