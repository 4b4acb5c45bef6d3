"""`metrics=[PSNR]`: the logs call a metric function `psnr`, in snake case."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.logs import (
    FIELD,
    NO_PATH,
    fields_of_paths,
    is_written,
    keys_of_logs,
    monitored,
    renamed,
)
from kdoctor.analysis.triggers import Trigger, attribute
from kdoctor.model import Confidence, Finding, Fix, Severity
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_FUNCTIONS = (BindingKind.FUNCTION, BindingKind.IMPORT)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    named = {each for each in _metrics(module) if not _is_given(module, each)}
    if not named:
        return
    places = [(node, name, NO_PATH) for node, name in fields_of_paths(module, FIELD)]
    places += [
        (node, node.raw_value, what) for node, what in (*keys_of_logs(module), *monitored(module))
    ]
    for node, name, what in places:
        metric = name.removeprefix("val_")
        if metric in named and not module.is_guarded(node):
            yield _finding(module, facts, node, name, what)


def _metrics(module: Module) -> Iterator[str]:
    """Yield the functions with capitals that are measured."""
    for node in module.nodes(cst.Call):
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "compile":
            continue
        given = argument(node, "metrics")
        value = None if given is None else value_of(module, given.value)
        if isinstance(value, cst.List | cst.Tuple) and module.qualified(node.func) is None:
            yield from (
                each.value.value
                for each in value.elements
                if isinstance(each.value, cst.Name) and _is_function(module, each.value)
            )


def _is_function(module: Module, name: cst.Name) -> bool:
    bindings = module.bindings_at(name)
    return (
        in_snake_case(name.value) != name.value
        and bool(bindings)
        and all(each.kind in _FUNCTIONS for each in bindings)
    )


def _is_given(module: Module, name: str) -> bool:
    """Say whether something else of the file may be called so in the logs."""
    return is_written(module, name) or any(
        (given := argument(each, "name")) is not None and literal(given.value) == name
        for each in module.nodes(cst.Call)
    )


def _finding(
    module: Module, facts: TargetFacts, node: cst.SimpleString, old: str, what: str
) -> Finding:
    metric = old.removeprefix("val_")
    new = old.removesuffix(metric) + in_snake_case(metric)
    return rule.finding(
        module.place(node),
        f"`{metric}` appears as `{in_snake_case(metric)}` in the logs: {what}",
        symbol=f"History.history[{old}]",
        confidence=Confidence.LIKELY,
        help=f"Write `{new}`.",
        fix=Fix(
            f"Write `{new}` instead of `{old}`",
            (renamed(module, node, old, new),),
            facts.applicability(*rule.invalid),
        ),
    )


def _may_be_called_so(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a metric with capitals may be named in a string."""
    names = {
        each.id
        for called in quick.calls_of("compile")
        for value in quick.values_of(called.argument("metrics"))
        if isinstance(value, ast.List | ast.Tuple)
        for each in value.elts
        if isinstance(each, ast.Name) and in_snake_case(each.id) != each.id
    }
    return any(name in text for name in names for text in quick.strings)


rule = Rule(
    code="KD443",
    name="metric-in-snake-case",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("compile") & Trigger(_may_be_called_so),
    since="3.0",
    only_alone=True,
)
