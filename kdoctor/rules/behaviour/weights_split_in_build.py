"""Values computed from weights in `build` are computed once: no gradient reaches the weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, is_keras_3, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, kind_of_class, methods_in
from kdoctor.analysis.triggers import Trigger, attribute, method_of
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import chain_of, nodes_in
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_WORKS_ON: Final = frozenset({
    *("abs", "cast", "concat", "concatenate", "dot", "exp", "expand_dims", "matmul", "multiply"),
    *("permute_dimensions", "relu", "repeat", "reshape", "sigmoid", "softmax", "softplus"),
    *("square", "squeeze", "stack", "tanh", "tile", "transpose"),
})  # fmt: skip
"""Functions through which a gradient goes, in whatever module of Keras or TensorFlow."""
_PACKAGES: Final = ("backend.", "ops.", "activations.")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such attribute, where it is assigned."""
    for node in module.nodes(cst.ClassDef):
        methods = methods_in(node)
        build, call = methods.get("build"), methods.get("call")
        if build is None or call is None or kind_of_class(module, node) is not Kind.LAYER:
            continue
        if not _is_of_keras_3(module, facts, node):
            continue
        for assign, target in _worked_out(module, build):
            name = target.attr.value
            is_kept = _reads(call, name) and _is_assigned_once(node, name)
            if is_kept and not module.is_guarded(assign):
                yield _finding(module, node, target)


def _is_of_keras_3(module: Module, facts: TargetFacts, node: cst.ClassDef) -> bool:
    """Say whether no base is of a Keras 2 that stays one."""
    names = (module.qualified(each.value) for each in node.bases)
    return all(
        is_keras_3(facts, name)
        for name, each in zip(names, node.bases, strict=True)
        if class_named(module, each.value) is None
    )


def _worked_out(
    module: Module, build: cst.FunctionDef
) -> Iterator[tuple[cst.Assign, cst.Attribute]]:
    """Yield what is assigned to ``self`` and made of weights that were made in this method."""
    weights: set[str] = set()
    for each in own_nodes(build.body):
        if not isinstance(each, cst.Assign) or len(each.targets) != 1:
            continue
        target = each.targets[0].target
        name = _kept(target)
        if name is None:
            continue
        if _is_weight(each.value):
            weights.add(name)
            continue
        weights.discard(name)
        if isinstance(target, cst.Attribute) and _is_made_of(module, each.value, weights):
            yield each, target


def _kept(target: cst.CSTNode) -> str | None:
    """Return ``self.x`` or ``x``, as it is written."""
    match target:
        case cst.Name():
            return target.value
        case cst.Attribute(value=cst.Name(value="self")):
            return f"self.{target.attr.value}"
    return None


def _is_weight(value: cst.BaseExpression) -> bool:
    """Say whether a weight that is trained is made."""
    match value:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value="add_weight"))
        ):
            trainable = argument(value, "trainable")
            return not is_hidden(value) and (trainable is None or literal(trainable.value) is True)
    return False


def _is_made_of(module: Module, value: cst.BaseExpression, weights: set[str]) -> bool:
    """Say whether a tensor is made of a weight."""

    def is_tensor(node: cst.BaseExpression) -> bool:
        return (
            _is_weight(node) or (_kept(node) or "") in weights or _is_made_of(module, node, weights)
        )

    match value:
        case cst.Subscript():
            return is_tensor(value.value)
        case cst.BinaryOperation():
            return is_tensor(value.left) or is_tensor(value.right)
        case cst.Call(args=[first, *_]) if _works_on_tensors(module, value.func):
            inner = first.value
            match inner:
                case cst.List() | cst.Tuple():
                    return any(is_tensor(each.value) for each in inner.elements)
                case cst.ListComp():
                    return is_tensor(inner.elt)
            return is_tensor(inner)
    return False


def _works_on_tensors(module: Module, function: cst.BaseExpression) -> bool:
    name = module.qualified(function) or ""
    if name.rpartition(".")[2] not in _WORKS_ON:
        return False
    split = split_root(name)
    return split[1].startswith(_PACKAGES) if split else name.startswith("tensorflow.")


def _reads(call: cst.FunctionDef, name: str) -> bool:
    return any(_kept(each) == f"self.{name}" for each in descendants(call.body))


def _is_assigned_once(node: cst.ClassDef, name: str) -> bool:
    """Say whether no other line of the class makes it anew: `call` may."""
    return (
        sum(
            _kept(target.target) == f"self.{name}"
            for each in descendants(node.body)
            if isinstance(each, cst.Assign)
            for target in each.targets
        )
        == 1
    )


def _finding(module: Module, node: cst.ClassDef, target: cst.Attribute) -> Finding:
    name = target.attr.value
    return rule.finding(
        module.place(target),
        f"`{name}` is computed once in `build`: no gradient reaches its weights, and later values "
        "are ignored",
        symbol=f"{node.name.value}.{name}",
        confidence=Confidence.LIKELY,
        help=f"Compute `{name}` in `call`.",
        fix=NoFix("kdoctor cannot tell where `call` needs it first"),
    )


def _may_work_out(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a `build` assigns something to an attribute that speaks of its weights."""
    return any(
        _may_keep_a_part(build)
        for node in quick.nodes.get(ast.ClassDef, ())
        if method_of(node, "call") is not None and (build := method_of(node, "build")) is not None
    )


def _may_keep_a_part(build: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    assigned = [
        (each.targets[0], each.value)
        for each in nodes_in(build)
        if isinstance(each, ast.Assign) and len(each.targets) == 1
    ]
    weights = {chain_of(target) for target, value in assigned if _makes_a_weight(value)}
    return any(
        chain_of(each) in weights or _makes_a_weight(each)
        for target, value in assigned
        if isinstance(target, ast.Attribute) and not _makes_a_weight(value)
        if isinstance(value, ast.Subscript | ast.BinOp | ast.Call)
        for each in nodes_in(value)
        if isinstance(each, ast.Name | ast.Attribute | ast.Call)
    )


def _makes_a_weight(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add_weight"
    )


rule = Rule(
    code="KD449",
    name="weights-split-in-build",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute("add_weight") & Trigger(_may_work_out),
    since="3.0",
)
