"""What a query for calls is made of: which calls, and what is asked of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.calls import is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import Given
from kdoctor.analysis.queries.matches import Argument, Call, Where
from kdoctor.analysis.queries.passing import (
    Passing,
    PassingAll,
    PassingBeyond,
    PassingSome,
    TakenApart,
    Within,
)
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import (
    Trigger,
)
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind, Type


class Instance(Struct, frozen=True):
    """An object of a kind; with ``cls``, of that class of Keras itself."""

    kind: Kind
    cls: str = ""

    def fits(self, found: Type) -> bool:
        """Say whether an object of that type is one."""
        return found.kind is self.kind and self.cls in ("", found.cls)


On = Kind | Instance | Collection["Kind | Instance"]


def instances_of(on: On) -> tuple[Instance, ...]:
    """Return what ``on=`` of a query stands for."""
    if isinstance(on, Kind):
        return (Instance(on),)
    if isinstance(on, Instance):
        return (on,)
    return tuple(chain.from_iterable(map(instances_of, on)))


_Narrowed = Callable[[QuickFacts, TargetFacts, Iterable[QuickCall]], Iterable[QuickCall]]


class Callee(Struct, frozen=True):
    """What is called: how the exact tree tells it, and how Python's own."""

    find: Callable[[Module, TargetFacts], Iterator[Call]]
    # None: any call that passes what is asked for, ``narrowed`` to those of what it may be.
    may_call: Callable[[QuickFacts, TargetFacts], Iterable[QuickCall]] | None
    # Asked late, of the calls that all else fits: it looks through the file for types.
    confirmed: Callable[[QuickFacts, TargetFacts, Sequence[QuickCall]], Iterable[QuickCall]]
    words: frozenset[str]
    # Asked last, too: who is called, where telling that takes longest.
    settle: Callable[[Call], Call | None] = lambda call: call
    narrowed: _Narrowed = lambda _quick, _facts, found: found


_Asked = Passing | PassingAll | PassingBeyond | PassingSome | TakenApart | Within


class CallParts(Struct, frozen=True):
    """The parts of a call query."""

    callee: Callee
    passing: tuple[_Asked, ...] = ()
    lacking: tuple[tuple[str, int | None], ...] = ()
    symbolic: bool = False
    hidden: bool = False
    guarded: bool = False

    def find(self, module: Module, facts: TargetFacts) -> Iterator[Call]:
        """Yield the calls of a module."""
        for each in self.callee.find(module, facts):
            if not self.hidden and is_hidden(each.node):
                continue
            if any(each.argument(*one) is not None for one in self.lacking):
                continue
            if not all(one.holds(each) for one in self.passing):
                continue
            if self.symbolic and not any(holds_symbolic(module, e.value) for e in each.node.args):
                continue
            if self.guarded or not module.is_guarded(each.node):
                found = self.callee.settle(each)
                if found is not None:
                    yield found

    def may_find(
        self, quick: QuickFacts, facts: TargetFacts, *, followed: bool = True
    ) -> list[QuickCall]:
        """Return the calls of a file that may be such, by Python's own tree.

        ``followed``: what is passed by a name is followed where the query says so.
        """
        found = self._may_call(quick, facts)
        for one in self.passing:
            asks = one.may_be_passed if one.followed and not followed else one.may_hold
            found = [each for each in found if asks(quick, each)]
        for lacked in self.lacking:  # what stands behind `*args` may be any parameter's
            found = [each for each in found if each.starred or each.argument(*lacked) is None]
        return [each for each in found if self.hidden or not each.is_hidden]

    def _may_call(self, quick: QuickFacts, facts: TargetFacts) -> Iterable[QuickCall]:
        if self.callee.may_call is not None:
            return self.callee.may_call(quick, facts)
        passing = (one.calls(quick) for one in self.passing)
        found = next((each for each in passing if each is not None), quick.calls)
        return self.callee.narrowed(quick, facts, found)

    def trigger(self) -> Trigger:
        """Return the question whether a file may have one."""
        followed = [one for one in self.passing if one.followed]

        def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
            asked = self.may_find(quick, facts, followed=False)
            if self.symbolic:
                asked = [each for each in asked if may_get_a_tensor(quick, facts, each)]
            return bool(asked) and any(
                all(one.may_hold(quick, each) for one in followed)
                for each in self.callee.confirmed(quick, facts, asked)
            )

        found = Trigger(holds)
        if self.callee.words:
            found = Trigger.needing(self.callee.words, holds)
        for one in self.passing:
            if one.keywords:
                found = Trigger.among("keywords", one.keywords) & found
        return found


