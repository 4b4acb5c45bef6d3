"""A subclass of `Dense`, `Embedding` or a convolution is saved without its additional weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import owns_its_weights
from kdoctor.analysis.queries import Subclass, subclasses
from kdoctor.analysis.queries.conditions import word
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._new_methods import at_the_end
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_OF_BASE: Final = frozenset({"bias", "embeddings", "kernel"})
_SAVES: Final = ("save_own_variables", "load_own_variables")


def _leaves_out(facts: TargetFacts, base: str) -> bool:
    made = keras_api.oracle(facts.target).class_type(base)
    return made is not None and is_keras_3(facts, base) and owns_its_weights(facts, made)


@rule(
    "KD609",
    severity=Severity.ERROR,
    since="3.0",
    look_for=subclasses(_leaves_out).beside(word("add_weight")),
)
def check(cls: Subclass) -> Finding | None:
    """Report each such class at the first weight that is lost."""
    if not cls.methods.keys().isdisjoint((*_SAVES, "add_weight")):
        return None
    lost = [call for method in cls.methods.values() for call in _added(cls.module, method)]
    return _finding(cls, lost[0]) if lost else None


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


def _finding(cls: Subclass, lost: cst.Call) -> Finding:
    assigned = cls.module.parent(lost)
    assert isinstance(assigned, cst.Assign)
    weight = cls.source(assigned.targets[0].target)
    return cls.finding(
        f"`{weight}` is not saved: `{cls.base.rpartition('.')[2]}` saves only its own weights, and "
        "loading raises ValueError: A total of 1 objects could not be loaded.",
        at=lost.func,
        symbol=f"{cls.symbol}.{weight.rpartition('.')[2]}",
        confidence=Confidence.CERTAIN,
        help="Save all weights of the layer, as `keras.layers.Layer` does.",
        fix=_fix(cls),
    )


def _fix(cls: Subclass) -> Fix | NoFix:
    """Return the fix that adds the two methods at the end of the class."""
    spelled, need = speller_at(cls.module, cls.node).spell("keras.layers.Layer")
    methods = {f"{name}(self, store)": f"{spelled}.{name}(self, store)" for name in _SAVES}
    edit = at_the_end(cls.module, cls.node, methods) or NoFix("the class is written on one line")
    return cls.fix("Save and load all weights of the layer", edit, imports=[need])
