"""Names used through a variable: ``mean = K.mean``, then ``mean(x)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from kdoctor.memoize import once
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.node_predicates import first_name
from kdoctor.syntax.scopes import BindingKind


def assigned_to_variable(module: Module, reference: Reference) -> Sequence[Reference]:
    """Return the uses of names that a variable is made of, if ``reference`` reads the variable.

    No use where the name is read as it was imported, or where it is not clear what the variable is.
    """
    name = first_name(reference.node)
    made: list[Reference] = []
    for bound in () if name is None else module.bindings_at(name):
        value = bound.value if bound.kind is BindingKind.ASSIGN and not bound.path else None
        use = None if value is None else _uses(module).get(value)
        if use is None:
            return ()
        made.append(use)
    return made


@once
def _uses(module: Module) -> Mapping[cst.CSTNode, Reference]:
    return {each.node: each for each in module.references if each.kind is ReferenceKind.LOAD}
