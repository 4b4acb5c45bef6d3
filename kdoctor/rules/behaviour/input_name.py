"""Unnamed inputs are called `input_layer`, not `input_1`; unnamed models `functional`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import attribute, calls
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_OLD = pattern(r"input_([1-9]\d*)|model(_[1-9]\d*)?")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each old name."""
    for use in module.members:
        # Only a model that is built here: a loaded one keeps its names.
        if use.member != "get_layer" or use.owner.kind is not Kind.MODEL or use.owner_defines:
            continue
        text = _name(use)
        if use.owner.cls != "Functional" or text is None or module.is_guarded(text):
            continue
        match = _OLD.fullmatch(str(literal(text)))
        if not match or _is_given(module, match[0]):
            continue
        if match[1] or _has_a_model(module, use.node.value):
            yield _finding(module, use, text, match)


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


def _name(use: MemberUse) -> cst.SimpleString | None:
    given = None if use.called is None else argument(use.called, "name", 0)
    return given.value if given and isinstance(given.value, cst.SimpleString) else None


def _is_given(module: Module, name: str) -> bool:
    return re.search(rf"(?<!get_layer\()name\s*=\s*['\"]{name}['\"]", module.text) is not None


def _finding(
    module: Module, use: MemberUse, text: cst.SimpleString, match: re.Match[str]
) -> Finding:
    new = _new_name(match)
    kind, base = ("inputs", "input_layer") if match[1] else ("models", "functional")
    return rule.finding(
        module.place(text),
        f"{kind} are named `{base}`: ValueError: No such layer: {match[0]}.",
        symbol=f"{use.owner.cls}.{use.member}",
        confidence=use.confidence,
        help=f"Give it an explicit name, or write `{new}`.",
        fix=Fix(
            f"Write `{new}`",
            (Edit(module.span(text), (f"{text.quote}{new}{text.quote}",)),),
            Applicability.UNSAFE,
            unsafe_because="the number depends on what was built before",
        ),
    )


def _new_name(match: re.Match[str]) -> str:
    if not match[1]:
        return f"functional{match[2] or ''}"
    number = int(match[1]) - 1
    return f"input_layer_{number}" if number else "input_layer"


def _may_be_old(_: TargetFacts, called: QuickCall) -> bool:
    given = called.argument("name", 0) if called.leaf == "get_layer" else None
    text = given.value if isinstance(given, ast.Constant) else None
    return isinstance(text, str) and _OLD.fullmatch(text) is not None


rule = Rule(
    code="KD413",
    name="input-name",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("get_layer") & calls(_may_be_old, "get_layer"),
    since="3.0",
)
