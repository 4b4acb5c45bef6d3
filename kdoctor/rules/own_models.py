"""Models that a file defines: the classes from which they get their methods, and their heirs."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.once import once
from kdoctor.rules.calls import is_call_of_super, is_keras_3
from kdoctor.rules.facts import Facts
from kdoctor.rules.own_classes import class_named, is_only_registered, methods_in
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants


def lineage(module: Module, facts: Facts, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and those of the file below it, if all else in it is Keras' own model."""
    found: list[cst.ClassDef] = []
    while node not in found and len(node.bases) == 1 and not node.keywords:
        if not is_only_registered(module, node):
            return []
        found.append(node)
        base = class_named(module, node.bases[0].value)
        if base is None:
            return found if _is_model(module, facts, node.bases[0].value) else []
        node = base
    return []


def _is_model(module: Module, facts: Facts, base: cst.BaseExpression) -> bool:
    name = module.qualified(base)
    made = module.knowledge.class_type(name) if name else None
    return (
        made is not None
        and made.kind is Kind.MODEL
        and made.cls in {"Functional", "Sequential"}
        and is_keras_3(facts, name)
    )


def called(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return what a decorator calls, be it with arguments or not."""
    return node.func if isinstance(node, cst.Call) else node


def methods_of(line: Sequence[cst.ClassDef]) -> dict[str, cst.FunctionDef]:
    """Return the methods that the first of these classes has, those of the others included."""
    return {name: each for node in reversed(line) for name, each in methods_in(node).items()}


@once
def heirs(module: Module, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return the classes of the file that derive from one, also by way of others."""
    found = [node]
    for each in module.nodes(cst.ClassDef):  # a base stands before its heirs
        if any(class_named(module, base.value) in found for base in each.bases):
            found.append(each)
    return found[1:]


def compiles_as_keras_does(line: Sequence[cst.ClassDef]) -> bool:
    """Say whether each ``compile`` of these classes calls that of its base."""
    compiles = [own["compile"] for each in line if "compile" in (own := methods_in(each))]
    return all(
        any(is_call_of_super(inner, "compile") for inner in descendants(each.body))
        for each in compiles
    )


def attribute_of_self(node: cst.CSTNode, method: cst.FunctionDef) -> str | None:
    """Return ``x`` where a node of a method is ``self.x``."""
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
            parameters = method.params.params
            return name if parameters and parameters[0].name.value == owner else None
    return None
