"""Triggers: what a source must contain for a rule to fire, checked before parsing.

A plain set of identifiers is a trigger, too: one of them is enough. The constructors below make
sharper ones, ``&`` and ``|`` join them:

    triggers=attribute("input") & word("Sequential")
    triggers=keyword("decay")
    triggers=names(lambda facts, dotted: facts.lookup(dotted).presence is Presence.MISSING)

A trigger must hold wherever the rule could find anything, and may hold elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from kdoctor import keras_api
from kdoctor.analysis.class_glimpses import bases_meant, methods_of
from kdoctor.memoize import once

if TYPE_CHECKING:
    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
    from kdoctor.syntax.symbol_table import Condition, Loop, Namespace, Place
    from kdoctor.syntax.type_sets import Types
    from kdoctor.value_types import Kind, Type

    Holds = Callable[[QuickFacts, TargetFacts], bool]
else:
    Holds = Callable

# An attribute of ``QuickFacts`` (``words``, ``keywords``, …), and identifiers of which it has one.
Need = tuple[str, frozenset[str]]

_T = TypeVar("_T")

_CACHE_SIZE = 4_000  # names; memory must not grow with the tree
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Trigger(Struct, frozen=True):
    """A condition on a source's quick facts. ``words`` are identifiers it requires.

    ``needs`` are sets of identifiers, each with the attribute of a glimpse that has one of the set
    wherever it holds. ``is_costly``: where types are followed into other files, these are
    asked for it, so that it is asked last.
    """

    holds: Holds
    words: frozenset[str] = frozenset()
    needs: frozenset[Need] = frozenset()
    is_costly: bool = False

    @classmethod
    def needing(cls, words: Collection[str], holds: Holds, where: str = "words") -> Trigger:
        """Return a trigger that holds only where one of the words is written."""
        wanted = frozenset(words)
        return cls(holds, wanted, frozenset({(where, wanted)}))

    @classmethod
    def among(cls, where: str, words: Collection[str]) -> Trigger:
        """Return a trigger that holds where an attribute of a glimpse has one of the words."""
        wanted = frozenset(words)
        return cls.needing(
            wanted, lambda quick, _: not wanted.isdisjoint(getattr(quick, where)), where
        )

    def __and__(self, other: Trigger) -> Trigger:
        """Return a trigger for sources in which both hold."""

        def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
            if self.is_costly and quick.asks_other_files:
                return other.holds(quick, facts) and self.holds(quick, facts)
            return self.holds(quick, facts) and other.holds(quick, facts)

        words, needs = self.words | other.words, self.needs | other.needs
        return Trigger(holds, words, needs, self.is_costly or other.is_costly)

    def __or__(self, other: Trigger) -> Trigger:
        """Return a trigger for sources in which one of both holds."""
        return Trigger(
            lambda quick, facts: self.holds(quick, facts) or other.holds(quick, facts),
            self.words | other.words,
            frozenset(_either(one, another) for one in self.needs for another in other.needs),
            self.is_costly or other.is_costly,
        )


def _either(one: Need, other: Need) -> Need:
    (where, words), (elsewhere, more) = one, other
    return (where if where == elsewhere else "words"), words | more


def trigger_of(triggers: Collection[str] | Trigger) -> Trigger:
    """Return a rule's triggers as one; without any word it always holds."""
    if isinstance(triggers, Trigger):
        return triggers
    return word(*triggers) if triggers else Trigger(lambda _quick, _facts: True)


def word(*words: str) -> Trigger:
    """One of these identifiers occurs, in any role, also in a string."""
    return Trigger.among("words", words)


def attribute(*words: str) -> Trigger:
    """An attribute with one of these names is read, called or assigned."""
    return Trigger.among("attributes", words)


def member(*words: str) -> Trigger:
    """Such an attribute is read from what may be an object, not only a module."""
    return Trigger.among("members", words)


def member_of(kinds: Collection[Kind], *words: str) -> Trigger:
    """Such an attribute is read from what may be an object of one of these kinds.

    Not where the source assigns it, too: for rules that heed ``MemberUse.owner_defines``.
    """
    wanted, owners = frozenset(words), frozenset(kinds)
    return Trigger.needing(
        wanted,
        lambda quick, facts: is_read(
            quick, facts, wanted, lambda _, types: _has_kind(types, owners)
        ),
        "members",
    )


def changes_of(kinds: Collection[Kind], *words: str) -> Trigger:
    """Such an attribute of an object of one of these kinds may be assigned."""
    return assigned(*words) & _with_owner(kinds, words, lambda possible: possible.writes(words))


def reads_of(kinds: Collection[Kind], *words: str) -> Trigger:
    """Such an attribute is read, even if the file also assigns it."""
    return member(*words) & _with_owner(kinds, words, lambda possible: possible.reads(words))


