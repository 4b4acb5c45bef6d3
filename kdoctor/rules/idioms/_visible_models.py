"""Models that are created, compiled and used within one scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.keras_api import split_root
from kdoctor.rewrite.common_guards import NUMBER_MAKERS
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

# Builtins that can do nothing to a model that is handed to them.
_HARMLESS = {"print", "len", "type", "repr", "str", "id", "isinstance", "hasattr", "callable"}


class VisibleModel(Struct, frozen=True):
    """A ``Sequential`` of Keras' own layers; ``metrics`` is how many it was compiled with."""

    metrics: int


def model_in_sight(module: Module, use: MemberUse) -> VisibleModel | None:
    """Return what is known of the model whose member is used; None unless all of it is in sight."""
    name = use.node.value
    if not isinstance(name, cst.Name):
        return None
    scope = module.scope_of(name)
    bindings = scope.bindings.get(name.value, [])
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    made = bindings[0].value
    if not isinstance(made, cst.Call) or not _is_sequential(module, made):
        return None
    uses = [each for each in names_of_variable(module, name) if each is not bindings[0].node]
    if any(module.scope_of(each) is not scope for each in uses):
        return None
    if not all(_keeps_it(module, each) for each in uses):
        return None
    compiled = [call for each in uses if (call := _method_call(module, each, "compile"))]
    added = [call for each in uses if (call := _method_call(module, each, "add"))]
    if len(compiled) != 1 or not _surely_runs_before(module, compiled[0], use.node):
        return None
    layers = [*_constructor_layers(made), *(arg.value for call in added for arg in call.args)]
    if not all(_is_all_keras(module, each) for each in layers):
        return None
    metrics = _count_metrics(module, compiled[0])
    return None if metrics is None else VisibleModel(metrics)


def _is_sequential(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"


def _keeps_it(module: Module, name: cst.Name) -> bool:
    """Say whether a use leaves the model as it is: no one else gets it, nothing is set on it."""
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        above = module.parent(parent)
        return not isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.Del)
    if isinstance(parent, cst.Call) and parent.func is name:
        return True
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    if isinstance(call.func, cst.Name) and call.func.value in _HARMLESS:
        return True
    called = module.qualified(call.func)
    return called is not None and split_root(called) is not None


def _method_call(module: Module, name: cst.Name, method: str) -> cst.Call | None:
    attribute = module.parent(name)
    if not isinstance(attribute, cst.Attribute) or attribute.attr.value != method:
        return None
    call = module.parent(attribute)
    return call if isinstance(call, cst.Call) and call.func is attribute else None


def _surely_runs_before(module: Module, call: cst.Call, node: cst.CSTNode) -> bool:
    """Say whether ``call`` stands before ``node``, in a block around it."""
    blocks = (cst.IndentedBlock, cst.Module)
    block = next(each for each in module.ancestors(call) if isinstance(each, blocks))
    return block in set(module.ancestors(node)) and module.span(call) < module.span(node)


def _constructor_layers(made: cst.Call) -> Iterator[cst.BaseExpression]:
    for index, argument in enumerate(made.args):
        keyword = argument.keyword.value if argument.keyword else None
        if keyword == "layers" or (keyword is None and index == 0):
            if isinstance(argument.value, cst.List | cst.Tuple):
                yield from (element.value for element in argument.value.elements)
            else:
                yield argument.value


def _is_all_keras(module: Module, layer: cst.BaseExpression) -> bool:
    """Say whether an expression makes Keras' own layers only: others may keep metrics."""
    if not isinstance(layer, cst.Call):
        return False
    calls = [each for each in descendants(layer) if isinstance(each, cst.Call)]
    names = [module.qualified(call.func) for call in calls if not _gives_a_number(module, call)]
    return all(name is not None and split_root(name) is not None for name in names)


def _gives_a_number(module: Module, call: cst.Call) -> bool:
    """Say whether it is a call of a builtin that cannot make a layer: ``Dense(len(labels))``."""
    function = call.func
    return (
        isinstance(function, cst.Name)
        and function.value in NUMBER_MAKERS
        and is_builtin(module, function)
    )


def _count_metrics(module: Module, compile_call: cst.Call) -> int | None:
    """Return how many numbers the metrics add; None where that cannot be told."""
    if any(argument.star for argument in compile_call.args):
        return None
    # The third positional argument is `metrics` in Keras 2 and `loss_weights` in Keras 3.
    if sum(argument.keyword is None for argument in compile_call.args) > 2:
        return None
    count = 0
    for argument in compile_call.args:
        if argument.keyword is None or argument.keyword.value not in _METRICS:
            continue
        value = argument.value
        if isinstance(value, cst.Name) and value.value == "None":
            continue
        if not isinstance(value, cst.List | cst.Tuple) or not _are_plain(module, value.elements):
            return None
        count += len(value.elements)
    return count


_METRICS = ("metrics", "weighted_metrics")


def _are_plain(module: Module, elements: Sequence[cst.BaseElement]) -> bool:
    """Say whether each element is one metric by its name, or one of Keras' own."""
    for element in elements:
        value = element.value
        if isinstance(element, cst.StarredElement):
            return False
        if isinstance(value, cst.SimpleString):
            continue
        called = value.func if isinstance(value, cst.Call) else value
        name = module.qualified(called)
        if name is None or split_root(name) is None:
            return False
    return True
