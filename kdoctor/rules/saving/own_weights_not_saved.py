"""A subclass of `Dense`, `Embedding` or a convolution is saved without its additional weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base, owns_its_weights
from kdoctor.analysis.triggers import classes, word
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._new_methods import at_the_end
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.libcst_walk import descendants

_OF_BASE: Final = frozenset({"bias", "embeddings", "kernel"})
_SAVES: Final = ("save_own_variables", "load_own_variables")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class at the first weight that is lost."""
    for node in module.nodes(cst.ClassDef):
        only = only_base(module, node)
        base = module.qualified(only) if only is not None else None
        if base is None or not _leaves_out(module, facts, base) or module.is_guarded(node):
            continue
        methods = methods_in(node)
        if not methods.keys().isdisjoint((*_SAVES, "add_weight")):
            continue
        lost = [call for method in methods.values() for call in _added(module, method)]
        if lost:
            yield _finding(module, facts, node, base, lost[0])


def _leaves_out(module: Module, facts: TargetFacts, base: str) -> bool:
    made = module.oracle.class_type(base)
    return made is not None and is_keras_3(facts, base) and owns_its_weights(facts, made)


def _added(module: Module, method: cst.FunctionDef) -> Iterator[cst.Call]:
    """Yield the ``self.name = self.add_weight(…)`` of a method that are no weights of the base."""
    for each in descendants(method.body):
        match each:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name)))],
                value=cst.Call(
                    func=cst.Attribute(
                        value=cst.Name(value=owner), attr=cst.Name(value="add_weight")
                    )
                ) as call,
            ) if name.removeprefix("_") not in _OF_BASE:
                first = method.params.params[:1]
                if first and first[0].name.value == owner and not _is_off(module, call):
                    yield call


def _is_off(module: Module, call: cst.Call) -> bool:
    return module.is_guarded(call) or any(each.star for each in call.args)


def _finding(
    module: Module, facts: TargetFacts, node: cst.ClassDef, base: str, lost: cst.Call
) -> Finding:
    assigned = module.parent(lost)
    assert isinstance(assigned, cst.Assign)
    weight = module.source(assigned.targets[0].target)
    fix = _fix(module, facts, node)
    return rule.finding(
        module.place(lost.func),
        f"`{weight}` is not saved: `{base.rpartition('.')[2]}` saves only its own weights, and "
        "loading raises ValueError: A total of 1 objects could not be loaded.",
        symbol=f"{node.name.value}.{weight.rpartition('.')[2]}",
        confidence=Confidence.CERTAIN,
        help="Save all weights of the layer, as `keras.layers.Layer` does.",
        fix=fix or NoFix("the class is written on one line"),
    )


def _fix(module: Module, facts: TargetFacts, node: cst.ClassDef) -> Fix | None:
    """Return the fix that adds the two methods at the end of the class."""
    spelled, need = speller_at(module, node).spell("keras.layers.Layer")
    methods = {f"{name}(self, store)": f"{spelled}.{name}(self, store)" for name in _SAVES}
    edit = at_the_end(module, node, methods)
    if edit is None:
        return None
    return Fix(
        "Save and load all weights of the layer",
        (edit,),
        facts.applicability(*(each for each in rule.invalid if each.after)),
        () if need is None else (need,),
    )


def _may_leave_out(facts: TargetFacts, node: ast.ClassDef, bases: frozenset[str]) -> bool:
    """Say of a class of a glimpse whether it may add weights to one of these layers."""
    known = keras_api.oracle(facts.target)
    made = [known.class_type(base) for base in bases]
    return any(each is not None and owns_its_weights(facts, each) for each in made) and any(
        isinstance(each, ast.Attribute) and each.attr == "add_weight" for each in nodes_in(node)
    )


rule = Rule(
    code="KD609",
    name="own-weights-not-saved",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=word("add_weight") & classes(_may_leave_out),
    since="3.0",
)