def _with_owner(
    kinds: Collection[Kind],
    words: Collection[str],
    places: Callable[[MayTypes], Iterable[Place]],
) -> Trigger:
    """What may be an object of one of these kinds is at one of the places."""
    owners = frozenset(kinds)

    def holds(possible: MayTypes) -> bool:
        return any(_has_kind(possible.owner(each), owners) for each in places(possible))

    return Trigger.needing(words, lambda quick, facts: may_hold(quick, facts, holds))


def is_read(
    quick: QuickFacts,
    facts: TargetFacts,
    members: Collection[str],
    speaks: Callable[[str, Types], bool],
) -> bool:
    """Say whether a member that nothing here assigns is read of what may have such types."""
    asked = quick.members.intersection(members)
    return bool(asked) and may_hold(
        quick,
        facts,
        lambda possible: any(
            speaks(each[0].attr, possible.owner(each))
            for each in possible.reads(asked)
            if not possible.is_assigned(each)
        ),
    )


def may_be_called_on(
    quick: QuickFacts, facts: TargetFacts, asked: Iterable[QuickCall], kinds: Iterable[Kind]
) -> bool:
    """Say whether one of the calls may be of a method of an object of one of these kinds."""
    return next(called_on(quick, facts, asked, kinds), None) is not None


def called_on(
    quick: QuickFacts, facts: TargetFacts, asked: Iterable[QuickCall], kinds: Iterable[Kind]
) -> Iterator[QuickCall]:
    """Yield the calls that may be of a method of an object of one of these kinds."""
    owners = frozenset(kinds)

    def is_on_one(possible: MayTypes, called: QuickCall) -> bool:
        function = called.node.func
        assert isinstance(function, ast.Attribute)
        asked_of = [function.value]
        if called.is_of_named_base:  # what it makes counts, too
            asked_of.append(ast.Call(function.value, [], []))
        return any(_has_kind(possible.types_in(called.node, each), owners) for each in asked_of)

    methods = [each for each in asked if each.is_attribute]
    if methods:
        yield from that_may(quick, facts, methods, is_on_one)


def calls_that_make(
    quick: QuickFacts, facts: TargetFacts, kind: Kind | None = None, cls: str | None = None
) -> Iterator[tuple[Type, QuickCall]]:
    """Yield the calls of Keras' own classes, each with what it makes: all, or those of one kind."""
    for made, calls in _calls_of_classes(quick, facts).get(kind, ()):
        if cls in (None, made.cls):
            yield from ((made, called) for called in calls)


@once  # many rules ask it
def _calls_of_classes(
    quick: QuickFacts, facts: TargetFacts
) -> dict[Kind | None, list[tuple[Type, list[QuickCall]]]]:
    """Return the calls of each class, by the kind of it, and all by None."""
    known = keras_api.oracle(facts.target)
    found: dict[Kind | None, list[tuple[Type, list[QuickCall]]]] = {None: []}
    for name, calls in quick.calls_by_meaning.items():
        made = known.class_type(name)
        if made is not None:
            found[None].append((made, calls))
            found.setdefault(made.kind, []).append((made, calls))
    return found


def may_be_of(
    quick: QuickFacts,
    facts: TargetFacts,
    asked: Iterable[tuple[ast.Call | Condition | Loop, ast.expr]],
    kinds: Iterable[Kind],
) -> bool:
    """Say whether one of the expressions may be an object of one of these kinds.

    Each is given with the call, condition or loop that it stands in.
    """
    owners = frozenset(kinds)
    return may_hold(
        quick,
        facts,
        lambda possible: any(_has_kind(possible.types_in(*each), owners) for each in asked),
    )


def may_have_kind(
    possible: MayTypes, node: ast.expr, space: Namespace, kinds: Collection[Kind]
) -> bool:
    """Say whether an expression may be an object of one of these kinds."""
    return _has_kind(possible.types_of(node, space), kinds)


def _has_kind(types: Types, kinds: Collection[Kind]) -> bool:
    return any(each.kind in kinds for each in types)


def may_hold(quick: QuickFacts, facts: TargetFacts, holds: Callable[[MayTypes], bool]) -> bool:
    """Say whether something holds of what the expressions of a source may be."""
    try:
        return holds(quick.possible(keras_api.oracle(facts.target)))
    except RecursionError:
        return True  # too deep to tell


def that_may(
    quick: QuickFacts,
    facts: TargetFacts,
    asked: Iterable[_T],
    holds: Callable[[MayTypes, _T], bool],
) -> Iterator[_T]:
    """Yield those of which something holds, by what the expressions of a source may be."""
    possible = quick.possible(keras_api.oracle(facts.target))
    for each in asked:
        try:
            is_one = holds(possible, each)
        except RecursionError:
            is_one = True  # too deep to tell
        if is_one:
            yield each


