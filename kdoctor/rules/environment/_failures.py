"""Whether the program goes on when an import of a library fails with an AttributeError."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

_CAUGHT_BY = {"AttributeError", "Exception", "BaseException"}


def failure_is_caught(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a ``try`` around the import catches what it raises, or nobody ever runs it.

    ``except ImportError`` is not enough: what these libraries raise is an AttributeError.
    """
    if module.is_guarded(statement):
        return True
    inside = statement
    for above in module.ancestors(statement):
        if isinstance(above, cst.Try) and inside is above.body:
            return any(_catches(handler) for handler in above.handlers)
        inside = above
    return False


def _catches(handler: cst.ExceptHandler) -> bool:
    return handler.type is None or any(
        isinstance(each, cst.Name) and each.value in _CAUGHT_BY
        for each in descendants(handler.type)
    )
