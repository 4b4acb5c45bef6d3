"""`{w.name: w for w in model.weights}`: weight names are no longer unique."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, member
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

_WEIGHTS: Final = frozenset(
    f"{which}{what}" for which in ("", "trainable_", "non_trainable_")
    for what in ("weights", "variables")
)  # fmt: skip
_NAME: Final = "name"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such key."""
    for use in module.members:
        if use.owner.kind is not Kind.VARIABLE or use.member != _NAME or use.owner_defines:
            continue
        if not _is_key(module, use.node) or module.is_guarded(use.node):
            continue
        if _is_of_a_model(module, use.node):
            yield _finding(module, use)


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


def _finding(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        "weight names are no longer unique: every layer has a `kernel` and a `bias`, and only "
        "the last of each is kept",
        symbol="Variable.name",
        confidence=use.confidence,
        help="Use `.path`: `dense/kernel`.",
        fix=Fix(
            "Use `.path` as the key",
            (Edit(module.span(use.node.attr), ("path",)),),
            Applicability.UNSAFE,
            unsafe_because="the keys differ from Keras 2: `dense/kernel`, prefixed with the name "
            "of a `Sequential` or subclassed model, and without `:0`",
        ),
    )


def _may_be_keys(quick: QuickFacts, _: TargetFacts) -> bool:
    nodes = quick.nodes
    names = {
        each.target.id
        for each in chain(nodes.get(ast.For, ()), nodes.get(ast.comprehension, ()))
        if isinstance(each.target, ast.Name)
        and isinstance(each.iter, ast.Attribute)
        and each.iter.attr in _WEIGHTS
    }
    asked = {each for each in names if (each, (_NAME,)) in quick.chains}
    return bool(asked) and any(
        _is_name(key, asked)
        for node in chain.from_iterable(quick.scopes.values())
        for key in _keys(node)
    )


def _keys(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what may be the key of an entry."""
    match node:
        case ast.DictComp(key=key):
            yield key
        case (
            ast.GeneratorExp(elt=ast.Tuple(elts=[key, *_]))
            | ast.ListComp(elt=ast.Tuple(elts=[key, *_]))
        ):
            yield key
        case ast.GeneratorExp(elt=key) | ast.ListComp(elt=key):
            yield key
        case ast.Assign(targets=targets):
            yield from (each.slice for each in targets if isinstance(each, ast.Subscript))


def _is_name(node: ast.expr, owners: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == _NAME
        and isinstance(node.value, ast.Name)
        and node.value.id in owners
    )


rule = Rule(
    code="KD475",
    name="weights-by-name",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_WEIGHTS) & member(_NAME) & Trigger(_may_be_keys),
    since="3.0",
)
