"""Class attributes that store a version check: ``self.is_keras_3``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scopes import Binding, BindingKind, ScopeKind

# Of other names nothing is asked: it takes a walk over the class.
_TELLING: Final = pattern(r"keras|tf|tensorflow|version|legacy", re.IGNORECASE)


def stored_version_answers(node: cst.Attribute, resolver: Resolver) -> Iterator[cst.BaseExpression]:
    """Yield all values that a class assigns to a member read from ``self``.

    Where it is not clear what that is, ``node`` itself is among it.
    """
    name = node.attr.value
    if not isinstance(node.value, cst.Name) or not _TELLING.search(name):
        return
    match resolver.bindings_at(node.value):
        case [Binding(kind=BindingKind.PARAMETER, scope=scope)] if scope.parent is not None:
            around = scope.parent
        case _:
            return
    if around.kind is not ScopeKind.CLASS:
        return
    for binding in around.bindings.get(name, ()):
        yield binding.value if binding.value is not None and not binding.path else node
    for each in descendants(around.node):
        match each:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute(attr=attr))], value=value
            ):
                if attr.value == name:
                    yield value
            case cst.Assign() if any(_holds(target, name) for target in each.targets):
                yield node
            case cst.AnnAssign() | cst.AugAssign() if _holds(each.target, name):
                yield node


def _holds(target: cst.CSTNode, name: str) -> bool:
    attributes = (each for each in descendants(target) if isinstance(each, cst.Attribute))
    return any(each.attr.value == name for each in attributes)
