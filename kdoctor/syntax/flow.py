"""Which bindings of a name can reach a place, where it is bound more than once.

Only what is certain from the structure of blocks is used: a binding is replaced by a later one of
the same block, by both branches of an ``if``, by a ``try`` and all of its handlers. Loops and
functions called at some other time let several bindings through; then several are returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from kdoctor.syntax.blocks import leaves
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind

_Block = cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine | cst.Module


@dataclass(frozen=True, slots=True)
class _Outflow:
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


class Flow:
    """The bindings of one name in one scope."""

    def __init__(
        self,
        scope: Scope,
        bindings: Sequence[Binding],
        parents: Mapping[cst.CSTNode, cst.CSTNode],
    ) -> None:
        self._scope = scope
        self._bindings = [each for each in bindings if each.kind is not BindingKind.ANNOTATE]
        self._parents = parents
        self._remote = [each for each in self._bindings if each.remote]
        self._indices: dict[cst.CSTNode, dict[cst.CSTNode, int]] = {}
        self._inside: dict[cst.CSTNode, list[Binding]] = {}
        for each in self._bindings:
            if each.remote:
                continue
            node: cst.CSTNode | None = each.node
            while node is not None:
                self._inside.setdefault(node, []).append(each)
                node = None if node is scope.node else parents.get(node)

    def reaching(self, place: cst.CSTNode, scope: Scope) -> tuple[Binding, ...]:
        """Return the bindings that a read at ``place``, in ``scope``, may find."""
        if (
            (len(self._bindings) < 2 and self._scope.kind is not ScopeKind.CLASS)
            or self._remote
            or self._scope.kind is ScopeKind.COMPREHENSION
            or not scope.runs_with(self._scope)
        ):
            return tuple(self._bindings)
        found: list[Binding] = []
        node = place
        while node is not self._scope.node:
            parent = self._parents[node]
            before = self._before(parent, node)
            found += before.bindings
            if before.replaces:
                return _unique(found)
            node = parent
        found += (each for each in self._bindings if each.kind is BindingKind.PARAMETER)
        return _unique(found)

    def _before(self, parent: cst.CSTNode, node: cst.CSTNode) -> _Outflow:
        """Return what has been bound inside ``parent`` when control gets to its part ``node``."""
        if not self._inside.get(parent):
            return _NOTHING
        match parent:
            case (
                cst.IndentedBlock()
                | cst.SimpleStatementSuite()
                | cst.SimpleStatementLine()
                | cst.Module()
            ):
                return self._sequence(parent.body[: self._index(parent, node)])
            case cst.If() | cst.While() if node is not parent.test:
                bound = self._expression(parent.test)
                if isinstance(parent, cst.While):
                    return self._loop(parent, bound)
                return bound
            case cst.While():
                return self._loop(parent, _NOTHING)
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
            case cst.NamedExpr():
                return _NOTHING
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

    def _index(self, parent: _Block, node: cst.CSTNode) -> int:
        indices = self._indices.get(parent)
        if indices is None:
            indices = {each: index for index, each in enumerate(parent.body)}
            self._indices[parent] = indices
        return indices[node]

    def _sequence(self, statements: Sequence[cst.CSTNode]) -> _Outflow:
        outflow = _NOTHING
        for statement in reversed(statements):
            outflow = self._statement(statement).then(outflow)
            if outflow.replaces:
                break
        return outflow

    def _block(self, block: cst.BaseSuite | None) -> _Outflow:
        if block is None:
            return _NOTHING
        if leaves(block):
            return _NO_WAY_OUT
        if not self._inside.get(block):
            return _NOTHING
        return self._sequence(block.body)

    def _statement(self, node: cst.CSTNode) -> _Outflow:
        if not self._inside.get(node) and not isinstance(node, cst.If | cst.Try):
            return _NOTHING
        match node:
            case cst.SimpleStatementLine():
                return self._sequence(node.body)
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
        if node.finalbody is not None and self._inside.get(node.finalbody):
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
