"""Whether a layer surely takes several inputs, told by its ``call``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.rules.own_classes import class_named, methods_in, still_holds
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.walk import descendants

_DEEPEST = 8  # classes that inherit from each other


def takes_several_inputs(module: Module, node: cst.ClassDef) -> bool:
    """Say whether ``call`` always takes its inputs apart: ``x, a = inputs``.

    The method may be inherited; of a class that leaves it to its subclasses, it is theirs.
    """
    call = _inherited(module, node)
    calls = [call] if call is not None else list(_of_subclasses(module, node))
    return bool(calls) and all(_takes_apart(module, each) for each in calls)


def _inherited(module: Module, node: cst.ClassDef) -> cst.FunctionDef | None:
    own: cst.ClassDef | None = node
    for _ in range(_DEEPEST):
        if own is None:
            break
        if (call := methods_in(own).get("call")) is not None:
            return call
        bases = (class_named(module, each.value) for each in own.bases)
        own = next((each for each in bases if each is not None), None)
    return None


def _of_subclasses(module: Module, node: cst.ClassDef, depth: int = 0) -> Iterator[cst.FunctionDef]:
    for each in module.nodes(cst.ClassDef) if depth < _DEEPEST else ():
        if not any(class_named(module, base.value) is node for base in each.bases):
            continue
        methods = methods_in(each)
        if "call" in methods:
            yield methods["call"]
        else:
            yield from _of_subclasses(module, each, depth + 1)


def _takes_apart(module: Module, call: cst.FunctionDef) -> bool:
    parameters = call.params.params
    if len(parameters) < 2:
        return False
    inputs = parameters[1]
    if any(_leaves_early(each, inputs) for each in descendants(call.body)):
        return False
    found: set[int] = set()
    for each in descendants(call.body):
        match each:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as parts)]):
                is_it = still_holds(module, each.value, inputs) and len(parts.elements) > 1
                if is_it and not _asks_first(module, each, call, inputs):
                    return True
            case cst.Subscript(
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=at)))]
            ) if still_holds(module, each.value, inputs):
                if not _asks_first(module, each, call, inputs):
                    found.add(int(at, 0))
    return found >= {0, 1}


def _asks_first(
    module: Module, node: cst.CSTNode, call: cst.FunctionDef, inputs: cst.Param
) -> bool:
    """Say whether it is done under a question about the inputs: then one may come as well."""
    for above in module.ancestors(node):
        if above is call:
            return False
        if isinstance(above, cst.If | cst.IfExp | cst.While) and _speaks_of(above.test, inputs):
            return True
    return False


def _leaves_early(node: cst.CSTNode, inputs: cst.Param) -> bool:
    """Say whether it is `if not isinstance(inputs, list): return …`."""
    return (
        isinstance(node, cst.If)
        and isinstance(last_statement(node.body), cst.Return)
        and _speaks_of(node.test, inputs)
    )


def _speaks_of(test: cst.BaseExpression, inputs: cst.Param) -> bool:
    return any(
        isinstance(each, cst.Name) and each.value == inputs.name.value
        for each in (test, *descendants(test))
    )
