"""What a model was compiled with, and whether `load_model` finds it again in a `.keras` file.

From `.h5` the loss and the metrics are read as names, and looked for when the model is trained; a
`.keras` file is not loaded without them: `Could not locate function 'my_metric'`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, literal, value_of
from kdoctor.analysis.dataflow.definitions import only_definition
from kdoctor.analysis.models.user_classes import decorated_by
from kdoctor.keras_api import split_root
from kdoctor.rules.saving._save_and_load_calls import PathUse, compiles
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_PARTS: Final = (("optimizer", 0), ("loss", 1), ("metrics", 2), ("weighted_metrics", 4))
_REGISTERING: Final = "register_keras_serializable"
_SCOPES: Final = frozenset({"CustomObjectScope", "custom_object_scope", "get_custom_objects"})
LAMBDA: Final = "a lambda"


def lacking(module: Module, load: PathUse) -> str:
    """Return what some model of the file is compiled with and a load surely does not find."""
    if not compiles(load) or not _SCOPES.isdisjoint(module.words):
        return ""
    given = argument(load.call, "custom_objects", 1)
    found = {None} if given is None else _keys(module, given.value)
    if found is None or any(each.star for each in load.call.args):
        return ""  # nobody can tell
    return next((each for each in _own_objects(module) if each not in found), "")


def _keys(module: Module, node: cst.BaseExpression) -> set[object] | None:
    """Return the keys of a dict that is written out, None where it may have others."""
    made = value_of(module, node)
    if not isinstance(made, cst.Dict):
        return None
    if not all(isinstance(each, cst.DictElement) for each in made.elements):
        return None
    return {literal(each.key) for each in made.elements if isinstance(each, cst.DictElement)}


def _own_objects(module: Module) -> Iterator[str]:
    """Yield what models are compiled with that no Keras has, by the name that is saved."""
    for call in module.nodes(cst.Call):
        match call.func:
            case cst.Attribute(attr=cst.Name(value="compile")) if not module.qualified(call.func):
                for name, position in _PARTS:
                    given = argument(call, name, position)
                    if given is not None:
                        yield from _in(module, given.value)


def _in(module: Module, node: cst.BaseExpression) -> Iterator[str]:
    """Yield the objects of one's own in an argument: functions, classes, and what makes them."""
    match value_of(module, node):
        case cst.Lambda():
            yield LAMBDA
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            for each in elements:
                yield from _in(module, each.value)
        case cst.Dict(elements=pairs):
            for pair in pairs:
                yield from _in(module, pair.value)
        case cst.Call(func=function):
            yield from _named(module, function, called=True)
        case cst.Name() | cst.Attribute() as name:
            yield from _named(module, name, called=False)


def _named(module: Module, node: cst.BaseExpression, *, called: bool) -> Iterator[str]:
    qualified = module.qualified(node)
    if qualified is not None:
        if split_root(qualified) is None:
            yield qualified.rpartition(".")[2]  # of another module, which may register it
        return
    if not isinstance(node, cst.Name):
        return
    defined = only_definition(module, node)
    if not isinstance(defined, cst.FunctionDef | cst.ClassDef):
        return
    if any(each.endswith(_REGISTERING) for each in decorated_by(module, defined)):
        return
    if called and isinstance(defined, cst.FunctionDef):
        yield from _inner(defined)
    else:
        yield node.value


def _inner(function: cst.FunctionDef) -> Iterator[str]:
    """Yield the function inside another that it returns: the name that is saved is its own."""
    inner = {each.name.value for each in function.body.body if isinstance(each, cst.FunctionDef)}
    for each in descendants(function.body):
        match each:
            case cst.Return(value=cst.Name(value=name)) if name in inner:
                yield name
            case cst.Return(value=cst.Lambda()):
                yield LAMBDA
