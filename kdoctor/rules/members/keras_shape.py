"""``x._keras_shape``: the static shape of a tensor is ``x.shape``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, may_hold
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import chain_of
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.quick_facts import QuickFacts

_MEMBER = "_keras_shape"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read, unless the file itself assigns such an attribute to the same thing.

    Where a class of the file has one of its own, only what is known to be a tensor lacks it.
    """
    nodes = [each for each in module.attributes if each.attr.value == _MEMBER]
    assigned = {_owner(module, each) for each in nodes if _is_stored(module, each)}
    is_own = "self" in assigned or any(map(_defines_it, module.nodes(cst.ClassDef)))
    for node in nodes:
        if is_own and not _is_symbolic(module, node):
            continue
        if _owner(module, node) not in assigned and not module.is_guarded(node):
            yield _finding(module, facts, node)


def _defines_it(cls: cst.ClassDef) -> bool:
    """Say whether a class has it in its body: a property, a default, a field."""
    for statement in cls.body.body:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name)):
                names = [name]
            case cst.SimpleStatementLine(body=[cst.Assign(targets=targets)]):
                names = [dotted_name(each.target) or "" for each in targets]
            case cst.SimpleStatementLine(body=[cst.AnnAssign(target=target)]):
                names = [dotted_name(target) or ""]
            case _:
                continue
        if _MEMBER in names:
            return True
    return False


def _is_symbolic(module: Module, node: cst.Attribute) -> bool:
    owner = module.type_of(node.value)
    return owner is not None and owner.kind is Kind.TENSOR


def _owner(module: Module, node: cst.Attribute) -> str:
    return dotted_name(node.value) or module.source(node.value)


def _is_stored(module: Module, node: cst.Attribute) -> bool:
    target: cst.CSTNode = node
    above = module.parent(target)
    while isinstance(above, cst.Element | cst.Tuple | cst.List):
        target, above = above, module.parent(above)
    return (
        isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign)
        and above.target is target
    )


def _is_read_unasked(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether it is read of what neither gets it here nor was asked whether it has it."""
    asked = {id(each) for each in _asked_for(quick)}

    def holds(possible: MayTypes) -> bool:
        writes = [node for node, _ in possible.writes({_MEMBER})]
        nodes = [node for node, _ in possible.reads({_MEMBER})]
        nodes += [node for node in writes if isinstance(node.ctx, ast.Del)]
        stored = [node for node in writes if isinstance(node.ctx, ast.Store)]
        fine = {chain_of(node.value) for node in stored} - {()}
        return any(chain_of(node.value) not in fine and id(node) not in asked for node in nodes)

    return may_hold(quick, facts, holds)


def _asked_for(quick: QuickFacts) -> Iterator[ast.AST]:
    """Yield what stands under `if hasattr(x, "_keras_shape"):` and reads just that."""
    for branch in quick.nodes.get(ast.If, ()):
        match branch.test:
            case ast.Call(
                func=ast.Name(id="hasattr"), args=[ast.Name(id=owner), ast.Constant(value=member)]
            ) if member == _MEMBER:
                for each in chain.from_iterable(map(ast.walk, branch.body)):
                    if isinstance(each, ast.Attribute) and chain_of(each.value) == (owner,):
                        yield each


def _finding(module: Module, facts: TargetFacts, node: cst.Attribute) -> Finding:
    is_symbolic = _is_symbolic(module, node)
    proof = facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
    named = "'KerasTensor' object" if is_symbolic else "object"
    return rule.finding(
        module.place(node),
        f"a tensor has no `{_MEMBER}`: AttributeError: {named} has no attribute '{_MEMBER}'",
        symbol=f"KerasTensor.{_MEMBER}",
        confidence=Confidence.LIKELY,
        help="The static shape is `.shape`.",
        fix=Fix(
            "Read `.shape` instead",
            (Edit(module.span(node.attr), ("shape",)),),
            proof if is_symbolic else Applicability.UNSAFE,
            unsafe_because=""
            if is_symbolic
            else "inside `call` it is TensorFlow's `TensorShape`, not a tuple",
        ),
    )


rule = Rule(
    code="KD211",
    name="keras-shape",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute(_MEMBER) & Trigger(_is_read_unasked),
    since="3.0",
    only_alone=True,
)
