"""Where a function goes that is kept before it is called: ``self.act = gelu``, ``ACTS["gelu"]``.

Attributes are told apart by their names alone, whatever object has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind

_MAX_PLACES: Final = 64
_KEEPING: Final = (cst.Assign, cst.AnnAssign, cst.Param, cst.Return)
_DISPLAYS: Final = (cst.Dict, cst.List, cst.Tuple)


def places_of(module: Module, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the expressions that a function may be, beginning with where it is named.

    That is the name itself, and each read of what it is kept in: a name, an attribute, a dict or a
    list, a parameter of the file's functions and classes, the result of a function.
    """
    found = [node]
    for each in found:
        if len(found) > _MAX_PLACES:
            break
        found += [read for read in _reads_of_what_keeps(module, each) if read not in found]
    return found


def is_kept(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression is only kept where it stands: the reads of that tell more."""
    parent = module.parent(node)
    if isinstance(parent, cst.Arg):
        return _parameter_for(module, parent) is not None
    if isinstance(parent, cst.Element | cst.DictElement):
        display = module.parent(parent)
        holder = None if display is None else module.parent(display)
        return isinstance(holder, (*_KEEPING, cst.Subscript)) and not isinstance(display, cst.Set)
    return isinstance(parent, (*_KEEPING, cst.IfExp, cst.Attribute))


def _reads_of_what_keeps(module: Module, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match module.parent(node):
        case cst.Assign(value=value, targets=targets) if value is node:
            for each in targets:
                yield from _reads_of_target(module, each.target)
        case cst.AnnAssign(value=value, target=target) if value is node:
            yield from _reads_of_target(module, target)
        case cst.Param(default=default) as parameter if default is node:
            yield from _reads_of_parameter(module, parameter)
        case cst.DictElement(value=value) as element if value is node:
            yield from _elements_read(module, module.parent(element))
        case cst.Element() as element:
            yield from _elements_read(module, module.parent(element))
        case cst.IfExp(test=test) as choice if test is not node:
            yield choice
        case cst.Arg() as given:
            taken = _parameter_for(module, given)
            if taken is not None:
                yield from _reads_of_parameter(module, taken)
        case cst.Return() as statement:
            function = function_around(module, statement)
            if isinstance(function, cst.FunctionDef):
                yield from points_to_of(module).callers(function)


def _reads_of_target(module: Module, target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, cst.Attribute):
        yield from (
            each for each in _attributes(module).get(target.attr.value, ()) if each is not target
        )
    elif isinstance(target, cst.Name):
        for each in _names(module).get(target.value, ()):
            if any(bound.node is target for bound in module.bindings_at(each)):
                yield each


def _reads_of_parameter(module: Module, parameter: cst.Param) -> Iterator[cst.BaseExpression]:
    for each in _names(module).get(parameter.name.value, ()):
        if any(
            bound.kind is BindingKind.PARAMETER and bound.node is parameter
            for bound in module.bindings_at(each)
        ):
            yield each


def _elements_read(module: Module, display: cst.CSTNode | None) -> Iterator[cst.BaseExpression]:
    """Yield the reads of single elements of a display: ``ACTS[name]``, ``ACTS.get(name)``."""
    if not isinstance(display, _DISPLAYS):
        return
    for each in (display, *_reads_of_what_keeps(module, display)):
        match module.parent(each):
            case cst.Subscript(value=value) as read if value is each:
                yield read
            case cst.Attribute(value=owner, attr=cst.Name(value="get")) as method if owner is each:
                call = module.parent(method)
                if isinstance(call, cst.Call) and call.func is method:
                    yield call


def _parameter_for(module: Module, given: cst.Arg) -> cst.Param | None:
    """Return the parameter of a function or class of the file that takes an argument."""
    call = module.parent(given)
    if not isinstance(call, cst.Call) or given.star or not isinstance(call.func, cst.Name):
        return None
    bound = module.bindings_at(call.func)
    called = bound[0].node if len(bound) == 1 else None
    is_class = isinstance(called, cst.ClassDef)
    function = _initializer(called) if isinstance(called, cst.ClassDef) else called
    if not isinstance(function, cst.FunctionDef):
        return None
    in_order = [*function.params.posonly_params, *function.params.params][is_class:]
    if given.keyword is not None:
        every = [*in_order, *function.params.kwonly_params]
        return next((p for p in every if p.name.value == given.keyword.value), None)
    place = call.args.index(given)
    if any(each.star or each.keyword for each in call.args[:place]) or place >= len(in_order):
        return None
    return in_order[place]


def _initializer(owner: cst.ClassDef) -> cst.FunctionDef | None:
    for each in owner.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value == "__init__":
            return each
    return None


@once
def _attributes(module: Module) -> dict[str, list[cst.Attribute]]:
    found: dict[str, list[cst.Attribute]] = {}
    for each in module.attributes:
        if not isinstance(module.parent(each), cst.AssignTarget):
            found.setdefault(each.attr.value, []).append(each)
    return found


@once
def _names(module: Module) -> dict[str, list[cst.Name]]:
    found: dict[str, list[cst.Name]] = {}
    for each in module.nodes(cst.Name):
        parent = module.parent(each)
        is_attribute = isinstance(parent, cst.Attribute) and parent.attr is each
        is_keyword = isinstance(parent, cst.Arg) and parent.keyword is each
        is_made = isinstance(parent, cst.AssignTarget | cst.FunctionDef) or (
            isinstance(parent, cst.Param) and parent.name is each
        )
        if not (is_attribute or is_keyword or is_made):
            found.setdefault(each.value, []).append(each)
    return found
