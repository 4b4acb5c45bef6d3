"""Queries for calls: of a method of an object, of a class, of a function of Keras."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.calls import instances, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import Given
from kdoctor.analysis.queries.matches import Argument, Call, Where
from kdoctor.analysis.queries.passing import (
    Passing,
    PassingAll,
    PassingSome,
    TakenApart,
    Within,
)
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import (
    Trigger,
    calls_that_make,
    may_be_called_on,
    may_hold,
)
from kdoctor.keras_api import split_root
from kdoctor.keras_api.class_aliases import names_of_class
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
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


class _Callee(Struct, frozen=True):
    """What is called: how the exact tree tells it, and how Python's own."""

    find: Callable[[Module, TargetFacts], Iterator[Call]]
    may_call: Callable[[QuickFacts, TargetFacts], Iterable[QuickCall]] | None  # None: any call
    # Asked last, of the calls that all else fits: it looks through the file for types.
    confirms: Callable[[QuickFacts, TargetFacts, list[QuickCall]], bool]
    words: frozenset[str]
    # Asked last, too: who is called, where telling that takes longest.
    settle: Callable[[Call], Call | None] = lambda call: call


class _Call(Struct, frozen=True):
    """The parts of a call query."""

    callee: _Callee
    passing: tuple[Passing | PassingSome | PassingAll | TakenApart | Within, ...] = ()
    lacking: tuple[tuple[str, int | None], ...] = ()
    symbolic: bool = False
    hidden: bool = False
    guarded: bool = False

    def find(self, module: Module, facts: TargetFacts) -> Iterator[Call]:
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

    def may_find(self, quick: QuickFacts, facts: TargetFacts) -> list[QuickCall]:
        found = self._may_call(quick, facts)
        for one in self.passing:
            found = [each for each in found if one.may_hold(quick, each)]
        for lacked in self.lacking:  # what stands behind `*args` may be any parameter's
            found = [each for each in found if each.starred or each.argument(*lacked) is None]
        return [each for each in found if self.hidden or not each.is_hidden]

    def _may_call(self, quick: QuickFacts, facts: TargetFacts) -> Iterable[QuickCall]:
        if self.callee.may_call is not None:
            return self.callee.may_call(quick, facts)
        keywords = next((each.keywords for each in self.passing if each.keywords), ())
        found = dict.fromkeys(chain.from_iterable(map(quick.calls_with, keywords)))
        return found if keywords else quick.calls

    def trigger(self) -> Trigger:
        def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
            asked = self.may_find(quick, facts)
            if self.symbolic:
                asked = [each for each in asked if may_get_a_tensor(quick, facts, each)]
            return bool(asked) and self.callee.confirms(quick, facts, asked)

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

    def __init__(self, parts: _Call) -> None:
        super().__init__(parts.find, parts.trigger())
        self._parts = parts

    def may_find(self, quick: QuickFacts, facts: TargetFacts) -> list[QuickCall]:
        """Return the calls of a glimpse that may be such; what is called is not inferred."""
        return self._parts.may_find(quick, facts)

    def passing(
        self, *names: str, place: int | None = None, where: Where | None = None
    ) -> CallQuery:
        """Return the query for calls that pass one of these arguments.

        ``place`` is that of a single name by position, from 0. ``where`` is asked of the form of
        what is passed, for a name with one value of that value.
        """
        parameters = tuple((name, place) for name in names)
        return self.passing_one_of(parameters, where=where)

    def passing_one_of(
        self, parameters: Iterable[tuple[str, int | None]], *, where: Where | None = None
    ) -> CallQuery:
        """Return the query for calls that pass one of these, each a keyword with its place."""
        added = Passing(tuple(parameters), where)
        return CallQuery(replace(self._parts, passing=(*self._parts.passing, added)))

    def without(self, name: str, place: int | None = None) -> CallQuery:
        """Return the query for calls that do not pass this argument."""
        return CallQuery(replace(self._parts, lacking=(*self._parts.lacking, (name, place))))

    def where(self, holds: Callable[[Given], bool]) -> CallQuery:
        """Return the query for calls of which this holds, asked of all that they pass."""
        return CallQuery(replace(self._parts, passing=(*self._parts.passing, PassingAll(holds))))

    def passing_symbolic(self) -> CallQuery:
        """Return the query for calls that pass a symbolic tensor, or a list with one."""
        return CallQuery(replace(self._parts, symbolic=True))

    def taken_apart(self) -> CallQuery:
        """Return the query for calls whose result is unpacked, or of which an element is read."""
        return CallQuery(replace(self._parts, passing=(*self._parts.passing, TakenApart())))

    def within(self, *methods: str) -> CallQuery:
        """Return the query for calls in methods of these names, of whatever class."""
        return CallQuery(replace(self._parts, passing=(*self._parts.passing, Within(methods))))

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
        calls_passing = CallQuery(replace(self._parts, passing=(*self._parts.passing, passing)))

        def find(module: Module, facts: TargetFacts) -> Iterator[Argument]:
            for each in calls_passing.find(module, facts):
                for given in passing.found(each):
                    yield Argument(each, given.keyword.value if given.keyword else "", given)

        return Query(find, calls_passing.trigger)


