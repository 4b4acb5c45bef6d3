"""What a call in the quick facts of a source may be a call of: what Keras has, by its name.

It is what ``keras_calls`` tells, of less: a call of a method may be that of any class.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache

from msgspec import Struct

from kdoctor import keras_api
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import BASES, RELEASES, is_known, required
from kdoctor.analysis.triggers import Said, Trigger, may_be_called_on
from kdoctor.keras_api import KINDS, EntryKind, Presence, Signature
from kdoctor.memoize import once
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind


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

    @cached_property
    def required(self) -> tuple[tuple[str, int], ...]:
        """The parameters without a default that may be named: name and position."""
        return required(self.new)

    def olds(self, facts: TargetFacts) -> tuple[Signature, ...]:
        """Return the signatures of earlier releases, newest first."""
        return _olds(self.name, facts)


def passes(
    speaks: Callable[[TargetFacts, Callee, QuickCall], bool], of: Callable[[Callee], object]
) -> Trigger:
    """There is a call, maybe of something of Keras of which ``speaks`` holds with that call.

    ``of`` says of what that can be; it is asked once for each thing of Keras. A method is of Keras
    where it may be called on an object whose methods ``keras_calls`` knows.
    """
    said = Said(of)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        found = calls_by_callee(quick, facts)
        return any(
            speaks(facts, callee, called) and may_call_it(quick, facts, callee, called)
            for callee in said.among(found.keys())
            for called in found[callee]
        )

    return Trigger(holds)


def gets_out_of_a_dict(
    speaks: Callable[[TargetFacts, Callee, str], bool], of: Callable[[Callee], object]
) -> Trigger:
    """There is a call, maybe of something of Keras, with a keyword of which ``speaks`` holds.

    It may get the keyword by ``**``. ``of`` is that of ``passes``.
    """
    said = Said(of)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        keys = keys_of_stars(quick)
        if not keys:
            return False
        found = calls_by_callee(quick, facts)
        return any(
            any(speaks(facts, callee, each) for each in keys[called.node])
            and may_call_it(quick, facts, callee, called)
            for callee in said.among(found.keys())
            for called in found[callee]
            if called.node in keys
        )

    return Trigger(holds)


def may_call_it(quick: QuickFacts, facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    """Say whether a call by the name of something of Keras may be of that."""
    if called.leaf == "__init__":  # `super().__init__(…)`, or `Base.__init__(self, …)`
        return may_be_called_on(quick, facts, (called,), Kind)
    return not callee.method or may_be_called_on(quick, facts, (called,), BASES)


@once  # several rules ask it
def calls_by_callee(quick: QuickFacts, facts: TargetFacts) -> Mapping[Callee, Sequence[QuickCall]]:
    """Return what the calls with arguments may call, by the classes that the source speaks of."""
    found: dict[Callee, list[QuickCall]] = {}
    keys = keys_of_stars(quick)

    def passes_something(called: QuickCall) -> bool:
        return bool(called.places or called.keywords or called.node in keys)

    for name, calls in quick.calls_by_meaning.items():
        callee = callee_of(name, facts)
        if callee is not None:
            found.setdefault(callee, []).extend(filter(passes_something, calls))
    for called in quick.calls_by_meaning.get(PARTIAL, ()):
        for name in quick.meant_by(called.node.args[0]) if called.node.args else ():
            callee = callee_of(name, facts)
            if callee is not None:
                found.setdefault(callee, []).append(called)
    methods = {
        name: calls
        for name in _all_methods().intersection(quick.calls_by_leaf)
        if (
            calls := [
                each
                for each in quick.calls_by_leaf[name]
                if each.is_attribute and passes_something(each)
            ]
        )
    }
    for callee, name in _methods_among(frozenset(methods), quick, facts):
        found.setdefault(callee, []).extend(methods[name])
    return {callee: calls for callee, calls in found.items() if calls}


@once  # several rules ask it
def calls_with_others(
    quick: QuickFacts, facts: TargetFacts
) -> list[tuple[Callee, QuickCall, frozenset[str]]]:
    """Return the calls that pass keywords which what they may call does not take: hardly any."""
    return [
        (callee, called, others)
        for callee, calls in calls_by_callee(quick, facts).items()
        for called in calls
        if called.keywords and (others := called.keywords - callee.takes)
    ]


@once
def keys_of_stars(quick: QuickFacts) -> Mapping[ast.Call, frozenset[str]]:
    """Return the keys that calls may get by ``**``, of those calls that may get any."""
    by_name: dict[str, frozenset[str]] = {}
    found = {}
    for call in quick.unpacking:
        keys = frozenset[str]()
        for each in call.keywords:
            if each.arg is not None:
                continue
            if isinstance(each.value, ast.Name):
                name = each.value.id
                if name not in by_name:
                    by_name[name] = frozenset().union(*map(_texts, quick.values_of(each.value)))
                keys |= by_name[name]
            else:
                keys |= _texts(each.value)
        if keys:
            found[call] = keys
    return found


def _texts(made: ast.expr) -> frozenset[str]:
    match made:
        case ast.Dict(keys=keys):
            texts = (each.value for each in keys if isinstance(each, ast.Constant))
            return frozenset(each for each in texts if isinstance(each, str))
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return frozenset(each.arg for each in keywords if each.arg is not None)
    return frozenset()


def _classes(quick: QuickFacts, facts: TargetFacts) -> Collection[Callee]:
    """Return the classes of Keras that a source speaks of, each under one of its names."""
    found = (callee_of(name, facts) for name in quick.mentioned)
    return {each.name: each for each in found if each is not None and each.made}.values()


def _methods_among(
    names: frozenset[str], quick: QuickFacts, facts: TargetFacts
) -> Iterator[tuple[Callee, str]]:
    """Yield what methods of these names may be where the source speaks of such classes."""
    if not names:
        return
    plain = names - {"__init__"}
    for name in plain:
        yield from ((each, name) for each in _methods(name, facts))
    for cls in _classes(quick, facts):
        if "__init__" in names:
            yield cls, "__init__"
        for name in facts.methods(cls.name) & plain:
            method = _method(cls.name, name, facts)
            if method is not None:
                yield method, name


@cache
def _all_methods() -> frozenset[str]:
    """Return the names by which code calls the methods of Keras' objects."""
    plain = (name for name in keras_api.ever_members() if not name.startswith("__"))
    return frozenset((*plain, "__init__"))


@lru_cache(maxsize=4096)
def _methods(leaf: str, facts: TargetFacts) -> tuple[Callee, ...]:
    found = (_method(base, leaf, facts) for base in BASES.values())
    return tuple(each for each in found if each is not None)


@lru_cache(maxsize=2048)
def _method(cls: str, leaf: str, facts: TargetFacts) -> Callee | None:
    new = facts.signature(f"{cls}.{leaf}")
    return None if new is None else Callee(f"{cls}.{leaf}", None, new, method=True)


@lru_cache(maxsize=2048)
def callee_of(name: str, facts: TargetFacts) -> Callee | None:
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
        KINDS.get(found.family) if is_class else None,
        new,
        made=found.home.rpartition(".")[2] if is_class else "",
    )


@lru_cache(maxsize=4096)
def _olds(name: str, facts: TargetFacts) -> tuple[Signature, ...]:
    found = (facts.at_release(release).signature(name) for release in RELEASES)
    return tuple(each for each in found if each is not None)
