"""``keras.Sequential(layer)``: a model takes its layers in a list."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.alternatives import must_be
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.forms import is_display, is_none
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_GONE_THROUGH: Final = frozenset({"__getitem__", "__iter__"})


def _may_be_one(form: object) -> bool:
    """Say whether it is no list and no tuple, as it is written."""
    return not (is_display(form) or is_none(form))


@rule(
    "KD329",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Instance(Kind.MODEL, cls="Sequential")).argument(
        "layers", 0, where=_may_be_one
    ),
)
def check(given: Argument) -> Finding | None:
    """Report each layer or model that is given alone.

    Where it may be None, nothing is: `Sequential(None)` is empty, and `Sequential([None])` refused.
    """
    found = given.module.type_of(given.node)
    if found is None or not must_be(given.module, given.node, _is_one):
        return None
    if not found.is_of_imported_class and _may_be_gone_through(given.module, found.cls):
        return None
    name = found.cls or found.kind.capitalize()
    span = given.module.span(given.node)
    return given.finding(
        f"the layers are given in a list: TypeError: '{name}' object is not iterable",
        help="Put it into a list.",
        fix=given.fix("Put it into a list", Edit(span, ("[", Hole(span), "]"))),
    )


def _is_one(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression makes a layer or a model, or takes one out of a list."""
    found = module.type_of(node)
    if found is None or found.kind not in {Kind.LAYER, Kind.MODEL}:
        return False
    if isinstance(node, cst.Call):  # a function of the user's own may give None as well
        return module.qualified(node.func) is not None or class_named(module, node.func) is not None
    return isinstance(node, cst.Subscript)


def _may_be_gone_through(module: Module, name: str | None) -> bool:
    """Say whether a class of the user's own may say what a loop over its objects gives."""
    node = None if name is None else class_named(module, cst.Name(name))
    if node is None or not module.words.isdisjoint(_GONE_THROUGH):
        return True
    base = only_base(module, node)
    return base is None or module.qualified(base) is None
