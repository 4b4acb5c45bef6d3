"""`get_weights()` in `build`: weights have no values while the training step is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class, member_of_self
from kdoctor.analysis.triggers import Trigger, attribute
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such call."""
    for node in module.nodes(cst.ClassDef):
        build = next(
            (
                each
                for each in node.body.body
                if isinstance(each, cst.FunctionDef) and each.name.value == "build"
            ),
            None,
        )
        if build is None or kind_of_class(module, node) is not Kind.LAYER:
            continue
        for call in descendants(build.body):
            if _reads(call) and _is_held(module, call, build) and not module.is_guarded(call):
                yield _finding(module, node, call)


def _reads(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and not node.args
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "get_weights"
    )


def _is_held(module: Module, call: cst.CSTNode, build: cst.FunctionDef) -> bool:
    """Say whether it is asked of something that `self` holds, or of each of what it holds."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return False
    owner = call.func.value
    if isinstance(owner, cst.Name):
        loops = [
            each.iter
            for each in module.ancestors(call)
            if isinstance(each, cst.For)
            and any(
                isinstance(part, cst.Name) and part.value == owner.value
                for part in (each.target, *descendants(each.target))
            )
        ]
        owner = loops[0] if loops else owner
    return any(member_of_self(each, build) is not None for each in (owner, *descendants(owner)))


def _finding(module: Module, node: cst.ClassDef, call: cst.CSTNode) -> Finding:
    return rule.finding(
        module.place(call),
        f"`{node.name.value}` may be built while the training step is traced, where weights have "
        "no values: NotImplementedError: numpy() is only available when eager execution is "
        "enabled",
        symbol=f"{node.name.value}.get_weights",
        confidence=Confidence.LIKELY,
        help="Use the weights themselves, `layer.weights[0]`; or build the model before "
        "training, with an `Input` as its first layer.",
        fix=NoFix("kdoctor cannot tell whether the values or the weights are needed"),
    )


def _may_read(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr == "get_weights"
        for node in quick.nodes.get(ast.ClassDef, ())
        for method in node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name == "build"
        for each in ast.walk(method)
    )


rule = Rule(
    code="KD515",
    name="weights-read-in-build",
    family="idioms",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute("get_weights") & Trigger(_may_read),
    since="3.0",
)
