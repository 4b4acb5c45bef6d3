"""Which attributes in a glimpse of a source may be members that are gone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache

from kdoctor import keras_api
from kdoctor.keras_api.returns import CALLED, MEMBERS, RECEIVERS
from kdoctor.kinds import Kind, Type
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._advice import NOT_PUBLIC
from kdoctor.rules.members._owners import last_release_with
from kdoctor.rules.triggers import Trigger
from kdoctor.syntax.glimpse import Glimpse


def may_be_gone(kinds: Collection[Kind]) -> Trigger:
    """An attribute is read that something of such a kind had once and may lack."""
    wanted = frozenset(kinds)

    def holds(glimpse: Glimpse, facts: Facts) -> bool:
        asked = glimpse.members & (keras_api.ever_members() | NOT_PUBLIC)
        return any(
            _lacks(facts, owner).any_of(asked)
            for owner in dict.fromkeys(_owners(glimpse, facts))
            if owner.kind in wanted
        )

    return Trigger(holds)


def _owners(glimpse: Glimpse, facts: Facts) -> Iterator[Type]:
    """Yield the types that something in the source may be known to be of."""
    yield from _GENERAL
    known = keras_api.knowledge(facts.target)
    for name in glimpse.mentioned:
        made = known.class_type(name) or known.result_type(name)
        if made is not None:
            yield made if made.item is None else made.item


def _general() -> Iterator[Type]:
    for made in (*MEMBERS.values(), *CALLED.values(), *(kind for _, kind in RECEIVERS.values())):
        yield made if made.item is None else made.item


_GENERAL = tuple(dict.fromkeys((*_general(), *(Type(kind) for kind in Kind))))


class _Lacks:
    """The members that objects of one type lack, as far as somebody has asked."""

    def __init__(self, facts: Facts, owner: Type) -> None:
        self._facts = facts
        # As it is; the user's own subclass of it; and where some of it is not known.
        own = replace(owner, cls="") if owner.qualified is not None else owner
        forms = (owner, own, replace(owner, cls=None), replace(owner, qualified=None))
        self._forms = tuple(dict.fromkeys(forms))
        self._known: dict[str, bool] = {}

    def any_of(self, members: Collection[str]) -> bool:
        """Say whether it lacks one of them."""
        return any(self._lacks(each) for each in members)

    def _lacks(self, member: str) -> bool:
        if member not in self._known:
            self._known[member] = any(
                last_release_with(self._facts, form, member) is not None for form in self._forms
            )
        return self._known[member]


@lru_cache(maxsize=1024)
def _lacks(facts: Facts, owner: Type) -> _Lacks:
    return _Lacks(facts, owner)
