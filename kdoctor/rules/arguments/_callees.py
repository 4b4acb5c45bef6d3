"""What a call in a glimpse of a source may be a call of: triggers for rules about arguments.

They ask what ``keras_calls`` asks, of less: a call of a method may be that of any class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, cached_property, lru_cache

from msgspec import Struct

from kdoctor import keras_api
from kdoctor.keras_api import EntryKind, Presence, Signature
from kdoctor.kinds import Kind
from kdoctor.once import once
from kdoctor.rules.arguments._calls import BASES, FAMILIES, RELEASES, is_known
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import Trigger, may_be_called_on, may_be_of
from kdoctor.syntax.glimpse import Called, Glimpse


class Callee(Struct, frozen=True, eq=False, dict=True):
    """A class, function or method of Keras: what ``KerasCall`` says of it, without the call.

    ``method``: it is called on an instance. ``made`` is the class, "" of anything else. Each is
    there once, as long as it is remembered, and no two are equal.
    """

    name: str
    kind: Kind | None
    new: Signature
    made: str = ""
    method: bool = False

    @cached_property
    def is_known(self) -> bool:
        """Whether the parameters are told."""
        return is_known(self.new)

    @cached_property
    def leaf(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @cached_property
    def takes(self) -> frozenset[str]:
        """The names of the parameters."""
        return frozenset(each.name for each in self.new.parameters)

    def olds(self, facts: Facts) -> tuple[Signature, ...]:
        """Return the signatures of earlier releases, newest first."""
        return _olds(self.name, facts)


def passes(
    speaks: Callable[[Facts, Callee, Called], bool], of: Callable[[Callee], object]
) -> Trigger:
    """There is a call, maybe of something of Keras of which ``speaks`` holds with that call.

    ``of`` says of what that can be; it is asked once for each thing of Keras. A method is of Keras
    where it may be called on an object whose methods ``keras_calls`` knows.
    """
    concerns = lru_cache(maxsize=4096)(of)
    return Trigger(
        lambda glimpse, facts: any(
            speaks(facts, callee, called)
            and (not callee.method or may_be_called_on(glimpse, facts, (called,), BASES))
            for callee, calls in _calls_by_callee(glimpse, facts)
            if concerns(callee)
            for called in calls
        )
    )


def may_make_a_layer(glimpse: Glimpse, facts: Facts, called: Called) -> bool:
    """Say whether a call may make a layer, be it of the user's own, or start one by its base."""
    found = (callee_of(name, facts) for name in called.names)
    return (
        any(each is not None and each.kind is Kind.LAYER for each in found)
        or may_be_of(glimpse, facts, [(called.node, called.node)], {Kind.LAYER})
        or (called.leaf == "__init__" and may_be_called_on(glimpse, facts, [called], {Kind.LAYER}))
    )


@once  # several rules ask it
def _calls_by_callee(glimpse: Glimpse, facts: Facts) -> Collection[tuple[Callee, Sequence[Called]]]:
    callees = _Callees(glimpse, facts)
    found: dict[Callee, list[Called]] = {}
    for called in glimpse.calls:
        if called.keywords or called.places:
            for callee in callees.of(called):
                found.setdefault(callee, []).append(called)
    return found.items()


class _Callees:
    """What the calls of a source may call, by the classes of Keras that it speaks of."""

    def __init__(self, glimpse: Glimpse, facts: Facts) -> None:
        found = (callee_of(name, facts) for name in glimpse.mentioned)
        self._classes = tuple({each.name: each for each in found if each and each.made}.values())
        self._facts = facts
        self._known: dict[tuple[frozenset[str], str], tuple[Callee, ...]] = {}

    def of(self, called: Called) -> tuple[Callee, ...]:
        """Return what a call may call."""
        names = called.names
        method = called.leaf if called.leaf in _all_methods() and called.is_attribute else ""
        if not names and not method:
            return ()  # as most calls are
        known = self._known.get((names, method))
        if known is None:
            found = (callee_of(name, self._facts) for name in names)
            known = (*(each for each in found if each is not None), *self._methods(method))
            self._known[names, method] = known
        return known

    def _methods(self, name: str) -> Iterable[Callee]:
        if name == "__init__":
            return self._classes
        if not name:
            return ()
        found = (_method(cls.name, name, self._facts) for cls in self._classes)
        return (*_methods(name, self._facts), *(each for each in found if each is not None))


@cache
def _all_methods() -> frozenset[str]:
    """Return the names by which code calls the methods of Keras' objects."""
    plain = (name for name in keras_api.ever_members() if not name.startswith("__"))
    return frozenset((*plain, "__init__"))


@lru_cache(maxsize=4096)
def _methods(leaf: str, facts: Facts) -> tuple[Callee, ...]:
    found = (_method(base, leaf, facts) for base in BASES.values())
    return tuple(each for each in found if each is not None)


@lru_cache(maxsize=2048)
def _method(cls: str, leaf: str, facts: Facts) -> Callee | None:
    new = facts.signature(f"{cls}.{leaf}")
    return None if new is None else Callee(f"{cls}.{leaf}", None, new, method=True)


@lru_cache(maxsize=2048)
def callee_of(name: str, facts: Facts) -> Callee | None:
    """Return what a dotted name is on the target, None where it is nothing that is called."""
    found = facts.lookup(name)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    if found.presence is not Presence.EXISTS or found.kind is None:
        return None
    new = facts.signature(found.qualified)
    if new is None:
        return None
    is_class = found.kind is EntryKind.CLASS
    return Callee(
        f"keras.{found.name}",
        FAMILIES.get(found.family) if is_class else None,
        new,
        made=found.home.rpartition(".")[2] if is_class else "",
    )


@lru_cache(maxsize=4096)
def _olds(name: str, facts: Facts) -> tuple[Signature, ...]:
    found = (facts.at_release(release).signature(name) for release in RELEASES)
    return tuple(each for each in found if each is not None)
