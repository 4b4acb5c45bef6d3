"""`self.non_trainable_weights.append(self.w)` has no effect: the list is a copy."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import FACADES
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_LISTS = {
    "trainable_weights": True,
    "_trainable_weights": True,
    "non_trainable_weights": False,
    "_non_trainable_weights": False,
}
# That of tf.keras still works, and makes TensorFlow's variable, which can't be told so later.
_MAKERS = frozenset((root, "Variable") for root in ("keras", *FACADES)) | {
    ("keras", "backend.variable")
}


@rule(
    "KD430",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads(*_LISTS, on=Kind.LAYER).beside(attribute("append")),
)
def check(listed: Read) -> Finding | None:
    """Report each append of an attribute of the layer's own."""
    appended = appended_weight(listed.module, listed.node)
    if appended is None:
        return None
    call, weight = appended
    source, member = listed.source(weight), listed.member
    said = f"Set `{source}.trainable = {_LISTS[member]}`"
    is_gone = member.startswith("_")
    error = f"AttributeError: '{listed.owner.cls}' object has no attribute '{member}'"
    return listed.finding(
        f"a layer no longer has `{member}`: {error}"
        if is_gone
        else f"appending to `{member}` has no effect: the list is a copy, and `{source}` is "
        "trained",
        symbol=f"Layer.{member}.append",
        severity=Severity.ERROR if is_gone else Severity.CHANGE,
        help=f"{said}.",
        fix=listed.fix(
            said,
            Edit(listed.module.span(call), (f"{source}.trainable = {_LISTS[member]}",)),
            unsafe_because="the attribute is written in several lines" if "\n" in source else "",
        ),
    )


def appended_weight(module: Module, node: cst.CSTNode) -> tuple[cst.Call, cst.Attribute] | None:
    """Return ``self.list.append(self.w)`` and ``self.w`` where the class makes that variable."""
    method = module.parent(node)
    call = None if method is None else module.parent(method)
    match call:
        case cst.Call(
            func=cst.Attribute(value=listed, attr=cst.Name(value="append")),
            args=[cst.Arg(value=cst.Attribute(value=cst.Name()) as weight, keyword=None)],
        ) if listed is node and isinstance(module.parent(call), cst.Expr):
            pass
        case _:
            return None
    receiver = node.value if isinstance(node, cst.Attribute) else None
    if receiver is None or not receiver.deep_equals(weight.value):
        return None
    return (call, weight) if _is_a_variable(module, weight) else None


def _is_a_variable(module: Module, weight: cst.Attribute) -> bool:
    """Say whether all that the class assigns to the attribute are variables of Keras."""
    cls = class_around(module, weight)
    values = [
        each.value
        for each in (() if cls is None else descendants(cls))
        if isinstance(each, cst.Assign)
        for target in each.targets
        if target.target.deep_equals(weight)
    ]
    return bool(values) and all(_makes_a_variable(module, each) for each in values)


def _makes_a_variable(module: Module, value: cst.BaseExpression) -> bool:
    if not isinstance(value, cst.Call):
        return False
    name = module.qualified(value.func) or ""
    added = isinstance(value.func, cst.Attribute) and value.func.attr.value == "add_weight"
    return added or split_root(name) in _MAKERS
