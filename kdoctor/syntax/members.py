"""Attributes that are taken from instances whose kind is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kdoctor.kinds import Type
from kdoctor.model import Confidence
from kdoctor.syntax.classes import OwnClasses
from kdoctor.syntax.imports import dotted
from kdoctor.syntax.inference import Inference
from kdoctor.syntax.survey import Survey


@dataclass(frozen=True, eq=False, slots=True)
class MemberUse:
    """``owner.member`` is read. ``node`` is the attribute, ``called`` its call where it is called.

    ``owner_defines`` is false only where the member cannot come from the user's own code: from a
    subclass of theirs (or a base of it that is not known, or its ``__getattr__``), or from an
    assignment to that attribute of the same object. An object of which only the kind is known, or
    that is declared to be of some class, may be of any subclass that the module itself makes.
    """

    node: cst.Attribute
    owner: Type
    member: str
    called: cst.Call | None
    owner_defines: bool
    confidence: Confidence = Confidence.LIKELY


def member_uses(survey: Survey, inference: Inference, classes: OwnClasses) -> Iterator[MemberUse]:
    """Yield the uses in source order."""
    stored = {store.node for store in survey.stores}
    assigned = {(dotted(each.value), each.attr.value) for each in stored}
    assigned |= set(_set_by_name(survey))
    subclasses = [own for node in survey.classes if (own := classes.of(node)) is not None]
    in_subclasses = {
        (own.type.kind, member) for own in subclasses if own.type for member in own.members
    }
    for node in survey.attributes:
        if node in stored:
            continue
        owner = inference.value(node.value)
        if owner.type is None:
            continue
        call = survey.parents.get(node)
        is_callee = isinstance(call, cst.Call) and call.func is node
        yield MemberUse(
            node,
            owner.type,
            node.attr.value,
            call if isinstance(call, cst.Call) and is_callee else None,
            (owner.own is not None and owner.own.may_define(node.attr.value))
            or (dotted(node.value), node.attr.value) in assigned
            or (
                not (owner.exact and owner.type.cls)
                and (owner.type.kind, node.attr.value) in in_subclasses
            ),
        )


def _set_by_name(survey: Survey) -> Iterator[tuple[str | None, str]]:
    """Yield what ``setattr(owner, "member", …)`` assigns."""
    for use in survey.uses:
        if use.name != "setattr":
            continue
        match survey.parents.get(use.node):
            case cst.Call(
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as member), *_]
            ):
                yield dotted(owner), member.raw_value
            case _:
                continue
