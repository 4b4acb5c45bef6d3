"""What a call must pass, or where it must stand, for a query to find it.

Each class asks the same of a call of the exact tree (``holds``) and of Python's own (``may_hold``);
``keywords`` are those of which such a call has one, none where it may do without any. ``followed``:
``may_hold`` takes long, for it follows names; ``may_be_passed`` does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import arguments, value_of
from kdoctor.analysis.dataflow.may_values import may_values_of
from kdoctor.analysis.queries.forms import Given, form_in, given_by, may_form_in, possible_forms
from kdoctor.analysis.queries.matches import Call, Where
from kdoctor.memoize import once
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts


class _OfWhatIsWritten(Struct, frozen=True):
    """What follows no name: it is asked at once."""

    @property
    def followed(self) -> bool:
        """Whether it takes long."""
        return False

    def calls(self, quick: QuickFacts) -> Iterable[QuickCall] | None:  # noqa: ARG002
        """Return the calls among which such ones are; None: all."""
        return None

    def may_be_passed(self, quick: QuickFacts, called: QuickCall) -> bool:  # noqa: ARG002
        """Say whether it may be so of a call."""
        return True


class Passing(Struct, frozen=True):
    """One of these arguments is passed, and ``where`` holds of the form of its value.

    If ``followed``, a name may have more values than are assigned to it: see ``PassingBeyond``.
    """

    parameters: tuple[tuple[str, int | None], ...]
    where: Where | None
    followed: bool = False

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        return any(
            call.passes(*each, where=self.where)
            or (self.followed and _is_name(call.argument(*each)))
            for each in self.parameters
        )

    def calls(self, quick: QuickFacts) -> Iterable[QuickCall]:
        """Return the calls among which such ones are: those that pass it, of whatever form."""
        named = (quick.calls_with(name) for name, _ in self.parameters)
        placed = (quick.calls_beyond(place) for _, place in self.parameters if place is not None)
        return dict.fromkeys(chain.from_iterable((*named, *placed)))

    def may_be_passed(self, _: QuickFacts, called: QuickCall) -> bool:
        """Say whether a call may pass one, of whatever form."""
        return any(called.argument(*each) is not None for each in self.parameters)

    def may_hold(self, quick: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        for each in self.parameters:
            given = called.argument(*each)
            if given is not None and (self.where is None or self._may_be(quick, given)):
                return True
        return False

    @property
    def keywords(self) -> Collection[str]:
        """Keywords of which such a call has one; none where it may do without any."""
        if any(place is not None for _, place in self.parameters):
            return ()
        return [name for name, _ in self.parameters]

    def _may_be(self, quick: QuickFacts, given: ast.expr) -> bool:
        assert self.where is not None
        if self.followed:
            return any(map(self.where, _followed_forms(quick, given)))
        return _may_have_form(quick, given, self.where)


class PassingBeyond(Struct, frozen=True):
    """An argument is passed by position, from this place on, of whose form ``where`` holds.

    A name may be anything for the rule; for the gate it may be what is assigned, looped over, or
    passed for a parameter of that name.
    """

    place: int
    where: Where
    keywords: tuple[str, ...] = ()
    followed: bool = True

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        given = [each for each in arguments(call.node) if each.keyword is None and not each.star]
        return any(
            _is_name(each) or self.where(form_in(call.module, each.value))
            for each in given[self.place :]
        )

    def calls(self, quick: QuickFacts) -> Iterable[QuickCall]:
        """Return the calls that pass something there."""
        return quick.calls_beyond(self.place)

    def may_be_passed(self, _: QuickFacts, called: QuickCall) -> bool:
        """Say whether a call passes something there, of whatever form."""
        return called.places > self.place

    def may_hold(self, quick: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        return called.places > self.place and any(
            self.where(form)
            for each in called.by_position[self.place :]
            for form in _followed_forms(quick, each)
        )


def _is_name(given: cst.Arg | None) -> bool:
    return given is not None and isinstance(given.value, cst.Name)


def _followed_forms(quick: QuickFacts, given: ast.expr) -> Collection[object]:
    if not isinstance(given, ast.Name):
        return possible_forms(quick, given)
    known = _forms_by_name(quick)
    if given.id not in known:
        values = (may_form_in(quick, each) for each in may_values_of(quick, given))
        known[given.id] = (may_form_in(quick, given), *values)
    return known[given.id]


@once
def _forms_by_name(_: QuickFacts) -> dict[str, tuple[object, ...]]:
    return {}


class PassingAll(_OfWhatIsWritten, frozen=True):
    """``where`` holds of all that is passed."""

    where: Callable[[Given], bool]
    keywords: tuple[str, ...] = ()

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        return self.where(given_by(call.node))

    def may_hold(self, _: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        return self.where(given_by(called.node))


class PassingSome(_OfWhatIsWritten, frozen=True):
    """Something is passed, by one of these keywords if any, of whose form ``where`` holds."""

    names: frozenset[str]
    where: Where

    def calls(self, quick: QuickFacts) -> Iterable[QuickCall] | None:
        """Return the calls among which such ones are; None: all."""
        if not self.names:
            return None
        return dict.fromkeys(chain.from_iterable(map(quick.calls_with, self.names)))

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        return next(self.found(call), None) is not None

    def found(self, call: Call) -> Iterator[cst.Arg]:
        """Yield the arguments that fit."""
        for each in call.call.args:
            is_wanted = not self.names or (each.keyword and each.keyword.value in self.names)
            if not is_wanted or each.star:
                continue
            if self.where(form_in(call.module, value_of(call.module, each.value))):
                yield each

    def may_hold(self, quick: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        given = called.values
        if self.names:
            given = tuple(each.value for each in called.node.keywords if each.arg in self.names)
        return any(_may_have_form(quick, each, self.where) for each in given)

    @property
    def keywords(self) -> Collection[str]:
        """Keywords of which such a call has one."""
        return self.names


def _may_have_form(quick: QuickFacts, given: ast.expr, where: Where) -> bool:
    return any(map(where, possible_forms(quick, given)))


class TakenApart(_OfWhatIsWritten, frozen=True):
    """What it gives is unpacked, or one of its elements is read."""

    keywords: tuple[str, ...] = ()

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        match call.module.parent(call.node):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List()), *_]):
                return True
            case cst.Subscript(value=value):
                return value is call.node
        return False

    def may_hold(self, quick: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        return called.node in _taken_apart(quick)


@once
def _taken_apart(quick: QuickFacts) -> frozenset[ast.expr]:
    unpacked = (
        each.value
        for each in quick.nodes.get(ast.Assign, ())
        if isinstance(each.targets[0], ast.Tuple | ast.List)
    )
    return frozenset((*unpacked, *(each.value for each in quick.nodes.get(ast.Subscript, ()))))


class Within(_OfWhatIsWritten, frozen=True):
    """It stands in a method of such a name, or in a function there."""

    methods: tuple[str, ...]
    keywords: tuple[str, ...] = ()

    def holds(self, call: Call) -> bool:
        """Say whether it is so of a call."""
        return any(
            isinstance(each, cst.FunctionDef)
            and each.name.value in self.methods
            and isinstance(call.module.parent(call.module.parent(each) or each), cst.ClassDef)
            for each in call.module.ancestors(call.node)
        )

    def may_hold(self, quick: QuickFacts, called: QuickCall) -> bool:
        """Say whether it may be so of a call."""
        return called.node in _nodes_within(quick, self.methods)


@once
def _nodes_within(quick: QuickFacts, methods: tuple[str, ...]) -> frozenset[ast.AST]:
    found = (
        method
        for node in quick.nodes.get(ast.ClassDef, ())
        for method in node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name in methods
    )
    return frozenset(chain.from_iterable(map(nodes_in, found)))
