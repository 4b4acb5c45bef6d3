"""``Sequential.output``, ``Sequential.input``: only ``outputs`` and ``inputs`` always exist."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Precedence, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind

_MEMBERS = frozenset({"output", "input"})
_ASK_FOR_A_LIST = frozenset({"isinstance", "len", "zip", "enumerate", "list", "tuple", "type"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read on a model that is surely a `Sequential` never called."""
    for use in module.members:
        if use.owner.kind is not Kind.MODEL or use.member not in _MEMBERS or use.owner_defines:
            continue
        if module.is_guarded(use.node):
            continue
        told = _is_told_by_calls(module, use)
        if use.owner.cls == "Sequential" and not told and not _is_called(module, use):
            yield _finding(module, facts, use)
        elif told and _is_sequential(facts, use) and not _is_made_a_tensor(module, use):
            yield _of_any_model(module, use)


def _is_told_by_calls(module: Module, use: MemberUse) -> bool:
    """Say whether it is a parameter for which each call passes such a model."""
    parameter = _parameter(module, use.node.value)
    return parameter is not None and module.is_inferred_from_calls(parameter)


def _is_sequential(facts: TargetFacts, use: MemberUse) -> bool:
    """Say whether it is a `Sequential` of Keras 3: any other model may be a functional one."""
    return use.owner.cls == "Sequential" and is_keras_3(facts, use.owner.qualified)


def _parameter(module: Module, model: cst.BaseExpression) -> Binding | None:
    bound = module.bindings_at(model) if isinstance(model, cst.Name) else ()
    is_given = len(bound) == 1 and isinstance(bound[0].node, cst.Param)
    return bound[0] if is_given else None


def _is_made_a_tensor(module: Module, use: MemberUse) -> bool:
    """Say whether the function calls the model on a symbolic tensor."""
    owner = module.source(use.node.value)
    return any(
        module.source(call.func) == owner
        for call in module.nodes(cst.Call)
        if is_symbolic(module, call)
    )


def _is_called(module: Module, use: MemberUse) -> bool:
    """Say whether something of the same spelling is called, or handed to who may call it."""
    owner = module.source(use.node.value)
    called = (call.func for call in module.nodes(cst.Call))
    given = (argument.value for argument in module.nodes(cst.Arg))
    return any(module.source(each) == owner for each in (*called, *given))


def _finding(module: Module, facts: TargetFacts, use: MemberUse) -> Finding:
    edit = Edit(module.span(use.node.attr), (f"{use.member}s[0]",), Precedence.PRIMARY)
    proof = facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
    return rule.finding(
        module.place(use.node),
        f"a `Sequential` has no `{use.member}` before it is called like a layer: AttributeError: "
        f"The layer sequential has never been called and thus has no defined {use.member}.",
        symbol=f"Sequential.{use.member}",
        confidence=use.confidence,
        help=f"`{use.member}s[0]` exists as soon as the model is built.",
        fix=Fix(f"Read `.{use.member}s[0]` instead", (edit,), proof),
    )


def _of_any_model(module: Module, use: MemberUse) -> Finding:
    several = _may_be_several(module, use.node)
    edit = Edit(module.span(use.node.attr), (f"{use.member}s[0]",), Precedence.PRIMARY)
    fix = Fix(
        f"Read `.{use.member}s[0]` instead",
        (edit,),
        Applicability.UNSAFE,
        unsafe_because=f"for a model with several {use.member}s it is the first, not a list",
    )
    return rule.finding(
        module.place(use.node),
        f"a `Sequential` has no `{use.member}` before it is called like a layer; other models do",
        symbol=f"Model.{use.member}",
        confidence=use.confidence,
        severity=Severity.CHANGE,
        help=f"Every built model has `{use.member}s`, a list of tensors: for a single one write "
        f"`{use.member}s[0]`.",
        fix=NoFix(f"the model may have several {use.member}s") if several else fix,
    )


def _may_be_several(module: Module, read: cst.BaseExpression) -> bool:
    """Say whether the code is ready for a list of them."""
    match module.parent(read):
        case cst.Arg() as given:
            call = module.parent(given)
            return isinstance(call, cst.Call) and module.source(call.func) in _ASK_FOR_A_LIST
        case cst.For() | cst.CompFor():
            return True
    return False


rule = Rule(
    code="KD218",
    name="sequential-output",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.MODEL}, *_MEMBERS),
    since="3.0",
)