def calls(*methods: str, on: On, overridden: bool = False) -> CallQuery:
    """Calls of methods of such objects: ``model.fit(…)``.

    Not of those that the user's own class defines, or something assigns, unless ``overridden``.
    """
    owners = instances_of(on)
    kinds: Final = {each.kind for each in owners}
    names = frozenset(methods)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for use in module.members:
            if use.called is None or use.member not in names:
                continue
            if not any(each.fits(use.owner) for each in owners):
                continue
            if overridden or not use.owner_defines:
                yield Call(module, facts, use.called, use=use)

    return CallQuery(
        _Call(
            _Callee(
                find,
                _attribute_calls(methods),
                lambda quick, facts, asked: may_be_called_on(quick, facts, asked, kinds),
                names,
            )
        )
    )


def constructs(*made: Kind | Instance) -> CallQuery:
    """Calls that create such objects of Keras 3: ``keras.optimizers.Adam(…)``."""
    wanted = instances_of(made)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for kind in dict.fromkeys(each.kind for each in wanted):
            for reference, call, found in instances(module, kind, facts):
                if any(each.fits(found) for each in wanted):
                    yield Call(module, facts, call, reference=reference, made=found)

    return CallQuery(
        _Call(
            _Callee(
                find,
                lambda quick, facts: (
                    called
                    for each in wanted
                    for _, called in calls_that_make(quick, facts, each.kind, each.cls or None)
                ),
                _always,
                _names_of_classes(wanted),
            )
        )
    )


def functions(*names: str, within: str = "") -> CallQuery:
    """Calls of functions of Keras 3, named without their root: ``utils.get_file``.

    Or of all that is in the module ``within``.
    """
    wanted = frozenset(names)
    words = {name.rpartition(".")[2] for name in (*names, within) if name}

    def is_one(facts: TargetFacts, name: str) -> bool:
        split = split_root(name)
        if split is None or not facts.runs_keras_3(split[0]):
            return False
        return split[1] in wanted or bool(within and split[1].startswith(f"{within}."))

    return imported_calls(is_one, *words)


def imported(*names: str) -> CallQuery:
    """Calls of what has one of these dotted names, of whatever package: ``numpy.array``."""
    wanted = frozenset(names)
    return imported_calls(
        lambda _, name: name in wanted, *(name.rpartition(".")[2] for name in names)
    )


