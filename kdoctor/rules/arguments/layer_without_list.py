"""``keras.Sequential(layer)``: a model takes its layers in a list."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.forms import is_display, is_none
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind


def _may_be_one(form: object) -> bool:
    """Say whether it is no list and no tuple, as it is written."""
    return not (is_display(form) or is_none(form))


_GONE_THROUGH: Final = frozenset({"__getitem__", "__iter__"})


@rule(
    "KD329",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Instance(Kind.MODEL, cls="Sequential")).argument(
        "layers", 0, where=_may_be_one
    ),
)
def check(given: Argument) -> Finding | None:
    """Report each layer or model that is given alone."""
    found = given.module.type_of(given.node)
    if found is None or found.kind not in {Kind.LAYER, Kind.MODEL}:
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


def _may_be_gone_through(module: Module, name: str | None) -> bool:
    """Say whether a class of the user's own may say what a loop over its objects gives."""
    node = None if name is None else class_named(module, cst.Name(name))
    if node is None or not module.words.isdisjoint(_GONE_THROUGH):
        return True
    base = only_base(module, node)
    return base is None or module.qualified(base) is None
