"""What comes out of a `Sequential` that this file puts together: one number, or several."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.rewrite import Guard, GuardAnswer, Question, UseSite
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def gives_classes() -> Guard:
    """The model's last layer has several units: a probability for each class."""
    return Question(
        "gives_classes()",
        "kdoctor cannot tell how many units the last layer of the model has",
        lambda use_site: _decide(use_site, several=True),
        parameters=frozenset({"self"}),
    )


def gives_one_number() -> Guard:
    """The model's last layer has one unit: the probability of the one class."""
    return Question(
        "gives_one_number()",
        "kdoctor cannot tell how many units the last layer of the model has",
        lambda use_site: _decide(use_site, several=False),
        parameters=frozenset({"self"}),
    )


def _decide(use_site: UseSite, *, several: bool) -> GuardAnswer:
    model = use_site.value("self")
    units = None if model is None else _units(use_site.module, model)
    if units is None:
        return GuardAnswer.UNKNOWN
    return GuardAnswer.YES if (units > 1) is several else GuardAnswer.NO


def _units(module: Module, model: cst.BaseExpression) -> int | None:
    """Return the units of the last `Dense` of a model that a name of this file holds."""
    if not isinstance(model, cst.Name):
        return None
    made = value_of(module, model)
    if not isinstance(made, cst.Call) or not (module.qualified(made.func) or "").endswith(
        ".Sequential"
    ):
        return None
    layers = [*_listed(made)]
    for use in module.members_named("add", "pop"):
        if use.called is None or not _is_same(module, use.node.value, model):
            continue
        if use.member == "pop":
            return None
        if use.member == "add" and use.called.args:
            layers.append(use.called.args[0].value)
    for layer in reversed(layers):
        name = module.qualified(layer.func) if isinstance(layer, cst.Call) else None
        leaf = (name or "").rpartition(".")[2]
        if leaf in {"Activation", "Softmax", "Dropout"}:
            continue
        given = passed(layer, "units", 0) if isinstance(layer, cst.Call) else None
        if leaf != "Dense" or given is None:
            return None
        units = literal(value_of(module, given))
        return units if isinstance(units, int) else None
    return None


def _listed(made: cst.Call) -> Iterator[cst.BaseExpression]:
    given = passed(made, "layers", 0)
    if isinstance(given, cst.List | cst.Tuple):
        yield from (each.value for each in given.elements)


def _is_same(module: Module, one: cst.BaseExpression, other: cst.Name) -> bool:
    return (
        isinstance(one, cst.Name)
        and one.value == other.value
        and module.scope_of(one).owner(one.value) is module.scope_of(other).owner(other.value)
    )
