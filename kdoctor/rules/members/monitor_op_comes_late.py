"""`self.monitor_op` in a subclass of `EarlyStopping`: it is None until Keras sets it late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import is_call_of_super, keras_version
from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.models.user_classes import (
    lineage_with_keras_3_base,
    member_of_self,
    methods_in,
    receiver,
)
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_OP: Final = "monitor_op"
_SETS: Final = "_set_monitor_op"
_LATE_IN_ALL: Final = Version("3.11.0")  # before, only EarlyStopping set it that late
_ALL: Final = frozenset({"EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau"})
_PRIVATE: Final = f"`{_SETS}` is a private method, which any release may remove"


@rule(
    "KD247",
    severity=Severity.ERROR,
    since="3.0",
    look_for=classes(Kind.CALLBACK).beside(attribute(_OP)),
)
def check(cls: Class) -> Iterator[Finding]:
    """Report the first call in each method that may run before anything has set it."""
    line, base = lineage_with_keras_3_base(cls.module, cls.facts, cls.node)
    name = None if base is None else base.cls
    if name not in _ALL or (name != "EarlyStopping" and keras_version(cls.facts) < _LATE_IN_ALL):
        return
    if any(
        _sets_it(each, method)
        for own in line
        for method in methods_in(own).values()
        for each in descendants(method)
    ):
        return
    for method in cls.methods.values():
        calls = _calls(method)
        if calls and not _begins_with_base(method):
            yield _finding(cls, name or "", method, calls)


def _sets_it(node: cst.CSTNode, method: cst.FunctionDef) -> bool:
    """Say whether something assigns ``self.monitor_op``, or calls what does."""
    match node:
        case cst.AssignTarget(target=target):
            return member_of_self(target, method) == _OP
        case cst.Call(func=function):
            return member_of_self(function, method) == _SETS
    return False


def _calls(method: cst.FunctionDef) -> list[cst.Call]:
    return [
        each
        for each in descendants(method)
        if isinstance(each, cst.Call) and member_of_self(each.func, method) == _OP
    ]


def _begins_with_base(method: cst.FunctionDef) -> bool:
    """Say whether the method of the base runs in it: that of Keras sets it first."""
    return any(is_call_of_super(each, method.name.value) for each in descendants(method))


def _finding(cls: Class, base: str, method: cst.FunctionDef, calls: list[cst.Call]) -> Finding:
    return cls.finding(
        f"`{base}` of Keras 3 sets `{_OP}` at the end of an epoch only: TypeError: 'NoneType' "
        "object is not callable",
        at=calls[0],
        symbol=f"{base}.{_OP}",
        help=f"Call `self.{_SETS}()` where it is None; `best` begins with None, too.",
        fix=_fix(cls, method, calls),
    )


def _fix(cls: Class, method: cst.FunctionDef, calls: list[cst.Call]) -> Fix | NoFix:
    module, own = cls.module, receiver(method)
    first = insert_at_body_start(module, method, f"if {own}.{_OP} is None: {own}.{_SETS}()")
    if first is None:
        return NoFix("there is no place for a line at the start of the method")
    edits = [first]
    for call in calls:
        best = call.args[1].value if len(call.args) == 2 else None
        if best is not None and member_of_self(best, method) == "best":
            span = module.span(call)
            edits.append(Edit(span, (f"({own}.best is None or ", Hole(span), ")")))
    return cls.fix(f"Set `{_OP}` first", *edits, unsafe_because=_PRIVATE)
