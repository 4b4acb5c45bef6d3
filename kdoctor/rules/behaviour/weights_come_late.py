"""A layer with `compute_output_shape` whose `build` does not build its inner layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.sublayers import (
    GROW,
    UNLESS_TOLD,
    WITH_WEIGHTS,
    attributes_read,
    layers_built,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.triggers import Trigger, calls_that_make, method_of, word
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHODS = ("build", "call", "compute_output_shape")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class."""
    for node in module.nodes(cst.ClassDef):
        methods = methods_in(node)
        if not methods.keys() >= set(_METHODS) or not _is_layer(module, facts, node):
            continue
        build, init = methods["build"], methods.get("__init__")
        if _builds_by_others(build, methods) or module.is_guarded(build):
            continue
        if init is not None and _builds_by_others(init, {}):
            continue
        made = [*weighted_layers_assigned(module, init), *weighted_layers_assigned(module, build)]
        called, read = attributes_read(methods["call"]), attributes_read(build) | layers_built(init)
        late = [each for each in dict.fromkeys(made) if each in called and each not in read]
        if late:
            yield _finding(module, node, build, late)


def _is_layer(module: Module, facts: TargetFacts, node: cst.ClassDef) -> bool:
    """Say whether the one base is Keras' ``Layer``, so that nothing else builds or is asked."""
    base = only_base(module, node)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.cls == "Layer" and is_keras_3(facts, name)


def _builds_by_others(build: cst.FunctionDef, methods: dict[str, cst.FunctionDef]) -> bool:
    """Say whether ``build`` may build by a method of the class, in a loop, or by a name."""
    for each in descendants(build.body):
        if not isinstance(each, cst.Call) or not isinstance(each.func, cst.Attribute):
            continue
        owner, name = each.func.value, each.func.attr.value
        if isinstance(owner, cst.Name) and (name in methods or name == "build"):
            return True
        if isinstance(owner, cst.Subscript) and name == "build":
            return True
    return False


def _finding(
    module: Module, node: cst.ClassDef, build: cst.FunctionDef, late: list[str]
) -> Finding:
    shown = ", ".join(f"`self.{each}`" for each in late)
    return rule.finding(
        module.place(build.name),
        f"the weights of {shown} are not created until the first batch: Keras 3 uses "
        "`compute_output_shape` instead of running `call`; `load_weights` and `set_weights` of a "
        "new model fail",
        symbol=f"{node.name.value}.build",
        confidence=Confidence.LIKELY,
        help=f"Build it here, `self.{late[0]}.build(shape)` (each layer of a list), or remove "
        "`compute_output_shape`.",
        fix=NoFix("kdoctor cannot tell which shape it is called with"),
    )


def _may_come_late(quick: QuickFacts, facts: TargetFacts) -> bool:
    made: set[ast.AST] = {
        called.node
        for type_, called in calls_that_make(quick, facts, Kind.LAYER)
        if type_.cls in WITH_WEIGHTS | UNLESS_TOLD
    }
    classes = quick.nodes.get(ast.ClassDef, ()) if made else ()
    return any(_may_leave_one(each, made) for each in classes if each.bases)


def _may_leave_one(node: ast.ClassDef, made: set[ast.AST]) -> bool:
    """Say whether ``call`` reads a layer that is made in ``__init__`` or ``build``, not built."""
    call, build, shape = (method_of(node, each) for each in ("call", "build", _METHODS[-1]))
    if call is None or build is None or shape is None:
        return False
    inner = {
        owner.attr
        for method in (method_of(node, "__init__"), build)
        for each in (() if method is None else nodes_in(method))
        for owner in _kept_in(each)
        if isinstance(owner, ast.Attribute) and not made.isdisjoint(nodes_in(each))
    }
    return bool(inner and inner & _may_read(call) - _may_read(build))


def _kept_in(node: ast.AST) -> Sequence[ast.expr]:
    """Return what is assigned to, or is the list to which something is added."""
    match node:
        case ast.Assign(targets=owners):
            return owners
        case ast.Call(func=ast.Attribute(value=owner, attr=how)) if how in GROW:
            return [owner]
        case ast.AugAssign(target=owner):
            return [owner]
    return ()


def _may_read(method: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    nodes = nodes_in(method)
    grown = {owner for each in nodes for owner in _kept_in(each)}
    return {
        each.attr
        for each in nodes
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load) and each not in grown
    }


rule = Rule(
    code="KD444",
    name="weights-come-late",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("compute_output_shape") & Trigger(_may_come_late),
    since="3.0",
)
