"""Imports of a ``try`` that fail on the target: nothing below them in it is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from kdoctor.model import Edit, ImportNeed, Span
from kdoctor.project.import_sorting import Sorting
from kdoctor.rewrite.import_habits import ImportStatement
from kdoctor.rewrite.import_lines import import_text
from kdoctor.rewrite.source_lines import line_start
from kdoctor.syntax import ImportBinding, Module


def failing_above(
    module: Module, binding: ImportBinding, goes: Callable[[ImportBinding], bool]
) -> ImportStatement | None:
    """Return the first import that keeps a ``try`` from getting past ``binding``, if one does.

    It may be that of ``binding`` itself. ``goes`` says which imports are taken out.
    """
    place = module.span(binding.statement)
    for each in module.ancestors(binding.statement):
        if each is binding.scope.node:
            return None
        if not isinstance(each, cst.Try | cst.TryStar) or not module.span(each.body).covers(place):
            continue
        failing = [
            other.statement
            for other in module.imports
            if module.span(each.body).covers(module.span(other.statement))
            and module.span(other.statement) <= place
            and other.scope is binding.scope
            and module.oracle.exists(other.imported) is False
            and not goes(other)
        ]
        if failing:
            return min(failing, key=module.span)
    return None


def import_above(
    module: Module, statement: ImportStatement, needs: Sequence[ImportNeed], sorting: Sorting
) -> Edit:
    """Return the edit that imports something above a statement, in its block."""
    start = module.span(statement).start
    indent = module.text[line_start(module.text, start) : start]
    end = "; " if indent.strip() else f"\n{indent}"
    lines = import_text(needs, sorting=sorting)
    return Edit(Span(start, start), ("".join(f"{line}{end}" for line in lines),))
