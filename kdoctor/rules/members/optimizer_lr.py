"""``optimizer.lr``: the learning rate is now ``learning_rate``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, changes_of, reads_of, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_TELL_SCHEDULES = frozenset({"isinstance", "callable"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read, and each update, which reads as well."""
    for use in module.members:
        mine = use.owner_defines and not use.is_assigned
        if _is_it(use.owner, use.member) and not mine and not module.is_guarded(use.node):
            if use.called is not None and not _is_asked_for(module, use):
                yield _called(module, use)
            else:
                yield _finding(module, facts, use.node, use.owner, is_assigned=use.is_assigned)
    for store in module.member_stores:
        if _is_update(store) and not module.is_guarded(store.node):
            yield _finding(module, facts, store.node, store.owner, is_assigned=False)
    for owner, name, raised in _refusals(module):
        if not module.is_guarded(name):
            yield _refused(module, facts, owner, name, raised)


def _refusals(module: Module) -> Iterator[tuple[Type, cst.SimpleString, cst.Raise]]:
    """Yield the optimizer and the `"lr"` of each `if not hasattr(optimizer, "lr"): raise …`.

    Not where something is given an attribute of that name, nor of an optimizer of the file's own.
    """
    if any(store.member == "lr" for store in module.member_stores):
        return
    for node in module.nodes(cst.If):
        match node:
            case cst.If(
                test=cst.UnaryOperation(
                    operator=cst.Not(),
                    expression=cst.Call(
                        func=cst.Name(value="hasattr"),
                        args=[
                            cst.Arg(value=asked),
                            cst.Arg(value=cst.SimpleString(raw_value="lr") as name),
                        ],
                    ),
                ),
                body=cst.IndentedBlock(
                    body=[cst.SimpleStatementLine(body=[cst.Raise() as raised]), *_]
                )
                | cst.SimpleStatementSuite(body=[cst.Raise() as raised]),
            ) if (owner := module.type_of(asked)) is not None and _is_it(owner, "lr"):
                known = module.oracle.class_type(owner.qualified) if owner.qualified else None
                if owner.cls is None or (known is not None and known.cls == owner.cls):
                    yield owner, name, raised


def _refused(
    module: Module, facts: TargetFacts, owner: Type, name: cst.SimpleString, raised: cst.Raise
) -> Finding:
    span = module.span(name)
    begin = len(name.prefix) + len(name.quote)
    inside = Span(span.start + begin, span.end - len(name.quote))
    return rule.finding(
        module.place(name),
        f"an optimizer no longer has `lr`: {_error(module, raised)}",
        symbol=symbol(owner, "lr"),
        confidence=Confidence.LIKELY,
        help="It is now `learning_rate`.",
        fix=Fix(
            "Check for `learning_rate` instead of `lr`",
            (Edit(inside, ("learning_rate",)),),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        ),
    )


def _error(module: Module, raised: cst.Raise) -> str:
    """Return what a statement raises, as Python shows it where that is written out."""
    match raised.exc:
        case cst.Call(func=cst.Name(value=name), args=[cst.Arg(value=cst.SimpleString() as text)]):
            return f"{name}: {text.raw_value}"
    return module.source(raised)


def _may_be_refused(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value == "lr"
        for called in quick.calls_by_leaf.get("hasattr", ())
        for each in called.node.args
    )


def _is_it(owner: Type, member: str) -> bool:
    return owner.kind is Kind.OPTIMIZER and member == "lr"


def _is_update(store: MemberStore) -> bool:
    is_it = _is_it(store.owner, store.member) and not store.owner_defines
    return is_it and store.how is BindingKind.AUGMENT


def _is_asked_for(module: Module, use: MemberUse) -> bool:
    """Say whether it is called only where it is a schedule: which `learning_rate` never is."""
    rate = module.source(use.node)
    return any(
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _TELL_SCHEDULES
        and bool(call.args)
        and module.source(call.args[0].value) == rate
        for each in module.ancestors(use.node)
        if isinstance(each, cst.If | cst.IfExp)
        for call in (each.test, *descendants(each.test))
    )


def _called(module: Module, use: MemberUse) -> Finding:
    """Return the finding of ``optimizer.lr(step)``, which was a schedule."""
    return rule.finding(
        module.place(use.node),
        _message(use.owner, is_assigned=use.is_assigned),
        symbol=symbol(use.owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=use.is_assigned),
        help="Keep the schedule in a variable, and call it; `float(optimizer.learning_rate)` is "
        "the rate of the next step.",
        fix=NoFix(
            "a schedule is called here: `learning_rate` returns the rate, a number, not "
            "the schedule"
        ),
    )


def _message(owner: Type, *, is_assigned: bool) -> str:
    if is_assigned:
        return (
            "`lr` of an optimizer is not its learning rate, but a value that this file assigned: "
            "Keras 3 uses `learning_rate`"
        )
    return f"an optimizer no longer has `lr`: {attribute_error(owner, 'lr')}"


def _severity(*, is_assigned: bool) -> Severity:
    return Severity.CHANGE if is_assigned else Severity.ERROR


def _finding(
    module: Module, facts: TargetFacts, node: cst.Attribute, owner: Type, *, is_assigned: bool
) -> Finding:
    proof = facts.applicability(*(each for each in rule.invalid if each.after))
    return rule.finding(
        module.place(node),
        _message(owner, is_assigned=is_assigned),
        symbol=symbol(owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=is_assigned),
        help="It is now `learning_rate`.",
        fix=Fix(
            "Read `.learning_rate` instead of `.lr`",
            (Edit(module.span(node.attr), ("learning_rate",)),),
            proof,
        ),
    )


rule = Rule(
    code="KD206",
    name="optimizer-lr",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=reads_of({Kind.OPTIMIZER}, "lr")
    | changes_of({Kind.OPTIMIZER}, "lr")
    | (word("hasattr") & word("lr") & Trigger(_may_be_refused)),
    since="3.0",
)
