"""A layer that `call` creates anew each time: created once, at the end of `__init__`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.model import Edit, NoFix, Precedence, Span
from kdoctor.rewrite.source_lines import line_end, margin
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import BindingKind

_NO_INIT: Final = "the class has no `__init__` of its own that it could be created in"
_NOT_THERE: Final = "its arguments are not known in `__init__`"
_TAKEN: Final = "the class has members of all names that it could have"
_NAMES: Final = 9  # of layers that differ, in one class


def created_in_init(
    module: Module, owner: cst.ClassDef, call: cst.Call, others: list[cst.Call], word: str
) -> tuple[Edit, ...] | NoFix:
    """Return the edits that create what ``call`` makes in `__init__`, and read it where it stood.

    ``others`` are all such calls of the class, in source order: those that are written alike
    share one layer.
    """
    init = methods_in(owner).get("__init__")
    if init is None or not isinstance(init.body, cst.IndentedBlock):
        return NoFix(_NO_INIT)
    last = init.body.body[-1]
    indent = margin(module.text, module.span(last).start)
    receiver = _receiver(init)
    method = module.scope_of(call).node
    if indent.strip() or not receiver or _leaves_early(init):
        return NoFix(_NO_INIT)
    if not isinstance(method, cst.FunctionDef) or _receiver(method) != receiver:
        return NoFix(_NO_INIT)
    if not all(_is_known_in(module, init, receiver, each) for each in _read_by(call)):
        return NoFix(_NOT_THERE)
    spelled = list(dict.fromkeys(module.source(each) for each in others))
    names = [each for each in _candidates(word) if each not in module.words]
    place = spelled.index(module.source(call))
    if place >= len(names):
        return NoFix(_TAKEN)
    at = line_end(module.text, module.span(last).end)
    line = f"\n{indent}{receiver}.{names[place]} = {module.source(call)}"
    read = Edit(module.span(call), (f"{receiver}.{names[place]}",), Precedence.PRIMARY)
    return Edit(Span(at, at), (line,)), read


def _candidates(word: str) -> Iterator[str]:
    yield f"{word}_layer"
    yield from (f"{word}_layer_{number}" for number in range(2, _NAMES))


def _receiver(function: cst.FunctionDef) -> str:
    return function.params.params[0].name.value if function.params.params else ""


def _leaves_early(init: cst.FunctionDef) -> bool:
    return any(isinstance(each, cst.Return) for each in descendants(init))


def _read_by(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """Yield the names and members that a call reads, the largest of them."""
    pending: list[cst.CSTNode] = [call]
    while pending:
        node = pending.pop()
        match node:
            case cst.Attribute() | cst.Name():
                yield node
            case cst.Arg():
                pending.append(node.value)
            case _:
                pending.extend(node.children)


def _is_known_in(
    module: Module, init: cst.FunctionDef, receiver: str, read: cst.BaseExpression
) -> bool:
    """Say whether `__init__` knows what is read: a member that it alone sets, or a global."""
    match read:
        case cst.Attribute(value=cst.Name(value=name), attr=member) if name == receiver:
            stores = [
                each
                for each in module.nodes(cst.Attribute)
                if each.attr.value == member.value and _is_stored(module, each)
            ]
            return bool(stores) and all(_is_inside(module, each, init) for each in stores)
        case cst.Attribute(value=owner):
            return _is_known_in(module, init, receiver, owner)
        case cst.Name():
            bound = module.bindings_at(read)
            return all(
                each.kind in {BindingKind.IMPORT, BindingKind.CLASS, BindingKind.FUNCTION}
                or each.scope is module.scope_of(module.tree)
                for each in bound
            )
    return False


def _is_stored(module: Module, node: cst.Attribute) -> bool:
    above = module.parent(node)
    return isinstance(above, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.Element) and (
        not isinstance(above, cst.AnnAssign | cst.AugAssign) or above.target is node
    )


def _is_inside(module: Module, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
    return any(each is function for each in module.ancestors(node))
