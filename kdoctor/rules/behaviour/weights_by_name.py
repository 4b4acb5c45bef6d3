"""`{w.name: w for w in model.weights}`: weight names are no longer unique."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

_WEIGHTS: Final = frozenset(
    f"{which}{what}" for which in ("", "trainable_", "non_trainable_")
    for what in ("weights", "variables")
)  # fmt: skip


@rule(
    "KD475",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads("name", on=Kind.VARIABLE).beside(attribute(*_WEIGHTS)),
)
def check(name: Read) -> Finding | None:
    """Report each such key."""
    if not _is_key(name.module, name.node) or not _is_of_a_model(name.module, name.node):
        return None
    return name.finding(
        "weight names are no longer unique: every layer has a `kernel` and a `bias`, and only "
        "the last of each is kept",
        symbol="Variable.name",
        help="Use `.path`: `dense/kernel`.",
        fix=name.fix(
            "Use `.path` as the key",
            Edit(name.module.span(name.node.attr), ("path",)),
            unsafe_because="the keys differ from Keras 2: `dense/kernel`, prefixed with the name "
            "of a `Sequential` or subclassed model, and without `:0`",
        ),
    )


def _is_key(module: Module, name: cst.Attribute) -> bool:
    parent = module.parent(name)
    match parent:
        case cst.DictComp():
            return parent.key is name
        case cst.Index():
            held = module.parent(module.parent(parent) or parent)
            target = module.parent(held) if isinstance(held, cst.Subscript) else None
            return isinstance(target, cst.AssignTarget)
        case cst.Element():
            pair = module.parent(parent)
            if not isinstance(pair, cst.Tuple) or pair.elements[0] is not parent:
                return False
            made = module.parent(pair)
            return _is_gone_through(made, pair) and _is_given_to(module, made, "dict")
        case cst.GeneratorExp() | cst.ListComp() if parent.elt is name:
            zipped = module.parent(module.parent(parent) or parent)
            return (
                _is_given_to(module, parent, "zip")
                and zipped is not None
                and _is_given_to(module, zipped, "dict")
            )
    return False


def _is_gone_through(made: cst.CSTNode | None, element: cst.CSTNode) -> bool:
    return isinstance(made, cst.GeneratorExp | cst.ListComp) and made.elt is element


def _is_given_to(module: Module, given: cst.CSTNode | None, function: str) -> bool:
    """Say whether it is the first that a builtin gets."""
    argument = None if given is None else module.parent(given)
    call = None if argument is None else module.parent(argument)
    return (
        isinstance(call, cst.Call)
        and call.args[0] is argument
        and isinstance(call.func, cst.Name)
        and call.func.value == function
        and is_builtin(module, call.func)
    )


def _is_of_a_model(module: Module, name: cst.Attribute) -> bool:
    """Say whether it is the name of each weight of a model: a loop goes through them."""
    if not isinstance(name.value, cst.Name):
        return False
    match module.bindings_at(name.value):
        case [
            Binding(kind=BindingKind.LOOP, path=(), value=cst.Attribute(attr=attr, value=owner))
        ] if attr.value in _WEIGHTS:
            found = module.type_of(owner)
            return found is not None and found.kind is Kind.MODEL
    return False
