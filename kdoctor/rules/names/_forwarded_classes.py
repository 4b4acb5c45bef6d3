"""Classes that are handed on to whatever makes objects of them: `train(optimizer_class=Adam)`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.syntax.type_oracle import PARTIAL

_WORD = "optimizer"
_MAX_DEPTH = 4  # functions, each of which hands it on to the next


def is_handed_on_to_be_made(module: Module, node: cst.CSTNode, depth: int = 0) -> bool:
    """Say whether somebody makes objects of the class that stands here, or trains with it.

    So it is with an argument for an optimizer, with an element of a dictionary that is such or
    whose elements are called, and with what a function of the file calls or derives from.
    """
    parent = module.parent(node)
    match parent:
        case cst.Arg():
            call = module.parent(parent)
            return isinstance(call, cst.Call) and _is_argument_to_make(module, call, parent, depth)
        case cst.DictElement(key=key) if parent.value is node:
            dictionary = module.parent(parent)
            return _is_for_an_optimizer(literal(key)) or (
                isinstance(dictionary, cst.Dict) and _is_called_by_key(module, dictionary)
            )
        case cst.Param() if parent.default is node:
            function = points_to_of(module).function_around(parent)
            return function is not None and _is_made_in(module, function, parent, depth)
    return False


def is_asserted(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a program fails unless something is an instance of this class alone."""
    argument = module.parent(node)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Name(value="isinstance"), args=[_, second]):
            return second is argument and isinstance(module.parent(call), cst.Assert)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="assertIsInstance"))):
            return len(call.args) > 1 and call.args[1] is argument
    return False


def _is_for_an_optimizer(word: object) -> bool:
    return isinstance(word, str) and _WORD in word.lower()


def _is_argument_to_make(module: Module, call: cst.Call, given: cst.Arg, depth: int) -> bool:
    if given.star or depth > _MAX_DEPTH:
        return False
    if given.keyword is not None and _is_for_an_optimizer(given.keyword.value):
        return True
    is_first = call.args[0] is given and given.keyword is None
    if is_first and module.qualified(call.func) == PARTIAL:
        return True
    function = points_to_of(module).function_called(call.func)
    parameters = (
        [] if function is None else [*function.params.params, *function.params.kwonly_params]
    )
    return function is not None and any(
        points_to_of(module).passed(call, each) is given.value
        and _is_made_in(module, function, each, depth)
        for each in parameters
    )


def _is_made_in(
    module: Module, function: cst.FunctionDef, parameter: cst.Param, depth: int
) -> bool:
    """Say whether a function calls what it gets, derives a class from it, or hands it on."""
    for each in descendants(function.body):
        if not isinstance(each, cst.Name) or each.value != parameter.name.value:
            continue
        if [bound.node for bound in module.bindings_at(each)] != [parameter]:
            continue
        above = module.parent(each)
        if isinstance(above, cst.Call) and above.func is each:
            return True
        if isinstance(above, cst.Arg) and isinstance(module.parent(above), cst.ClassDef):
            return True
        if is_handed_on_to_be_made(module, each, depth + 1):
            return True
    return False


def _is_called_by_key(module: Module, dictionary: cst.Dict) -> bool:
    """Say whether what is in a dictionary that has a name is called: ``optimizers[name](0.1)``."""
    return any(
        isinstance(call.func, cst.Subscript)
        and isinstance(call.func.value, cst.Name)
        and [each.value for each in module.bindings_at(call.func.value)] == [dictionary]
        for call in module.nodes(cst.Call)
    )
