"""``self.trainable_weights = [self.w]`` in a layer, which says what Keras finds by itself."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_hidden, passed
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.statements import StatementSlot, statement_slot
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Edit, Fix
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

LISTS = "trainable_weights"
_VARIABLES = frozenset({"backend.variable", "Variable"})
_ADDS = "add_weight"


def left_away(module: Module, store: MemberStore, rating: Applicability) -> Fix | None:
    """Return the fix that takes the assignment away, where the weights are the same without it.

    These are all that the layer makes, in that order: Keras 3 has them listed already.
    """
    line = statement_slot(module, store.node)
    if store.member != LISTS or store.owner.kind is not Kind.LAYER or not store.is_plain:
        return None
    cls = class_around(module, store.node)
    if cls is None or not _is_plain_layer(module, cls, store):
        return None  # what it is made from has weights, too
    listed = _listed(store)
    if line is None or listed is None or not line.assigns_once:
        return None
    made = _made(module, cls, line, store)
    if made is None or [name for name, _ in made] != listed:
        return None
    whole = whole_line(module, line.span)
    if whole is None:
        return None  # a comment tells of it
    is_all = len(line.block) == 1
    edit = Edit(line.span, ("pass",)) if is_all else Edit(whole, ())
    are_added = all(how == _ADDS for _, how in made)
    return Fix(
        "Remove the assignment: Keras lists these weights itself",
        (edit,),
        rating if are_added else Applicability.UNSAFE,
        unsafe_because="" if are_added else "only a `keras.Variable` becomes a weight of the layer",
    )


def _is_plain_layer(module: Module, cls: cst.ClassDef, store: MemberStore) -> bool:
    base = store.owner.qualified
    made = module.oracle.class_type(base) if base else None
    is_of_keras = all(class_named(module, each.value) is None for each in cls.bases)
    return is_of_keras and made is not None and made.cls == "Layer"


def _listed(store: MemberStore) -> list[str] | None:
    """Return the names of the attributes in the list, None where something else is in it."""
    elements = elements_of(store.value)
    if elements is None:
        return None
    names = [_of_self(each, store) for each in elements]
    found = [each for each in names if each is not None]
    return found if len(found) == len(names) else None


def _of_self(node: cst.CSTNode, store: MemberStore) -> str | None:
    match node, store.node.value:
        case cst.Attribute(cst.Name(value=owner), cst.Name(value=name)), cst.Name(value=instance):
            return name if owner == instance else None
    return None


def _made(
    module: Module, cls: cst.ClassDef, line: StatementSlot, store: MemberStore
) -> list[tuple[str, str]] | None:
    """Return the weights that a class makes, in order, each with how; None where that is not sure.

    All of them are made in the lines above the assignment, each time.
    """
    above: dict[cst.CSTNode, str] = {}
    for each in line.above:
        match each:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call() as value)
                ]
            ):
                name = _of_self(target, store)
                if name is not None:
                    above[value] = name
    found: list[tuple[str, str]] = []
    for node in descendants(cls):
        if isinstance(node, cst.Attribute) and node.attr.value == LISTS and node is not store.node:
            return None  # it goes on with the list
        if not isinstance(node, cst.Call):
            continue
        how = _way(module, node)
        if how == _ADDS or how in _VARIABLES:
            if node not in above or not _is_trained(node):
                return None
            found.append((above[node], how))
        elif how is not None:
            return None
    return found


def _way(module: Module, call: cst.Call) -> str | None:
    """Return how a call makes weights: ``"layer"`` if another layer does, None if nothing does."""
    match call.func:
        case cst.Attribute(attr=cst.Name(value="add_weight" | "add_variable")):
            return _ADDS
        case cst.Name(value="super"):
            return None
    split = split_root(module.qualified(call.func) or "")
    if split is not None and split[1] in _VARIABLES:
        return split[1]
    made = module.type_of(call)
    return "layer" if made is not None and made.kind in {Kind.LAYER, Kind.MODEL} else None


def _is_trained(call: cst.Call) -> bool:
    return not is_hidden(call) and literal(passed(call, "trainable"), absent=True) is True
