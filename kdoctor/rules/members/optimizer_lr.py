"""``optimizer.lr``: the learning rate is now ``learning_rate``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.models.overridden import has_own
from kdoctor.analysis.queries import File, Read, Store, files, reads, stores
from kdoctor.analysis.queries.conditions import string, word
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_TELL_SCHEDULES = frozenset({"isinstance", "callable"})
_RATE = "learning_rate"


@rule(
    "KD206",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads("lr", on=Kind.OPTIMIZER, overridden=True)
    | stores("lr", on=Kind.OPTIMIZER)
    | files(word("hasattr"), string("lr")),
)
def check(found: Read | Store | File) -> Iterator[Finding]:
    """Report each read, and each update, which reads as well."""
    if isinstance(found, File):
        for owner, name, raised in _refusals(found.module):
            if not found.module.is_guarded(name):
                yield _refused(found, owner, name, raised)
    elif isinstance(found, Store):
        if found.store.how is BindingKind.AUGMENT:
            yield _finding(found, is_assigned=False)
    elif found.use.is_assigned or not found.use.owner_defines:
        is_called = found.called is not None and not _is_asked_for(found)
        yield _called(found) if is_called else _finding(found, is_assigned=found.use.is_assigned)


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
            ) if (owner := module.type_of(asked)) is not None and owner.kind is Kind.OPTIMIZER:
                known = module.oracle.class_type(owner.qualified) if owner.qualified else None
                if owner.cls is None or (known is not None and known.cls == owner.cls):
                    yield owner, name, raised


def _refused(file: File, owner: Type, name: cst.SimpleString, raised: cst.Raise) -> Finding:
    span = file.module.span(name)
    begin = len(name.prefix) + len(name.quote)
    inside = Span(span.start + begin, span.end - len(name.quote))
    return file.finding(
        f"an optimizer no longer has `lr`: {_error(file, raised)}",
        at=name,
        symbol=symbol(owner, "lr"),
        help="It is now `learning_rate`.",
        fix=file.fix("Check for `learning_rate` instead of `lr`", Edit(inside, ("learning_rate",))),
    )


def _error(file: File, raised: cst.Raise) -> str:
    """Return what a statement raises, as Python shows it where that is written out."""
    match raised.exc:
        case cst.Call(func=cst.Name(value=name), args=[cst.Arg(value=cst.SimpleString() as text)]):
            return f"{name}: {text.raw_value}"
    return file.source(raised)


def _is_asked_for(read: Read) -> bool:
    """Say whether it is called only where it is a schedule: which `learning_rate` never is."""
    rate = read.source(read.node)
    return any(
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _TELL_SCHEDULES
        and bool(call.args)
        and read.source(call.args[0].value) == rate
        for each in read.module.ancestors(read.node)
        if isinstance(each, cst.If | cst.IfExp)
        for call in (each.test, *descendants(each.test))
    )


def _called(read: Read) -> Finding:
    """Return the finding of ``optimizer.lr(step)``, which was a schedule."""
    return read.finding(
        _message(read.owner, is_assigned=read.use.is_assigned),
        symbol=symbol(read.owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=read.use.is_assigned),
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


def _finding(found: Read | Store, *, is_assigned: bool) -> Finding:
    return found.finding(
        _message(found.owner, is_assigned=is_assigned),
        symbol=symbol(found.owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=is_assigned),
        help="It is now `learning_rate`.",
        fix=NoFix(f"the class has a `{_RATE}` of its own")
        if has_own(found.module, found.node.value, _RATE)
        else found.fix(
            f"Read `.{_RATE}` instead of `.lr`",
            Edit(found.module.span(found.node.attr), (_RATE,)),
        ),
    )
