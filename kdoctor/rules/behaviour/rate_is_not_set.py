"""`optimizer.lr = …` sets an attribute that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, Store, files, stores
from kdoctor.analysis.queries.conditions import string, word
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_OLD, _NEW = "lr", "learning_rate"
_OTHERS = (BindingKind.AUGMENT, BindingKind.DELETE)


@rule(
    "KD406",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=stores(_OLD, on=Kind.OPTIMIZER) | files(word("setattr"), string(_OLD)),
)
def check(found: Store | File) -> Iterator[Finding]:
    """Report each assignment to ``lr``."""
    if isinstance(found, File):
        yield from _set_by_name(found)
    # An update (`*=`) reads the attribute first, and fails there: KD206.
    elif found.store.how not in _OTHERS:
        yield _finding(found, found.node, found.owner, *_renamed(found))


def _renamed(found: Store) -> Iterator[Edit]:
    """Yield the edits of all places where the optimizer is written as here."""
    module, written = found.module, found.source(found.node.value)
    places: list[MemberUse | MemberStore] = [*module.members, *module.member_stores]
    spans = {
        module.span(each.node.attr)
        for each in places
        if each.member == _OLD and each.owner.kind is Kind.OPTIMIZER
        if module.source(each.node.value) == written
    }
    return (Edit(span, (_NEW,)) for span in sorted(spans))


def _set_by_name(file: File) -> Iterator[Finding]:
    """Report ``setattr(optimizer, "lr", …)``."""
    module = file.module
    for call, name, owner in _setattrs(module):
        if owner.kind is Kind.OPTIMIZER and name.raw_value == _OLD and not module.is_guarded(call):
            text = f"{name.quote}{_NEW}{name.quote}"
            yield _finding(file, call, owner, Edit(module.span(name), (text,)))


def _finding(found: Store | File, node: cst.CSTNode, owner: Type, *edits: Edit) -> Finding:
    return found.finding(
        "this sets a new attribute `lr`; the learning rate does not change",
        at=node,
        symbol=f"{owner.cls or 'Optimizer'}.lr",
        help="Write `learning_rate`.",
        fix=found.fix("Write `learning_rate` instead of `lr`", *edits),
    )


def _setattrs(
    module: Module,
) -> Iterator[tuple[cst.Call, cst.SimpleString, Type]]:
    for node in module.nodes(cst.Call):
        match node:
            case cst.Call(
                func=cst.Name(value="setattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), _],
            ) if (kind := module.type_of(owner)) is not None:
                yield node, name, kind