class CallQuery(Query[Call]):
    """A query for calls. The calls that ``*args`` or ``**kwargs`` hide, or that are guarded, are
    passed over, unless ``even(hidden=…, guarded=…)`` says otherwise.
    """  # noqa: D205 - two sentences

    def __init__(self, parts: CallParts) -> None:
        super().__init__(parts.find, parts.trigger())
        self._parts = parts

    def may_find(self, quick: QuickFacts, facts: TargetFacts) -> list[QuickCall]:
        """Return the calls of a glimpse that may be such; what is called is not inferred."""
        return self._parts.may_find(quick, facts)

    def _asking(self, added: _Asked) -> CallQuery:
        return CallQuery(replace(self._parts, passing=(*self._parts.passing, added)))

    def passing(
        self,
        *names: str,
        place: int | None = None,
        where: Where | None = None,
        followed: bool = False,
    ) -> CallQuery:
        """Return the query for calls that pass one of these arguments.

        ``place`` is that of a single name by position, from 0. ``where`` is asked of the form of
        what is passed, for a name with one value of that value. If ``followed``, any name is let
        through, and the gate asks what loops and callers may have put there.
        """
        parameters = tuple((name, place) for name in names)
        return self._asking(Passing(parameters, where, followed))

    def passing_one_of(
        self, parameters: Iterable[tuple[str, int | None]], *, where: Where | None = None
    ) -> CallQuery:
        """Return the query for calls that pass one of these, each a keyword with its place."""
        return self._asking(Passing(tuple(parameters), where))

    def passing_beyond(self, place: int, *, where: Where) -> CallQuery:
        """Return the query for calls that pass such a form by position, from a place on, from 0.

        Any name is let through, as with ``followed``.
        """
        return self._asking(PassingBeyond(place, where))

    def without(self, name: str, place: int | None = None) -> CallQuery:
        """Return the query for calls that do not pass this argument."""
        return CallQuery(replace(self._parts, lacking=(*self._parts.lacking, (name, place))))

    def where(self, holds: Callable[[Given], bool]) -> CallQuery:
        """Return the query for calls of which this holds, asked of all that they pass."""
        return self._asking(PassingAll(holds))

    def passing_symbolic(self) -> CallQuery:
        """Return the query for calls that pass a symbolic tensor, or a list with one."""
        return CallQuery(replace(self._parts, symbolic=True))

    def taken_apart(self) -> CallQuery:
        """Return the query for calls whose result is unpacked, or of which an element is read."""
        return self._asking(TakenApart())

    def within(self, *methods: str) -> CallQuery:
        """Return the query for calls in methods of these names, of whatever class."""
        return self._asking(Within(methods))

    def even(self, *, hidden: bool = False, guarded: bool = False) -> CallQuery:
        """Return the query that yields hidden or guarded calls, too."""
        return CallQuery(replace(self._parts, hidden=hidden, guarded=guarded))

    def argument(
        self, name: str, place: int | None = None, *, where: Where | None = None
    ) -> Query[Argument]:
        """Return the query for this argument of the calls."""
        calls_passing = self.passing(name, place=place, where=where)

        def find(module: Module, facts: TargetFacts) -> Iterator[Argument]:
            for each in calls_passing.find(module, facts):
                given = each.argument(name, place)
                if given is not None:
                    yield Argument(each, name, given)

        return Query(find, calls_passing.trigger)

    def arguments(self, *keywords: str, where: Where) -> Query[Argument]:
        """Return the query for all arguments of the calls of whose form ``where`` holds.

        With ``keywords`` only for those that are passed by one of these.
        """
        passing = PassingSome(frozenset(keywords), where)
        calls_passing = self._asking(passing)

        def find(module: Module, facts: TargetFacts) -> Iterator[Argument]:
            for each in calls_passing.find(module, facts):
                for given in passing.found(each):
                    yield Argument(each, given.keyword.value if given.keyword else "", given)

        return Query(find, calls_passing.trigger)


def always(
    _quick: QuickFacts, _facts: TargetFacts, asked: Sequence[QuickCall]
) -> Sequence[QuickCall]:
    """Confirm all calls, for a callee that its name tells."""
    return asked
