"""Models that a file defines: the classes from which they get their methods, and their heirs."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.once import once
from kdoctor.rules.calls import is_call_of_super, is_keras_3
from kdoctor.rules.facts import Facts
from kdoctor.rules.own_classes import class_named, in_line, is_only_registered, methods_in
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants


def lineage(module: Module, facts: Facts, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and those of the file below it, if all else in it is Keras' own model."""
    line, base = in_line(module, node)
    if any(each.keywords or not is_only_registered(module, each) for each in line):
        return []
    return line if base is not None and _is_model(module, facts, base) else []


def _is_model(module: Module, facts: Facts, base: cst.BaseExpression) -> bool:
    name = module.qualified(base)
    made = module.knowledge.class_type(name) if name else None
    return (
        made is not None
        and made.kind is Kind.MODEL
        and made.cls in {"Functional", "Sequential"}
        and is_keras_3(facts, name)
    )


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
