"""Sublayers whose weights do not exist until the model first runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, arguments, is_call_of_super
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.sublayers import (
    attributes_read,
    calls_in,
    has_weights,
    layers_built,
    values_stored_on_self,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.user_classes import methods_in, only_base, receiver
from kdoctor.analysis.models.user_models import lineage, methods_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.node_predicates import is_of_named_base
from kdoctor.value_types import Kind

_MAX_DEPTH: Final = 8  # classes of the file that make each other
_TENSORS: Final = frozenset({"inputs", "outputs"})
_ASKED_FOR_WEIGHTS: Final = frozenset({
    *("count_params", "get_weights", "non_trainable_variables", "non_trainable_weights"),
    *("save_weights", "set_weights", "summary", "trainable_variables", "trainable_weights"),
    *("variables", "weights"),
})  # fmt: skip
"""What shows, gives, takes or keeps the weights that a model has by then."""
OF_NO_MATTER: Final = frozenset({"built", "compile", "loss", "name", "optimizer", "trainable"})
"""Members that neither run a model nor ask for its weights."""
NEITHER_RUNS_NOR_FILLS: Final = OF_NO_MATTER | _ASKED_FOR_WEIGHTS - {"set_weights"}
"""Members that leave a model without weights as it is."""


def is_functional_model(made: cst.Call) -> bool:
    """Say whether a model is functional, hence built on construction."""
    return any(argument(made, each) for each in _TENSORS)


def unbuilt_layers(module: Module, facts: TargetFacts, node: cst.ClassDef) -> list[str]:
    """Return the layers created in ``__init__`` and built on their first call."""
    line = lineage(module, facts, node)
    methods = methods_of(line)
    call = methods.get("call")
    if call is None or methods.keys() & {"build", "__new__", "__getattr__"}:
        return []
    if not is_plain_model(module, line[-1]):
        return []
    made: list[str] = []
    ready: set[str] = set()
    for init in inits_of(line):
        calls = [each for each in descendants(init.body) if isinstance(each, cst.Call)]
        if passes_tensors_to_init(init) or any(_is_self(each.func, init) for each in calls):
            return []
        made += weighted_layers_assigned(module, init)
        ready |= layers_built(init)
        if not any(is_call_of_super(each, "__init__") for each in calls):
            break
    called = _reached(call, methods)
    return [each for each in dict.fromkeys(made) if each in called and each not in ready]


def makes_weights(module: Module, line: Sequence[cst.ClassDef], depth: int = 0) -> bool:
    """Say whether ``__init__`` of these classes surely makes a layer that has weights.

    In a list, too, or one of the user's that leaves it to Keras to build what is inside; not one
    that is built there. Not where the object is made by its inputs and outputs, or calls itself.
    """
    inits = inits_of(line)
    return not any(passes_tensors_to_init(each) or _calls_itself(each) for each in inits) and any(
        _is_weighted(module, value, depth)
        for init in inits
        for ready in (layers_built(init),)
        for name, value in values_stored_on_self(module, init)
        if name not in ready
    )


def inits_of(line: Sequence[cst.ClassDef]) -> list[cst.FunctionDef]:
    """Return the ``__init__`` of each of these classes that has one."""
    return [own["__init__"] for each in line if "__init__" in (own := methods_in(each))]


def _calls_itself(init: cst.FunctionDef) -> bool:
    itself = receiver(init)
    return any(
        isinstance(each, cst.Call) and isinstance(each.func, cst.Name) and each.func.value == itself
        for each in descendants(init.body)
    )


def _is_weighted(module: Module, value: cst.BaseExpression, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return False
    return any(_is_weighted_call(module, each, depth) for each in calls_in(value))


def _is_weighted_call(module: Module, value: cst.Call, depth: int) -> bool:
    own = class_named(module, value.func)
    if own is not None:
        return _is_unbuilt_layer(module, own, depth)
    name = module.qualified(value.func)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.LAYER and has_weights(made.cls, value)


def _is_unbuilt_layer(module: Module, own: cst.ClassDef, depth: int) -> bool:
    """Say whether an object of a class of the file has layers inside that it does not build."""
    base = only_base(module, own)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    is_base = made is not None and made.cls in {"Layer", "Functional"}
    return is_base and "build" not in methods_in(own) and makes_weights(module, [own], depth + 1)


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
    base = only_base(module, node)
    name = module.qualified(base) if base is not None else None
    return name is not None and name.rpartition(".")[2] == "Model"


def passes_tensors_to_init(init: cst.FunctionDef) -> bool:
    """Say whether the base's ``__init__`` may be given inputs or outputs, by place or by name."""
    return any(
        given.star != "**" if given.keyword is None else given.keyword.value in _TENSORS
        for each in descendants(init.body)
        if isinstance(each, cst.Call)
        and (is_call_of_super(each, "__init__") or is_of_named_base(each))
        for given in arguments(each)
    )


def _is_self(node: cst.BaseExpression, method: cst.FunctionDef) -> bool:
    """Say whether it is ``self``, or its ``build`` or ``call``."""
    if isinstance(node, cst.Attribute) and node.attr.value in {"build", "call"}:
        node = node.value
    return isinstance(node, cst.Name) and node.value == receiver(method)
