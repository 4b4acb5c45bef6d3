"""A file's import style: sorted, combined, or one name a line."""

from __future__ import annotations

import libcst as cst
from msgspec.structs import replace

from kdoctor.memoize import once
from kdoctor.project.import_sorting import DEFAULT, Sorting
from kdoctor.syntax import Module

ImportStatement = cst.Import | cst.ImportFrom


def from_module(statement: ImportStatement) -> str | None:
    """Return the module of an absolute ``from module import …``, else None."""
    if not isinstance(statement, cst.ImportFrom) or statement.relative or not statement.module:
        return None
    if isinstance(statement.names, cst.ImportStar):
        return None
    return cst.Module(()).code_for_node(statement.module).replace(" ", "")


def name_key(name: str, sorting: Sorting = DEFAULT) -> tuple[int, str]:
    """Sort names as isort and ruff do: constants, classes, then functions and modules."""
    if not sorting.by_type:
        return 0, name.lower()
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower()


def sorting_for(module: Module, imported: str, sorting: Sorting) -> Sorting:
    """Return how names of one package are imported: one a line, where a file has them so."""
    if sorting.is_configured or sorting.single_line or imported not in _one_a_line(module):
        return sorting
    return replace(sorting, single_line=True)


@once
def _one_a_line(module: Module) -> frozenset[str]:
    """Return the packages of which a file imports some names, each by a statement of its own.

    `b as c` says nothing: sorted imports have it so.
    """
    counts: dict[str, list[int]] = {}
    for line in module.tree.body:
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            own = from_module(each) if isinstance(each, cst.ImportFrom) else None
            if own is not None and isinstance(each, cst.ImportFrom):
                aliases = () if isinstance(each.names, cst.ImportStar) else each.names
                renames = len(aliases) == 1 and aliases[0].asname is not None
                counts.setdefault(own, []).extend(() if renames else (len(aliases),))
    return frozenset(own for own, some in counts.items() if len(some) > 1 and max(some) == 1)
