"""A `Sequence` subclass whose `__init__` does not call `super().__init__()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.triggers import classes, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_SEQUENCES = ("utils.Sequence", "utils.PyDataset")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class."""
    if "__init__" not in module.text:
        return
    for node in module.nodes(cst.ClassDef):
        base = only_base(module, node)
        name = module.qualified(base) if base is not None else None
        split = split_root(name) if name else None
        if split is None or split[1] not in _SEQUENCES:
            continue
        function = _init(node)
        if function is not None and not _calls_init(function) and not module.is_guarded(node):
            yield _finding(module, facts, node, function)


def _init(node: cst.ClassDef) -> cst.FunctionDef | None:
    functions = (each for each in node.body.body if isinstance(each, cst.FunctionDef))
    return next((each for each in functions if each.name.value == "__init__"), None)


def _calls_init(function: cst.FunctionDef) -> bool:
    return any(
        isinstance(each, cst.Attribute) and each.attr.value == "__init__"
        for each in descendants(function.body)
    )


def _finding(
    module: Module, facts: TargetFacts, node: cst.ClassDef, function: cst.FunctionDef
) -> Finding:
    edit = insert_at_body_start(module, function, "super().__init__()")
    return rule.finding(
        module.place(function.name),
        "Keras warns: Your `PyDataset` class should call `super().__init__(**kwargs)` in its "
        "constructor.",
        symbol=node.name.value,
        confidence=Confidence.CERTAIN,
        help="Call `super().__init__()`; `workers=` goes there too.",
        fix=Fix(
            "Call `super().__init__()` first",
            (edit,),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        if edit
        else NoFix("the body is on the same line as `def`"),
    )


def _may_not_call_it(_: TargetFacts, node: ast.ClassDef, bases: frozenset[str]) -> bool:
    if not any(each.endswith(_SEQUENCES) for each in bases):
        return False
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    inits = (e for e in node.body if isinstance(e, defined) and e.name == "__init__")
    return any(
        not any(
            isinstance(each, ast.Attribute) and each.attr == "__init__"
            for statement in init.body
            for each in ast.walk(statement)
        )
        for init in inits
    )


rule = Rule(
    code="KD418",
    name="sequence-without-init",
    family="behaviour",
    severity=Severity.LEGACY,
    check=check,
    triggers=word("Sequence", "PyDataset") & classes(_may_not_call_it),
    since="3.0",
    only_alone=True,
)
