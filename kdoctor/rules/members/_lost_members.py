"""Which members objects had once, and lack on the target."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec

from kdoctor import keras_api
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api.returns import (
    CALLED,
    LIBRARY_FUNCTIONS,
    MEMBERS,
    RECEIVERS,
    RETURNS,
)
from kdoctor.rules.members._error_owner import last_release_with
from kdoctor.rules.members._removed_members import GONE
from kdoctor.value_types import Kind, Type

GONE_OF_CLASSES: Final = Path(__file__).with_name("gone_of_classes.json")
"""What objects lost by some Keras 3, by what their class is called (``tools/gone_members.py``)."""
_NAMES: Final = msgspec.json.Decoder(list[str])


@lru_cache(maxsize=16_384)
def is_lost(facts: TargetFacts, owner: Type, member: str) -> bool:
    """Say whether objects of a type had a member once, and lack it on the target."""
    return last_release_with(facts, owner, member) is not None


@lru_cache(maxsize=4096)
def may_be_lost(facts: TargetFacts, owner: Type) -> frozenset[str]:
    """Return the members that objects of a type may lack, and more."""
    of_kind = GONE.get(owner.kind, frozenset())
    if facts.runs_keras_3("keras") and facts.runs_keras_3("tf.keras"):
        return of_kind | _lost_by_class(called(owner))
    return of_kind | keras_api.members_once(owner)


@lru_cache(maxsize=8)
def may_be_lost_by_some(facts: TargetFacts) -> frozenset[str]:
    """Return the members that objects of some type may lack, and more."""
    of_kinds = frozenset().union(*GONE.values())
    if facts.runs_keras_3("keras") and facts.runs_keras_3("tf.keras"):
        return of_kinds.union(*map(_NAMES.decode, _gone_of_classes().values()))
    return of_kinds | keras_api.ever_members()


def called(owner: Type) -> str:
    """Return what the class of an object is called."""
    return (owner.qualified or owner.cls or "").rpartition(".")[2]


@lru_cache(maxsize=1024)
def _lost_by_class(name: str) -> frozenset[str]:
    lost = _gone_of_classes().get(name)
    return frozenset() if lost is None else frozenset(map(sys.intern, _NAMES.decode(lost)))


@cache
def _gone_of_classes() -> Mapping[str, msgspec.Raw]:
    return msgspec.json.decode(GONE_OF_CLASSES.read_bytes(), type=dict[str, msgspec.Raw])


def _general() -> Iterator[Type]:
    yield from (Type(kind) for kind in Kind)
    for made in (
        *(*MEMBERS.values(), *CALLED.values(), *RETURNS.values(), *LIBRARY_FUNCTIONS.values()),
        *(kind for _, kind in RECEIVERS.values()),
    ):
        yield made if made.item is None else made.item


GENERAL: Final = tuple(dict.fromkeys(_general()))
"""The types of what is not known by its class: a function or an attribute gave it."""
