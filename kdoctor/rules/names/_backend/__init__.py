"""What became of the functions of ``keras.backend``: one table a subject.

``REWRITES`` are tried in order, the first that holds wins. ``BY_HAND`` says, by name, what to do
where no rewrite holds.
"""

from __future__ import annotations

from kdoctor.rewrite import Rewrite
from kdoctor.rules.names._backend import (
    creation,
    dots,
    elementwise,
    environment,
    functional,
    neural,
    random,
    reductions,
    shapes,
    variables,
)

_TABLES = (
    elementwise, reductions, shapes, creation, neural, dots, variables, functional, random,
    environment,
)  # fmt: skip

REWRITES: tuple[Rewrite, ...] = tuple(row for table in _TABLES for row in table.REWRITES)
BY_HAND: dict[str, str] = {
    name: text
    for table in _TABLES
    if hasattr(table, "BY_HAND")
    for name, text in table.BY_HAND.items()
}
