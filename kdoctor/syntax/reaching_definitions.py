"""Reaching definitions of a name that is bound more than once.

Only what is certain from the structure of blocks is used: a binding is replaced by a later one of
the same block, by both branches of an ``if``, by a ``try`` and all of its handlers. Loops and
functions called at some other time let several bindings through; then several are returned.

Generated code binds one name thousands of times. A block is therefore never gone through line by
line, only by the lines that bind the name, and ``MAX_BINDINGS`` bindings are not told apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.blocks import always_exits
from kdoctor.syntax.scope_analysis import Block, ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind

MAX_BINDINGS = 64
"""Of more bindings that may reach one place nothing can be said with certainty, nor in time."""

_BLOCKS = frozenset({
    cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine, cst.Module,
})  # fmt: skip
_MAY_LEAVE = frozenset({cst.If, cst.Try})


class _Outflow(Struct, frozen=True):
    """What a statement lets out: bindings, and whether those from before it are all replaced."""

    bindings: tuple[Binding, ...]
    replaces: bool

    def then(self, later: _Outflow) -> _Outflow:
        if later.replaces:
            return later
        return _Outflow((*self.bindings, *later.bindings), self.replaces)

    def or_else(self, other: _Outflow) -> _Outflow:
        return _Outflow((*self.bindings, *other.bindings), self.replaces and other.replaces)


_NOTHING = _Outflow((), replaces=False)
_NO_WAY_OUT = _Outflow((), replaces=True)


class Exits:
    """The statements of a block that control never continues after."""

    def __init__(self, scope_analysis: ScopeAnalysis) -> None:
        self._scope_analysis = scope_analysis
        self._known: dict[Block, tuple[int, ...]] = {}

    def of(self, block: Block) -> tuple[int, ...]:
        """Return the places of such statements in a block, first things first."""
        known = self._known.get(block)
        if known is None:
            nothing = ReachingDefinitions(
                self._scope_analysis.module, (), self._scope_analysis, self
            )
            known = self._known[block] = tuple(
                place
                for place, statement in enumerate(block.body)
                if statement.__class__ in _MAY_LEAVE and nothing.replaces_at(statement)
            )
        return known


class ReachingDefinitions:
    """The reaching definitions of one name in one scope."""

    def __init__(
        self, scope: Scope, bindings: Sequence[Binding], scope_analysis: ScopeAnalysis, exits: Exits
    ) -> None:
        self._scope = scope
        self._bindings = tuple(each for each in bindings if each.kind is not BindingKind.ANNOTATE)
        self._scope_analysis = scope_analysis
        self._exits = exits
        self._is_remote = any(each.remote for each in self._bindings)
        self._known: dict[cst.CSTNode, tuple[Binding, ...]] = {}
        self._outflows: dict[cst.CSTNode, _Outflow] = {}
        self._places: dict[cst.CSTNode, list[int]] = {}
        self._steps: dict[cst.CSTNode, list[cst.CSTNode]] = {}  # the statements of a block
        self._inside: dict[cst.CSTNode, list[Binding]] = {}
        for each in self._bindings:
            if not each.remote:
                self._climb(each)

    def _climb(self, binding: Binding) -> None:
        node, parents = binding.node, self._scope_analysis.parents
        self._inside.setdefault(node, []).append(binding)
        while node is not self._scope.node and node in parents:
            parent = parents[node]
            self._inside.setdefault(parent, []).append(binding)
            if parent.__class__ in _BLOCKS:
                self._steps.setdefault(parent, []).append(node)
            node = parent

    def reaching(self, place: cst.CSTNode, scope: Scope) -> tuple[Binding, ...]:
        """Return the bindings that reach a read at ``place`` in ``scope``."""
        if (
            (len(self._bindings) < 2 and self._scope.kind is not ScopeKind.CLASS)
            or self._is_remote
            or self._scope.kind is ScopeKind.COMPREHENSION
            or not scope.runs_with(self._scope)
        ):
            return self._bindings
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._reaching(place)
        return known

    def _reaching(self, place: cst.CSTNode) -> tuple[Binding, ...]:
        found: list[Binding] = []
        node, parents = place, self._scope_analysis.parents
        while node is not self._scope.node:
            parent = parents[node]
            before = self._before(parent, node)
            found += before.bindings
            if before.replaces:
                return _unique(found)
            if len(found) > MAX_BINDINGS:
                return self._bindings
            node = parent
        found += (each for each in self._bindings if each.kind is BindingKind.PARAMETER)
        return _unique(found)

    def replaces_at(self, statement: cst.CSTNode) -> bool:
        """Say whether no binding from before a statement is there after it."""
        return self._statement(statement).replaces

    def _before(self, parent: cst.CSTNode, node: cst.CSTNode) -> _Outflow:
        """Return what has been bound inside ``parent`` when control gets to its part ``node``."""
        if parent not in self._inside:
            return _NOTHING
        if parent.__class__ in _BLOCKS:
            return self._sequence(parent, self._scope_analysis.place_in(parent, node))
        match parent:
            case cst.FunctionDef() | cst.ClassDef() | cst.Else() | cst.NamedExpr():
                return _NOTHING
            case cst.If():
                return self._expression(parent.test) if node is not parent.test else _NOTHING
            case cst.While():
                first = self._expression(parent.test) if node is not parent.test else _NOTHING
                return self._loop(parent, first)
            case cst.For() if node is parent.body:
                target = self._within(parent.target)
                if target:
                    return _Outflow(target, replaces=True)
                return self._loop(parent, _NOTHING)
            case cst.For() if node is parent.orelse:
                return self._loop(parent, _NOTHING)
            case cst.With() if node is parent.body:
                return self._items(parent.items)
            case cst.Try() | cst.TryStar():
                return self._before_in_try(parent, node)
            case cst.ExceptHandler() | cst.ExceptStarHandler() if parent.name is not None:
                bound_here = self._within(parent.name)
                return _Outflow(bound_here, replaces=bool(bound_here))
            case cst.MatchCase() if node is not parent.pattern:
                captured = self._within(parent.pattern)
                return _Outflow(captured, replaces=bool(captured))
            case cst.BaseExpression() | cst.Arg() | cst.Element() | cst.Comparison():
                inside = {id(each) for each in self._within(node)}
                around = (each for each in self._within(parent) if id(each) not in inside)
                return _Outflow(tuple(around), replaces=False)
            case _:
                return _NOTHING

    def _before_in_try(self, parent: cst.Try | cst.TryStar, node: cst.CSTNode) -> _Outflow:
        if node is parent.body:
            return _NOTHING
        body = self._block(parent.body)
        if node is parent.orelse:
            return body
        attempted = _Outflow(self._within(parent.body), replaces=False)
        if node is not parent.finalbody:
            return attempted
        inside = [self._within(each) for each in (*parent.handlers, parent.orelse) if each]
        return _Outflow((*attempted.bindings, *(b for each in inside for b in each)), False)

    def _loop(self, loop: cst.For | cst.While, first: _Outflow) -> _Outflow:
        """Return what may be bound when a loop's body starts: also what its last round bound."""
        return _Outflow((*first.bindings, *self._within(loop.body)), first.replaces)

    def _sequence(self, block: Block, until: int | None = None) -> _Outflow:
        """Return what the statements of a block let out, all or those before one of them."""
        outflow = _NOTHING
        places = self._places_in(block)
        for index in range(len(places) if until is None else bisect_left(places, until), 0, -1):
            outflow = self._statement(block.body[places[index - 1]]).then(outflow)
            if outflow.replaces or len(outflow.bindings) > MAX_BINDINGS:
                break
        return outflow

    def _places_in(self, block: Block) -> Sequence[int]:
        """Return where in a block the name is bound, or control never goes on."""
        known = self._places.get(block)
        if known is None:
            own = (
                self._scope_analysis.place_in(block, each) for each in self._steps.get(block, ())
            )
            known = self._places[block] = sorted({*own, *self._exits.of(block)})
        return known

    def _block(self, block: cst.BaseSuite | None) -> _Outflow:
        if block is None:
            return _NOTHING
        if always_exits(block):
            return _NO_WAY_OUT
        return self._sequence(block) if block in self._inside else _NOTHING

    def _statement(self, node: cst.CSTNode) -> _Outflow:
        if node not in self._inside and node.__class__ not in _MAY_LEAVE:
            return _NOTHING
        known = self._outflows.get(node)
        if known is None:
            known = self._outflows[node] = self._outflow(node)
        return known

    def _outflow(self, node: cst.CSTNode) -> _Outflow:
        match node:
            case cst.SimpleStatementLine():
                return self._sequence(node)
            case cst.If():
                first = self._expression(node.test)
                orelse = node.orelse
                if isinstance(orelse, cst.If):
                    other = self._statement(orelse)
                else:
                    other = self._block(orelse.body if orelse is not None else None)
                return first.then(self._block(node.body).or_else(other))
            case cst.Try() | cst.TryStar():
                return self._try(node)
            case cst.With():
                return self._items(node.items).then(self._block(node.body))
            case cst.For() | cst.While() | cst.Match():
                return _Outflow(self._within(node), replaces=False)
            case cst.FunctionDef() | cst.ClassDef():
                own = [each for each in self._within(node) if each.node is node]
                return _Outflow(tuple(own) or self._within(node), replaces=bool(own))
            case _:
                # A small statement: what is bound last stands.
                last = self._within(node)[-1:]
                return _Outflow(last, replaces=True)

    def _try(self, node: cst.Try | cst.TryStar) -> _Outflow:
        if node.finalbody is not None and node.finalbody in self._inside:
            final = self._block(node.finalbody.body)
            if final.replaces:
                return final
        else:
            final = _NOTHING
        orelse = node.orelse.body if node.orelse is not None else None
        outflow = self._block(node.body).then(self._block(orelse))
        attempted = _Outflow(self._within(node.body), replaces=False)
        for handler in node.handlers:
            handled = self._block(handler.body)
            outflow = outflow.or_else(attempted.then(handled))
        return outflow.then(final)

    def _items(self, items: Sequence[cst.WithItem]) -> _Outflow:
        bound = tuple(each for item in items for each in self._within(item))
        return _Outflow(bound[-1:], replaces=bool(bound))

    def _expression(self, node: cst.CSTNode) -> _Outflow:
        bound = self._within(node)
        return _Outflow(bound, replaces=bool(bound))

    def _within(self, node: cst.CSTNode) -> tuple[Binding, ...]:
        return tuple(self._inside.get(node, ()))


def _unique(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    return tuple({id(each): each for each in bindings}.values())