def imported_calls(where: Callable[[TargetFacts, str], bool], *last_names: str) -> CallQuery:
    """Calls of what has a dotted name of which ``where`` holds, of whatever package.

    ``last_names`` are the last parts that such names can have, none where they can be any.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.references:
            if each.call is not None and where(facts, each.name):
                yield Call(module, facts, each.call, reference=each)

    return CallQuery(
        _Call(
            _Callee(
                find,
                lambda quick, facts: chain.from_iterable(
                    found for name, found in quick.calls_by_meaning.items() if where(facts, name)
                ),
                _always,
                frozenset(last_names),
            )
        )
    )


def calls_of(where: Callable[[TargetFacts, str, Collection[str]], bool]) -> CallQuery:
    """Calls of imported things; ``where`` is asked of their dotted name and the keywords."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.references:
            if each.call is None:
                continue
            keywords = {given.keyword.value for given in each.call.args if given.keyword}
            if where(facts, each.name, keywords):
                yield Call(module, facts, each.call, reference=each)

    return CallQuery(
        _Call(
            _Callee(
                find,
                lambda quick, facts: (
                    each
                    for name, found in quick.calls_by_meaning.items()
                    for each in found
                    if where(facts, name, each.keywords)
                ),
                _always,
                frozenset(),
            )
        )
    )


def called(*methods: str) -> CallQuery:
    """Calls of methods of these names, of whatever: what a model is, nobody may know.

    A function of a module is no method: ``re.compile``.
    """
    names = frozenset(methods)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.nodes(cst.Call):
            if isinstance(each.func, cst.Attribute) and each.func.attr.value in names:
                yield Call(module, facts, each)

    def may_call(quick: QuickFacts, facts: TargetFacts) -> Iterator[QuickCall]:
        for each in _attribute_calls(methods)(quick, facts):
            if not any(name.rpartition(".")[0] in quick.modules for name in each.names):
                yield each

    return CallQuery(_Call(_Callee(find, may_call, _always, names)))


def builtins(*names: str) -> CallQuery:
    """Calls of what is called so, by a name alone: ``hasattr(…)``."""
    wanted = frozenset(names)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.nodes(cst.Call):
            if isinstance(each.func, cst.Name) and each.func.value in wanted:
                yield Call(module, facts, each)

    def may_call(quick: QuickFacts, _: TargetFacts) -> Iterator[QuickCall]:
        return chain.from_iterable(quick.calls_by_leaf.get(name, ()) for name in names)

    return CallQuery(_Call(_Callee(find, may_call, _always, wanted)))


def applications(on: On) -> CallQuery:
    """Calls of such objects themselves: ``layer(x)``."""
    owners = instances_of(on)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        return (Call(module, facts, each) for each in module.nodes(cst.Call))

    def settle(call: Call) -> Call | None:
        found = call.module.type_of(call.node.func)
        if found is None or not any(one.fits(found) for one in owners):
            return None
        return Call(call.module, call.facts, call.node, applied=found)

    def may_apply(asked: list[QuickCall], possible: MayTypes) -> bool:
        types = (possible.types_in(each.node, each.node.func) for each in asked)
        return any(one.fits(each) for each in chain.from_iterable(types) for one in owners)

    return CallQuery(
        _Call(
            _Callee(
                find,
                None,
                lambda quick, facts, asked: may_hold(quick, facts, partial(may_apply, asked)),
                frozenset(),
                settle,
            )
        )
    )


def _attribute_calls(
    methods: Collection[str],
) -> Callable[[QuickFacts, TargetFacts], Iterable[QuickCall]]:
    return lambda quick, _: (
        each for name in methods for each in quick.calls_by_leaf.get(name, ()) if each.is_attribute
    )


def _names_of_classes(made: Iterable[Instance]) -> frozenset[str]:
    """Return the names of which each call has one, none where it can be of any class."""
    classes = [each.cls for each in made]
    return frozenset(chain.from_iterable(map(names_of_class, classes)) if all(classes) else ())


def _always(_quick: QuickFacts, _facts: TargetFacts, _asked: list[QuickCall]) -> bool:
    return True
