"""The batch size of a generator, where the code states it."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, value_of
from kdoctor.analysis.dataflow.definitions import function_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.syntax import Module

_IMAGES = "keras.preprocessing.image.ImageDataGenerator"
_NAME = "batch_size"


def batch_size_of(module: Module, facts: TargetFacts, data: cst.BaseExpression) -> str | None:
    """Return the source of the batch size that ``data`` yields, None if unknown.

    ``data`` is the call that makes the generator, or the name that this was given.
    """
    made = value_of(module, data)
    if not isinstance(made, cst.Call) or is_hidden(made):
        return None
    if _position_in_flow(module, facts, made) is not None:
        if isinstance(data, cst.Name):
            return f"{data.value}.{_NAME}"  # Keras' own iterators have it
        return batch_size_of_flow(module, facts, made)
    own = function_named(module, made.func)
    given = argument(made, _NAME, None if own is None else _position(own.params))
    if given is not None:
        return fixed_text(module, given.value)
    taken = None if own is None else _default(own.params)
    return taken.value if isinstance(taken, cst.Integer) else None


def batch_size_of_flow(module: Module, facts: TargetFacts, made: cst.Call) -> str | None:
    """Return the same of ``ImageDataGenerator(…).flow(…)`` and its like, None of another call."""
    of_images = None if is_hidden(made) else _position_in_flow(module, facts, made)
    if of_images is None:
        return None
    position, default = of_images
    given = argument(made, _NAME, position)
    return default if given is None else fixed_text(module, given.value)


def draws_images(module: Module, owner: cst.BaseExpression) -> bool:
    """Say whether an object is an ``ImageDataGenerator``."""
    made = value_of(module, owner)
    name = (module.qualified(made.func) or "") if isinstance(made, cst.Call) else ""
    return name.rpartition(".")[2] == _IMAGES.rpartition(".")[2]


def _position_in_flow(module: Module, facts: TargetFacts, made: cst.Call) -> tuple[int, str] | None:
    """Return place and default of ``batch_size`` in ``ImageDataGenerator(…).flow(…)``."""
    if not isinstance(made.func, cst.Attribute) or not draws_images(module, made.func.value):
        return None
    last = facts.at_release(facts.lookup(_IMAGES).until)
    signature = last.signature(f"{_IMAGES}.{made.func.attr.value}")
    found = None if signature is None else signature.parameter(_NAME)
    if signature is None or found is None or found.default is None:
        return None
    names = [each.name for each in signature.parameters if each.name != "self"]
    return names.index(_NAME), found.default


def _position(parameters: cst.Parameters) -> int | None:
    names = [each.name.value for each in (*parameters.posonly_params, *parameters.params)]
    return names.index(_NAME) if _NAME in names else None


def _default(parameters: cst.Parameters) -> cst.BaseExpression | None:
    found = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return next((each.default for each in found if each.name.value == _NAME), None)


def fixed_text(module: Module, value: cst.BaseExpression) -> str | None:
    """Return the text of a value that is the same wherever it is read, None of another."""
    if isinstance(value, cst.Integer):
        return value.value
    if isinstance(value, cst.Name):
        owner = module.scope_of(value).owner(value.value)
        return value.value if owner and len(owner.bindings[value.value]) == 1 else None
    if isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name | cst.Attribute):
        return module.source(value)
    return None
