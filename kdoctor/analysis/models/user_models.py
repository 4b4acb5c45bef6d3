"""User-defined model classes: their methods and subclasses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_only_registered, lineage_with_base, methods_in
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MAX_SUBCLASSES: Final = 64


def lineage(module: Module, facts: TargetFacts, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and those of the file below it, if all else in it is Keras' own model."""
    line, base = lineage_with_base(module, node)
    if any(each.keywords or not is_only_registered(module, each) for each in line):
        return []
    return line if base is not None and _is_model(module, facts, base) else []


def _is_model(module: Module, facts: TargetFacts, base: cst.BaseExpression) -> bool:
    name = module.qualified(base)
    made = module.oracle.class_type(name) if name else None
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
def subclasses_of(module: Module, node: cst.ClassDef) -> list[cst.ClassDef] | None:
    """Return the direct and indirect subclasses of a class in the file.

    None where there are too many to look at each, for each class that they derive from.
    """
    derived = _derived(module)
    found, waiting = {node: 0}, [node]
    while waiting:
        for place, each in derived.get(waiting.pop(), ()):
            if each not in found:
                found[each] = place
                waiting.append(each)
        if len(found) > _MAX_SUBCLASSES:
            return None
    return sorted(found, key=found.__getitem__)[1:]


@once
def _derived(module: Module) -> Mapping[cst.ClassDef, Sequence[tuple[int, cst.ClassDef]]]:
    """Return the classes that name each class as a base, and their places among all."""
    found: dict[cst.ClassDef, list[tuple[int, cst.ClassDef]]] = {}
    for place, each in enumerate(module.nodes(cst.ClassDef), 1):
        for base in {class_named(module, base.value) for base in each.bases}:
            if base is not None:
                found.setdefault(base, []).append((place, each))
    return found


def compiles_as_keras_does(line: Sequence[cst.ClassDef]) -> bool:
    """Say whether each ``compile`` of these classes calls its base's."""
    compiles = [own["compile"] for each in line if "compile" in (own := methods_in(each))]
    return all(
        any(is_call_of_super(inner, "compile") for inner in descendants(each.body))
        for each in compiles
    )
