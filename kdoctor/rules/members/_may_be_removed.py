"""Which attributes in a glimpse of a source may be members that are gone."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from kdoctor import keras_api
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Query, Read
from kdoctor.analysis.triggers import Trigger, is_read
from kdoctor.keras_api.returns import (
    CALLED,
    LIBRARY_FUNCTIONS,
    MEMBERS,
    RECEIVERS,
    RETURNS,
)
from kdoctor.rules.members._advice import NOT_PUBLIC
from kdoctor.rules.members._error_owner import last_release_with
from kdoctor.rules.members._removed_members import GONE
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type

GONE_OF_CLASSES: Final = Path(__file__).with_name("gone_of_classes.json")
"""What objects lost by some Keras 3, by what their class is called (``tools/gone_members.py``)."""
_NAMES: Final = msgspec.json.Decoder(list[str])


def reads_of_gone(kinds: Collection[Kind]) -> Query[Read]:
    """Reads of members that objects of such a kind had once, and lack on the target."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Read]:
        for use in module.members:
            if use.owner.kind not in kinds or use.owner_defines:
                continue
            is_gone = last_release_with(facts, use.owner, use.member) is not None
            if is_gone and not module.is_guarded(use.node):
                yield Read(module, facts, use)

    return Query(find, _may_be_gone(kinds))


def _may_be_gone(kinds: Collection[Kind]) -> Trigger:
    wanted = frozenset(kinds)
    of_kinds = frozenset().union(*(GONE.get(kind, frozenset()) for kind in wanted))

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        suspects = of_kinds & quick.members
        for owner in dict.fromkeys(_owners(quick, facts)):
            asked = quick.members & _lost(facts, owner) if owner.kind in wanted else None
            if asked:
                suspects |= _lacks(facts, owner).among(asked)
        return bool(suspects) and _is_read(quick, facts, suspects, wanted)

    return Trigger(holds)


def called(owner: Type) -> str:
    """Return what the class of an object is called."""
    return (owner.qualified or owner.cls or "").rpartition(".")[2]


@lru_cache(maxsize=4096)
def _lost(facts: TargetFacts, owner: Type) -> frozenset[str]:
    """Return what objects of one class may lack, and more; without what is gone of their kind."""
    if facts.runs_keras_3("keras") and facts.runs_keras_3("tf.keras"):
        return _lost_by_class(called(owner))
    return keras_api.members_once(owner)


@lru_cache(maxsize=1024)
def _lost_by_class(name: str) -> frozenset[str]:
    lost = _gone_of_classes().get(name)
    return frozenset() if lost is None else frozenset(map(sys.intern, _NAMES.decode(lost)))


@cache
def _gone_of_classes() -> Mapping[str, msgspec.Raw]:
    return msgspec.json.decode(GONE_OF_CLASSES.read_bytes(), type=dict[str, msgspec.Raw])


def _is_read(
    quick: QuickFacts, facts: TargetFacts, members: Collection[str], kinds: Collection[Kind]
) -> bool:
    """Say whether one of the members is read from what may be an object that lacks it."""
    return is_read(
        quick,
        facts,
        members,
        lambda member, types: any(
            owner.kind in kinds and _lacks_it(facts, owner, member) for owner in _with_merged(types)
        ),
    )


def _lacks_it(facts: TargetFacts, owner: Type, member: str) -> bool:
    of_kind = GONE.get(owner.kind, frozenset())
    may_lack = member in of_kind or member in _lost(facts, owner)
    return may_lack and member in _lacks(facts, owner)


def _with_merged(types: Collection[Type]) -> Iterator[Type]:
    """Yield the types, and what is true of several of one kind."""
    yield from types
    for kind in {each.kind for each in types}:
        alike = [each for each in types if each.kind is kind]
        if len(alike) > 1:
            yield Type(kind)
            yield from (Type(kind, each.cls) for each in alike)
            yield from (Type(kind, qualified=each.qualified) for each in alike)


def _owners(quick: QuickFacts, facts: TargetFacts) -> Iterator[Type]:
    """Yield the types of which the source names the class."""
    known = keras_api.oracle(facts.target)
    classes: dict[tuple[Kind, str | None], Type] = {}
    for name in quick.mentioned:
        made = known.class_type(name)
        if made is None:
            continue
        yield made
        if made.kind is Kind.MODEL and made.qualified is not None:
            yield replace(made, cls="")  # the user's own subclass, which is asked in another way
        # Of one of two classes of a name, it is only known how they are called.
        if classes.setdefault((made.kind, made.cls), made) != made:
            yield replace(made, qualified=None)


def _general() -> Iterator[Type]:
    yield from (Type(kind) for kind in Kind)
    for made in (
        *(*MEMBERS.values(), *CALLED.values(), *RETURNS.values(), *LIBRARY_FUNCTIONS.values()),
        *(kind for _, kind in RECEIVERS.values()),
    ):
        yield made if made.item is None else made.item


GENERAL: Final = tuple(dict.fromkeys(_general()))
"""The types of what is not known by its class: a function or an attribute gave it."""


class _Lacks:
    """The members that objects of one type lack, as far as somebody has asked."""

    def __init__(self, facts: TargetFacts, owner: Type) -> None:
        self._facts = facts
        self._owner = owner
        self._had = keras_api.members_once(owner)  # one for many owners
        self._asked: set[str] = set()
        self._gone: set[str] = set()

    def __contains__(self, member: str) -> bool:
        """Say whether it lacks a member."""
        return bool(self.among(frozenset((member,))))

    def among(self, members: frozenset[str]) -> frozenset[str]:
        """Return those of the members that it lacks."""
        new = (self._had & members | NOT_PUBLIC & members) - self._asked
        self._asked |= new
        for each in new:
            if last_release_with(self._facts, self._owner, each) is not None:
                self._gone.add(each)
        return members & self._gone


@lru_cache(maxsize=1024)
def _lacks(facts: TargetFacts, owner: Type) -> _Lacks:
    return _Lacks(facts, owner)
