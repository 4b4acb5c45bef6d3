"""A model's own weights come first in the lists of its weights, where they came last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, replace_expression, speller_at, value_of
from kdoctor.analysis.dataflow.uses import index_read, reads_of
from kdoctor.analysis.models.sublayers import weighted_layers_assigned
from kdoctor.analysis.models.unbuilt_weights import passes_tensors_to_init
from kdoctor.analysis.models.user_classes import class_of, member_of_self, methods_in, receiver
from kdoctor.analysis.models.user_models import lineage
from kdoctor.analysis.queries import Call, Read, calls, reads
from kdoctor.analysis.queries.conditions import member
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ADD: Final = "add_weight"
_TRAINABLE: Final = frozenset({"trainable_variables", "trainable_weights"})
_MADE_ONCE: Final = ("__init__", "build")


class OwnWeight(Struct, frozen=True):
    """A weight that a model adds itself, with the attribute that holds it."""

    attribute: str
    trainable: bool


@rule(
    "KD497",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=(
        calls("get_weights", "set_weights", on=Kind.MODEL)
        | reads("weights", *sorted(_TRAINABLE), on=Kind.MODEL)
    ).beside(member(_ADD)),
)
def check(found: Call | Read) -> Iterator[Finding]:
    """Report each place that shows that a model's own weights are looked for behind the others.

    Not each where the order shows: code that was written for Keras 3 has such, too.
    """
    module, owner = found.module, found.owner
    node = None if owner is None else class_of(module, owner)
    line = [] if node is None else lineage(module, found.facts, node)
    if not line or not _has_layers_with_weights(module, line):
        return
    name = found.leaf if isinstance(found, Call) else found.member
    own = _own_weights(module, line)
    attributes = [each.attribute for each in own if each.trainable or name not in _TRAINABLE]
    if not attributes:
        return
    for place, fix in _places(found, name, attributes):
        yield found.finding(
            f"the weights that `{line[0].name.value}` itself adds come first here, behind those "
            "of its layers in Keras 2",
            at=place,
            symbol=f"Model.{name}",
            help="Ask for a weight by its attribute, or count from the model's own.",
            fix=fix,
        )


def _has_layers_with_weights(module: Module, line: Sequence[cst.ClassDef]) -> bool:
    """Say whether one of these classes surely keeps a layer of Keras' that has weights.

    Not where the model is made by its inputs and outputs, as nothing was run for such.
    """
    inits = [methods_in(each)["__init__"] for each in line if "__init__" in methods_in(each)]
    return not any(passes_tensors_to_init(each) for each in inits) and any(
        True for init in inits for _ in weighted_layers_assigned(module, init)
    )


def _own_weights(module: Module, line: Sequence[cst.ClassDef]) -> list[OwnWeight]:
    """Return what these classes add to themselves, in the order of Keras: trainable ones first.

    Nothing where it is unclear how many there are.
    """
    own: list[OwnWeight] = []
    for node in reversed(line):
        for method in methods_in(node).values():
            itself = receiver(method)
            for call in descendants(method.body):
                if isinstance(call, cst.Call) and _adds_a_weight(call, itself):
                    added = _own_weight(module, call, method)
                    if added is None:
                        return []
                    own.append(added)
    return sorted(own, key=lambda each: not each.trainable)


def _adds_a_weight(call: cst.Call, itself: str | None) -> bool:
    match call.func:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=called)):
            return called == _ADD and name == itself
    return False


def _own_weight(module: Module, call: cst.Call, method: cst.FunctionDef) -> OwnWeight | None:
    """Return the weight that a method surely adds once, and keeps."""
    passed = argument(call, "trainable")
    trainable = True if passed is None else literal(passed.value)
    match module.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) as assigned:
            attribute = member_of_self(target, method)
            statement = module.parent(assigned)
            is_run_once = method.name.value in _MADE_ONCE and statement in method.body.body
            if is_run_once and attribute is not None and isinstance(trainable, bool):
                return OwnWeight(attribute, trainable)
    return None


def _places(
    found: Call | Read, name: str, own: Sequence[str]
) -> Iterator[tuple[cst.CSTNode, Fix | NoFix]]:
    """Yield where a weight of the model's own is meant that does not come last, with the fix."""
    module = found.module
    if isinstance(found, Call) and name == "set_weights":
        given = found.argument("weights", 0)
        written = None if given is None else value_of(module, given.value)
        if isinstance(written, cst.List | cst.Tuple) and _ends_in(written, own):
            yield written, _turned(found, written, own)
        return
    for listed in (found.node, *_names_of(module, found.node)):
        match module.parent(listed):
            case cst.Subscript(value=value) as read if value is listed:
                place = index_read(read)
                if place is not None and -len(own) <= place < 0:
                    yield read, _by_attribute(found, read, name, own[place])
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as targets)]
            ) if _ends_in(targets, own):
                yield targets, _turned(found, targets, own)


def _names_of(module: Module, value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what reads the name that a value is assigned to, where that name has no other."""
    match module.parent(value):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            yield from (read for read in reads_of(module, name) if value_of(module, read) is value)


def _ends_in(several: cst.List | cst.Tuple, own: Sequence[str]) -> bool:
    """Say whether the last names in a list are those of the model's own weights."""
    names = [
        each.value.value if isinstance(each.value, cst.Name) else ""
        for each in several.elements
        if isinstance(each, cst.Element)
    ]
    return len(names) == len(several.elements) > len(own) and names[-len(own) :] == list(own)


def _by_attribute(
    found: Call | Read, read: cst.Subscript, name: str, attribute: str
) -> Fix | NoFix:
    """Write the attribute that holds a weight."""
    module, asked = found.module, found.node
    method = asked.func if isinstance(asked, cst.Call) else asked
    assert isinstance(method, cst.Attribute)
    if read.value is not asked or not isinstance(method.value, cst.Name):
        return NoFix("its model, or its value, may be another one by then")
    written, needs = f"{method.value.value}.{attribute}", []
    if name == "get_weights":
        convert, need = speller_at(module, read).spell("keras.ops.convert_to_numpy")
        written, needs = f"{convert}({written})", [need]
    edit = replace_expression(module, read, written)
    return found.fix(f"Write `{written}`", edit, imports=needs)


def _turned(found: Call | Read, several: cst.List | cst.Tuple, own: Sequence[str]) -> Fix | NoFix:
    """Write the model's own weights, which stand last, in front of the others."""
    if not all(isinstance(each.value, cst.Name) for each in several.elements):
        return NoFix("what is written there is computed in its order")
    texts = [found.module.source(each.value) for each in several.elements]
    turned = [*own, *texts[: -len(own)]]
    edits = (
        Edit(found.module.span(each.value), (text,))
        for each, text in zip(several.elements, turned, strict=True)
    )
    return found.fix("Write the model's own first", *edits)
