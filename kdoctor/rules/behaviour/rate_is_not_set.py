"""`optimizer.lr = …` sets an attribute that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, Store, files, stores
from kdoctor.analysis.queries.conditions import string, word
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_OLD, _NEW = "lr", "learning_rate"
_OTHERS = (BindingKind.AUGMENT, BindingKind.DELETE)
_TITLE = "Write `learning_rate` instead of `lr`"


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
        fix = _renaming(found.module)[found.source(found.node.value)]
        yield _finding(found, found.node, found.owner, fix)


@once  # it renames all places, and each of them has a finding: they share the fix
def _renaming(module: Module) -> dict[str, Fix]:
    """Return the fix that renames the attribute at all places, by how the optimizer is written."""
    stores = (each for each in module.member_stores if each.member == _OLD)
    places: list[MemberUse | MemberStore] = [*module.members_named(_OLD), *stores]
    spans: dict[str, set[Span]] = {}
    for each in places:
        if each.owner.kind is Kind.OPTIMIZER:
            written = module.source(each.node.value)
            spans.setdefault(written, set()).add(module.span(each.node.attr))
    return {
        written: check.fix(_TITLE, *(Edit(span, (_NEW,)) for span in sorted(found)))
        for written, found in spans.items()
    }


def _set_by_name(file: File) -> Iterator[Finding]:
    """Report ``setattr(optimizer, "lr", …)``."""
    module = file.module
    for call, name, owner in _setattrs(module):
        if owner.kind is Kind.OPTIMIZER and name.raw_value == _OLD and not module.is_guarded(call):
            text = f"{name.quote}{_NEW}{name.quote}"
            fix = check.fix(_TITLE, Edit(module.span(name), (text,)))
            yield _finding(file, call, owner, fix)


def _finding(found: Store | File, node: cst.CSTNode, owner: Type, fix: Fix) -> Finding:
    return found.finding(
        "this sets a new attribute `lr`; the learning rate does not change",
        at=node,
        symbol=f"{owner.cls or 'Optimizer'}.lr",
        help="Write `learning_rate`.",
        fix=fix,
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
