"""``layer._inbound_nodes[0].inbound_layers``: members that nodes of a layer no longer have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import binding_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.analysis.roots import uses_another_keras
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_NODES: Final = frozenset({"_inbound_nodes", "_outbound_nodes", "inbound_nodes", "outbound_nodes"})
_LISTS: Final = "it is a list also where Keras 2 gave the layer itself"


class _Now(Struct, frozen=True):
    """What a member is now: the code around the node, and what may differ, "" for nothing."""

    before: str
    after: str
    unsafe_because: str = ""


_LAYER: Final = _Now("", ".operation")
_ONE_LAYER: Final = _Now("", ".parent_nodes[0].operation")
_OF_LISTS: Final = frozenset(dir(list))
_MEMBERS: Final[dict[str, _Now | None]] = {
    "outbound_layer": _LAYER,
    "layer": _LAYER,
    "inbound_layers": _Now("[each.operation for each in ", ".parent_nodes]", _LISTS),
    "iterate_inbound": _Now(
        "[(*each._keras_history, each) for each in ",
        ".input_tensors]",
        "`_keras_history` is private, and any release may change it",
    ),
    "call_args": _Now("", ".arguments.args"),
    "call_kwargs": _Now("", ".arguments.kwargs"),
    **dict.fromkeys(("keras_inputs", "input_shapes", "output_shapes", "map_arguments")),
}


@rule(
    "KD246",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(attribute(*_MEMBERS), attribute(*_NODES)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such member of what comes out of the nodes of a layer."""
    if uses_another_keras(file.module, file.facts):
        return  # the layers of Keras 2 have them
    for each in file.module.attributes:
        member = each.attr.value
        if member not in _MEMBERS or not _is_node(file.module, each.value):
            continue
        if not file.module.is_guarded(each):
            yield _finding(file, each, member)


def _is_node(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression is one of the nodes of a layer: by index, or in a loop."""
    match node:
        case cst.Subscript(value=cst.Attribute() as nodes, slice=[one]):
            return _are_nodes(module, nodes) and isinstance(one.slice, cst.Index)
        case cst.Name():
            bound = binding_of(module, node)
            if bound is None or bound.value is None or bound.path:
                return False
            if bound.kind is BindingKind.LOOP:
                return isinstance(bound.value, cst.Attribute) and _are_nodes(module, bound.value)
            return bound.kind is BindingKind.ASSIGN and _is_node(module, bound.value)
    return False


def _are_nodes(module: Module, nodes: cst.Attribute) -> bool:
    """Say whether these are the nodes of a layer or model.

    Other graphs have nodes, too; but nobody else calls them by the private name.
    """
    name, owner = nodes.attr.value, module.type_of(nodes.value)
    if owner is None:
        return name in _NODES and name.startswith("_")
    return name in _NODES and owner.kind in (Kind.LAYER, Kind.MODEL)


def _finding(file: File, read: cst.Attribute, member: str) -> Finding:
    now = _MEMBERS[member]
    return file.finding(
        f"the nodes of a layer no longer have `{member}`: AttributeError: 'Node' object has no "
        f"attribute '{member}'",
        at=read,
        symbol=f"Node.{member}",
        help="A node has `operation`, `parent_nodes`, `arguments`, `input_tensors`, "
        "`output_tensors` and `outputs` now.",
        fix=NoFix("nothing in Keras 3 replaces it") if now is None else _fix(file, read, now),
    )


def _is_taken_for_one(module: Module, read: cst.Attribute) -> bool:
    """Say whether a member of it is read that a list does not have: then it is one layer."""
    above = module.parent(read)
    return (
        isinstance(above, cst.Attribute)
        and above.value is read
        and above.attr.value not in _OF_LISTS
    )


def _fix(file: File, read: cst.Attribute, now: _Now) -> Fix | NoFix:
    module = file.module
    whole: cst.CSTNode = read
    if read.attr.value == "iterate_inbound":
        call = module.parent(read)
        if not isinstance(call, cst.Call) or call.func is not read:
            return NoFix("it is not called here")
        whole = call
    if isinstance(module.parent(whole), cst.Del | cst.AssignTarget):
        return NoFix("it is assigned")
    node = Hole(module.span(read.value))
    if now is _MEMBERS["inbound_layers"] and _is_taken_for_one(module, read):
        now = _ONE_LAYER
    new = f"{now.before}{module.source(read.value)}{now.after}"
    edit = Edit(module.span(whole), (now.before, node, now.after))
    return file.fix(f"Write `{new}`", edit, unsafe_because=now.unsafe_because)
