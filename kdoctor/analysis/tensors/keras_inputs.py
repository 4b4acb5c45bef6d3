"""Names that stand for tensors, whoever's: something of Keras is called with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind, Type

# Modules whose functions take tensors of Keras and of TensorFlow alike.
_OF_TENSORS: Final = ("activations.", "backend.", "losses.", "metrics.", "ops.")


def is_put_into_a_layer(module: Module, name: cst.Name) -> bool:
    """Say whether a layer or model is called with what a name is."""
    bound = set(module.bindings_at(name))
    return _is_given_to(module, name, bound, lambda call: _called_layer(module, call) is not None)


def is_put_into_keras_3(module: Module, facts: TargetFacts, name: cst.Name) -> bool:
    """Say whether a layer, or a function for tensors, of the target's Keras 3 is called with it.

    Or with another name that it is given: ``like = x``, ``K.dtype(like)``.
    """
    bound = set(module.bindings_at(name))
    aliases = {
        binding
        for bindings in module.scope_of(name).bindings.values()
        for binding in bindings
        if isinstance(binding.value, cst.Name)
        and binding.value.value == name.value
        and not binding.path
        and not bound.isdisjoint(module.bindings_at(binding.value))
    }

    takes = partial(_is_of_keras_3, module, facts)
    return _is_given_to(module, name, bound | aliases, takes)


def _is_given_to(
    module: Module,
    name: cst.Name,
    bound: set[Binding],
    takes: Callable[[cst.Call], bool],
) -> bool:
    scope, words = module.scope_of(name), {each.name for each in bound}
    return any(
        each.value in words
        and module.scope_of(each) is scope
        and not bound.isdisjoint(module.bindings_at(each))
        and takes(call)
        for call in module.nodes(cst.Call)
        for each in _names_given(call)
    )


def _called_layer(module: Module, call: cst.Call) -> Type | None:
    """Return what is called where that is a layer or a model."""
    called = module.type_of(call.func)
    return called if called is not None and called.kind in {Kind.LAYER, Kind.MODEL} else None


def _is_of_keras_3(module: Module, facts: TargetFacts, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    split = split_root(name or "")
    if split is not None and split[1].startswith(_OF_TENSORS):
        return is_keras_3(facts, name)
    called = _called_layer(module, call)
    return called is not None and is_keras_3(facts, called.qualified)


def _names_given(call: cst.Call) -> Iterator[cst.Name]:
    """Yield the names among the first argument of a call, be they in a list."""
    match call.args:
        case [cst.Arg(value=cst.Name() as name, star=""), *_]:
            yield name
        case [cst.Arg(value=cst.List(elements=items) | cst.Tuple(elements=items)), *_]:
            yield from (each.value for each in items if isinstance(each.value, cst.Name))
