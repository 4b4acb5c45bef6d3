"""The layers of a model of the user's that have no weights until it is run."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.rules.calls import argument, is_call_of_super
from kdoctor.rules.facts import Facts
from kdoctor.rules.inner_layers import attributes_read, layers_built, layers_made
from kdoctor.rules.own_classes import methods_in
from kdoctor.rules.own_models import lineage, methods_of
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

_TENSORS: Final = frozenset({"inputs", "outputs"})
ASKED_FOR_WEIGHTS: Final = frozenset({
    *("count_params", "get_weights", "non_trainable_variables", "non_trainable_weights"),
    *("save_weights", "set_weights", "summary", "trainable_variables", "trainable_weights"),
    *("variables", "weights"),
})  # fmt: skip
"""What shows, gives, takes or keeps the weights that a model has by then."""
OF_NO_MATTER: Final = frozenset({"built", "compile", "loss", "name", "optimizer", "trainable"})
"""Members that neither run a model nor ask for its weights."""
NEITHER_RUNS_NOR_FILLS: Final = OF_NO_MATTER | ASKED_FOR_WEIGHTS - {"set_weights"}
"""Members that leave a model without weights as it is."""


def is_made_of_tensors(made: cst.Call) -> bool:
    """Say whether a model is made of symbolic tensors, by keyword: it is built then."""
    return any(argument(made, each) for each in _TENSORS)


def unbuilt_layers(module: Module, facts: Facts, node: cst.ClassDef) -> list[str]:
    """Return the layers that a model makes in ``__init__``, and builds when it calls them."""
    line = lineage(module, facts, node)
    methods = methods_of(line)
    call = methods.get("call")
    if call is None or methods.keys() & {"build", "__new__", "__getattr__"}:
        return []
    if not is_plain_model(module, line[-1]):
        return []
    made: list[str] = []
    ready: set[str] = set()
    for init in (own["__init__"] for each in line if "__init__" in (own := methods_in(each))):
        calls = [each for each in descendants(init.body) if isinstance(each, cst.Call)]
        bases = [each for each in calls if is_call_of_super(each, "__init__")]
        if any(map(_makes_it_of_tensors, bases)) or any(_is_self(e.func, init) for e in calls):
            return []
        made += layers_made(module, init)
        ready |= layers_built(init)
        if not bases:
            break
    called = _reached(call, methods)
    return [each for each in dict.fromkeys(made) if each in called and each not in ready]


def _reached(call: cst.FunctionDef, methods: dict[str, cst.FunctionDef]) -> set[str]:
    """Return the attributes that ``call`` reads, be it by way of other methods."""
    waiting, found = [call], set[str]()
    for method in waiting:  # it grows meanwhile
        read = attributes_read(method) - found
        found |= read
        waiting += [methods[each] for each in methods if each in read]
    return found


def is_plain_model(module: Module, node: cst.ClassDef) -> bool:
    """Say whether the base of a class is `keras.Model`."""
    name = module.qualified(node.bases[0].value)
    return name is not None and name.rpartition(".")[2] == "Model"


def _makes_it_of_tensors(base: cst.Call) -> bool:
    given = {each.keyword.value for each in base.args if each.keyword is not None}
    by_place = [each for each in base.args if each.keyword is None and each.star != "**"]
    return bool(by_place or given & _TENSORS)


def _is_self(node: cst.BaseExpression, method: cst.FunctionDef) -> bool:
    """Say whether it is ``self``, or its ``build`` or ``call``."""
    parameters = method.params.params
    if isinstance(node, cst.Attribute) and node.attr.value in {"build", "call"}:
        node = node.value
    return (
        isinstance(node, cst.Name) and bool(parameters) and (node.value == parameters[0].name.value)
    )
