"""Queries for members of objects: read, or assigned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from kdoctor.analysis.dataflow.may_values import may_be_made_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import On, instances_of
from kdoctor.analysis.queries.made_of import MadeOf
from kdoctor.analysis.queries.matches import Read, Store
from kdoctor.analysis.queries.owners import classes_mentioned, with_merged
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.tested import is_tested, tests
from kdoctor.analysis.triggers import Trigger, changes_of, is_read, may_hold, member_of, reads_of
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type


def reads(
    *members: str, on: On, tested: bool = False, overridden: bool = False, guarded: bool = False
) -> Query[Read]:
    """Reads of members of such objects: ``model.backend``; if ``tested``, as a condition only.

    Not of those that the user's own class defines, or something assigns, unless ``overridden``; not
    in code that is guarded, unless ``guarded``.
    """
    owners = instances_of(on)
    kinds = {each.kind for each in owners}
    names = frozenset(members)

    def find(module: Module, facts: TargetFacts) -> Iterator[Read]:
        for use in module.members_named(*names):
            if not any(each.fits(use.owner) for each in owners):
                continue
            if use.owner_defines and not overridden:
                continue
            if tested and not is_tested(module, use.node):
                continue
            if guarded or not module.is_guarded(use.node):
                yield Read(module, facts, use)

    trigger = (reads_of if overridden else member_of)(kinds, *members)
    return Query(find, tests(*members) & trigger if tested else trigger)


def reads_where(
    where: Callable[[TargetFacts, Type, str], bool],
    *,
    on: Collection[Kind],
    among: Callable[[TargetFacts, Type], frozenset[str]],
    among_all: Callable[[TargetFacts], frozenset[str]],
) -> Query[Read]:
    """Reads of members of objects of these kinds, where ``where`` holds of an object and a member.

    It can hold for those ``among`` some alone: both are asked of an object by its type.
    ``among_all`` are those of any object. Not of members that the user's own class defines, or
    something assigns; not in code that is guarded.
    """
    kinds = frozenset(on)

    def find(module: Module, facts: TargetFacts) -> Iterator[Read]:
        for use in module.members_named(*among_all(facts)):
            if use.owner.kind not in kinds or use.owner_defines:
                continue
            if where(facts, use.owner, use.member) and not module.is_guarded(use.node):
                yield Read(module, facts, use)

    def may_be_one(facts: TargetFacts, owner: Type, member: str) -> bool:
        return owner.kind in kinds and member in among(facts, owner) and where(facts, owner, member)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked = quick.members & among_all(facts)  # as a rule a few
        suspects = {each for kind in kinds for each in asked & among(facts, Type(kind))}
        for owner in classes_mentioned(quick, facts) if asked else ():
            if owner.kind in kinds:
                told = asked & among(facts, owner)
                suspects |= {each for each in told if where(facts, owner, each)}
        return bool(suspects) and is_read(
            quick,
            facts,
            suspects,
            lambda member, types: any(
                may_be_one(facts, owner, member) for owner in with_merged(types)
            ),
        )

    return Query(find, Trigger(holds))


def stores(
    *members: str,
    on: On,
    overridden: bool = False,
    guarded: bool = False,
    made_of: MadeOf | None = None,
) -> Query[Store]:
    """Assignments to members of such objects, and deletions: ``layer.name = "a"``.

    To any member where none is named: then the gate asks with ``made_of``, of a file, whether what
    is assigned may be made of something of that sort. Not of those that the user's own class
    defines, unless ``overridden``; not in code that is guarded, unless ``guarded``.
    """
    owners = instances_of(on)
    kinds = {each.kind for each in owners}
    names = frozenset(members)

    def find(module: Module, facts: TargetFacts) -> Iterator[Store]:
        for store in module.member_stores:
            if names and store.member not in names:
                continue
            if not any(each.fits(store.owner) for each in owners):
                continue
            if store.owner_defines and not overridden:
                continue
            if guarded or not module.is_guarded(store.node):
                yield Store(module, facts, store)

    return Query(find, changes_of(kinds, *members) if members else _any_change_of(kinds, made_of))


def _any_change_of(kinds: Collection[Kind], made_of: MadeOf | None) -> Trigger:
    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        def speaks(possible: MayTypes) -> bool:
            changed = {
                each[0].attr
                for each in possible.writes(quick.stores)
                if any(found.kind in kinds for found in possible.owner(each))
            }
            if made_of is None or not changed:
                return bool(changed)
            table = possible.symbol_table
            bound = chain.from_iterable(table.stores.get(each, ()) for each in changed)
            values = [each.value for each in bound if each.value is not None]
            return may_be_made_of(quick, table, values, made_of(quick))

        return may_hold(quick, facts, speaks)

    return Trigger(holds)
