"""Queries for calls: of a method of an object, of a class, of an object itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import instances
from kdoctor.analysis.dataflow.list_elements import may_be_in_lists, type_in_list
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import (
    Callee,
    CallParts,
    CallQuery,
    Instance,
    On,
    always,
    instances_of,
)
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.triggers import (
    called_on,
    calls_that_make,
    that_may,
)
from kdoctor.keras_api.class_aliases import names_of_class
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind


def calls(*methods: str, on: On, overridden: bool = False) -> CallQuery:
    """Calls of methods of such objects: ``model.fit(…)``.

    Not of those that the user's own class defines, or something assigns, unless ``overridden``.
    """
    owners = instances_of(on)
    kinds: Final = {each.kind for each in owners}
    names = frozenset(methods)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for use in module.members_named(*names):
            if use.called is None:
                continue
            if not any(each.fits(use.owner) for each in owners):
                continue
            if overridden or not use.owner_defines:
                yield Call(module, facts, use.called, use=use)

    return CallQuery(
        CallParts(
            Callee(
                find,
                _attribute_calls(methods),
                lambda quick, facts, asked: called_on(quick, facts, asked, kinds),
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
        CallParts(
            Callee(
                find,
                lambda quick, facts: (
                    called
                    for each in wanted
                    for _, called in calls_that_make(quick, facts, each.kind, each.cls or None)
                ),
                always,
                _names_of_classes(wanted),
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

    return CallQuery(CallParts(Callee(find, may_call, always, names)))


def any_calls() -> CallQuery:
    """All calls, of whatever."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        return (Call(module, facts, each) for each in module.nodes(cst.Call))

    return CallQuery(CallParts(Callee(find, None, always, frozenset())))


def calls_found(
    find: Callable[[Module, TargetFacts], Iterator[Call]],
    may_call: Callable[[QuickFacts, TargetFacts], Iterable[QuickCall]],
    *words: str,
) -> CallQuery:
    """Calls that ``find`` yields, ``may_call`` of a glimpse; one of the words is written there."""
    return CallQuery(CallParts(Callee(find, may_call, always, frozenset(words))))


def builtins(*names: str) -> CallQuery:
    """Calls of what is called so, by a name alone: ``hasattr(…)``."""
    wanted = frozenset(names)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.nodes(cst.Call):
            if isinstance(each.func, cst.Name) and each.func.value in wanted:
                yield Call(module, facts, each)

    def may_call(quick: QuickFacts, _: TargetFacts) -> Iterator[QuickCall]:
        return chain.from_iterable(quick.calls_by_leaf.get(name, ()) for name in names)

    return CallQuery(CallParts(Callee(find, may_call, always, wanted)))


def applications(on: On, *, in_lists: bool = False) -> CallQuery:
    """Calls of such objects themselves: ``layer(x)``.

    If ``in_lists``, of elements of a list of them, too: ``self.blocks[0](x)``.
    """
    owners = instances_of(on)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        return (Call(module, facts, each) for each in module.nodes(cst.Call))

    def settle(call: Call) -> Call | None:
        found = call.module.type_of(call.node.func)
        if found is None and in_lists:
            found = type_in_list(call.module, call.node.func)
        if found is None or not any(one.fits(found) for one in owners):
            return None
        return Call(call.module, call.facts, call.node, applied=found)

    def confirmed(
        quick: QuickFacts, facts: TargetFacts, asked: Sequence[QuickCall]
    ) -> Iterator[QuickCall]:
        if in_lists:
            yield from may_be_in_lists(quick, asked)
        yield from that_may(quick, facts, asked, may_be_one)

    def may_be_one(possible: MayTypes, called: QuickCall) -> bool:
        found = possible.types_in(called.node, called.node.func)
        return any(one.fits(each) for each in found for one in owners)

    return CallQuery(CallParts(Callee(find, None, confirmed, frozenset(), settle, _of_objects)))


def _of_objects(
    quick: QuickFacts, facts: TargetFacts, asked: Iterable[QuickCall]
) -> Iterable[QuickCall]:
    """Return the calls of what may be an object, judged by its name."""
    asked = list(asked)
    if not asked:  # as in many files: their symbol table is not made for it
        return asked
    return that_may(quick, facts, asked, lambda may, each: may.may_be_object(each.node.func))


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
