"""``functools.partial(Conv2D, padding="same")``: a callable with bound arguments."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.type_oracle import PARTIAL


def partial_callable(binding: Binding, resolver: Resolver) -> Collection[cst.BaseExpression]:
    """Return the callable and arguments of a bound partial, else nothing."""
    made = binding.value
    if binding.kind is not BindingKind.ASSIGN or binding.path or not isinstance(made, cst.Call):
        return ()
    first = next(iter(made.args), None)
    meaning = resolver.meaning_of(made.func)
    if first is None or first.star or first.keyword or meaning is None or meaning.name != PARTIAL:
        return ()
    return (first.value,)