def assigned(*words: str) -> Trigger:
    """An attribute of one of these names is assigned to, or deleted: ``layer.output = x``."""
    return Trigger.among("stores", words)


def chained_call() -> Trigger:
    """What a call gave is called: ``layer(…)(x)``."""
    return Trigger(lambda quick, _: quick.applies)


def keyword(*words: str) -> Trigger:
    """A call passes a keyword of one of these names: ``Adam(decay=0.1)``."""
    return Trigger.among("keywords", words)


def from_other_files(*kinds: Kind) -> Trigger:
    """Another file of the project may pass, return or keep an object of one of these kinds here."""
    wanted = frozenset(kinds)
    return Trigger(
        lambda quick, facts: may_hold(
            quick, facts, lambda possible: possible.gets_from_other_files(wanted)
        ),
        is_costly=True,
    )


def names(speaks: Callable[[TargetFacts, str], bool]) -> Trigger:
    """Something is imported, or read through an import, of whose dotted name ``speaks`` holds."""
    said = said_of_names(speaks)
    return Trigger(lambda quick, facts: said(facts).of_any(quick.names))


def mentions(speaks: Callable[[TargetFacts, str], bool]) -> Trigger:
    """Objects here may be of a name of which ``speaks`` holds: see ``QuickFacts.mentioned``."""
    said = said_of_names(speaks)
    return Trigger(lambda quick, facts: said(facts).of_any(quick.mentioned))


def said_of_names(
    speaks: Callable[[TargetFacts, str], object],
) -> Callable[[TargetFacts], Said[str]]:
    """Return what ``speaks`` says of dotted names, by the target."""
    return lru_cache(maxsize=8)(lambda facts: Said(partial(speaks, facts)))


def named(*dotted: str) -> Trigger:
    """One of these dotted names is imported, or read through an import."""
    wanted = frozenset(dotted)
    return word(*(each.rpartition(".")[2] for each in dotted)) & Trigger(
        lambda quick, _: not wanted.isdisjoint(quick.names)
    )


def package(dotted: str) -> Trigger:
    """A package or module, or something of it, is imported, or read through an import."""
    return word(dotted.partition(".")[0]) & names(
        lambda _, name: f"{name}.".startswith(f"{dotted}.")
    )


class Said(Generic[_T]):
    """What is said of dotted names, or the like: each is asked once, for all files."""

    def __init__(self, speaks: Callable[[_T], object]) -> None:
        self._speaks = speaks
        self._yes: set[_T] = set()
        self._no: set[_T] = set()

    def of_any(self, asked: AbstractSet[_T]) -> bool:
        """Say whether it holds of one of them."""
        return not self._yes.isdisjoint(asked) or bool(self.among(asked))

    def among(self, asked: AbstractSet[_T]) -> AbstractSet[_T]:
        """Return those of which it holds."""
        new = asked - self._no - self._yes
        if new:
            if len(self._yes) + len(self._no) > _CACHE_SIZE:
                self._yes.clear()
                self._no.clear()
                new = {*asked}
            found = set(filter(self._speaks, new))
            self._yes |= found
            self._no |= new - found
        return asked & self._yes


def text(speaks: Callable[[str], bool]) -> Trigger:
    """There is a string, no docstring, of which ``speaks`` holds."""
    return Trigger(lambda quick, _: any(map(speaks, quick.strings)))


def string(*texts: str) -> Trigger:
    """One of these strings is written, each of them a word."""
    return Trigger.among("strings", texts)


def suffix(*suffixes: str) -> Trigger:
    """A string, no docstring, ends in one of these: ``.h5``."""
    return Trigger.among("suffixes", [each.removeprefix(".") for each in suffixes])


def calls(speaks: Callable[[TargetFacts, QuickCall], bool], *names: str) -> Trigger:
    """There is a call, of something of one of these names if any, of which ``speaks`` holds."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked = chain.from_iterable(map(quick.calls_of, names)) if names else quick.calls
        return any(speaks(facts, each) for each in asked)

    return Trigger.needing(names, holds) if names else Trigger(holds)


def classes(speaks: Callable[[TargetFacts, ast.ClassDef, frozenset[str]], bool]) -> Trigger:
    """There is a class for which ``speaks`` holds, given what its bases may be."""
    return Trigger(
        lambda quick, facts: any(
            speaks(facts, each, bases_meant(quick, each))
            for each in quick.nodes.get(ast.ClassDef, ())
            if each.bases
        )
    )


def defines(*methods: str) -> Trigger:
    """A class defines a method of one of these names."""
    wanted = frozenset(methods)
    return Trigger.needing(
        methods,
        lambda quick, _: any(
            not wanted.isdisjoint(methods_of(quick, each))
            for each in quick.nodes.get(ast.ClassDef, ())
        ),
    )
