"""Unnamed inputs are called `input_layer`, not `input_1`; unnamed models `functional`."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_OLD: Final = pattern(r"input_([1-9]\d*)|model(_[1-9]\d*)?")


def _is_old(form: object) -> bool:
    return isinstance(form, str) and _OLD.fullmatch(form) is not None


@rule(
    "KD413",
    severity=Severity.ERROR,
    since="3.0",
    # Only a model that is built here: a loaded one keeps its names.
    look_for=calls("get_layer", on=Instance(Kind.MODEL, "Functional"))
    .even(hidden=True)
    .argument("name", 0, where=_is_old),
)
def check(name: Argument) -> Finding | None:
    """Report each old name."""
    module, text = name.module, name.node
    match = _OLD.fullmatch(str(literal(text)))
    if not isinstance(text, cst.SimpleString) or not match or _is_given(module, match[0]):
        return None
    assert name.use is not None
    if not match[1] and not _has_a_model(module, name.use.node.value):
        return None
    new = _new_name(match)
    kind, base = ("inputs", "input_layer") if match[1] else ("models", "functional")
    return name.finding(
        f"{kind} are named `{base}`: ValueError: No such layer: {match[0]}.",
        symbol="Functional.get_layer",
        help=f"Give it an explicit name, or write `{new}`.",
        fix=name.fix(
            f"Write `{new}`",
            Edit(module.span(text), (f"{text.quote}{new}{text.quote}",)),
            unsafe_because="the number depends on what was built before",
        ),
    )


def _has_a_model(module: Module, owner: cst.BaseExpression) -> bool:
    """Say whether a model without a name surely is in what the expression is."""
    if any(each.name.value == "Model" for each in module.nodes(cst.ClassDef)):
        return False  # which goes by that name on Keras 3, too
    by_call = points_to_by_call_of(module)
    made = [by_call.made(owner, frame) for frame in by_call.runs(owner)]
    return bool(made) and all(
        each is not None
        and any(
            call is not each.call and _is_unnamed_model(module, call)
            for call in by_call.inside(each)
        )
        for each in made
    )


def _is_unnamed_model(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    made = module.oracle.class_type(name) if name else None
    return (
        made is not None
        and made.cls == "Functional"
        and argument(call, "name", 2) is None
        and not is_hidden(call)
    )


def _is_given(module: Module, name: str) -> bool:
    return re.search(rf"(?<!get_layer\()name\s*=\s*['\"]{name}['\"]", module.text) is not None


def _new_name(match: re.Match[str]) -> str:
    if not match[1]:
        return f"functional{match[2] or ''}"
    number = int(match[1]) - 1
    return f"input_layer_{number}" if number else "input_layer"
