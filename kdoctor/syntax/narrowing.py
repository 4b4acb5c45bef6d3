"""What ``isinstance`` tells of a name or attribute, where its answer holds.

In the body of ``if isinstance(x, Dense):``, behind it in an ``and``, behind
``assert isinstance(x, Dense)`` and behind ``if not isinstance(x, Dense): return``; not where the
name is bound anew meanwhile. ``isinstance(x, A) or isinstance(x, B)`` tells what
``isinstance(x, (A, B))`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.blocks import always_exits
from kdoctor.syntax.declarations import Classes
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.node_predicates import first_name
from kdoctor.syntax.reaching_definitions import MAX_BINDINGS
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.values import UNKNOWN, Value, merged, of_any_subclass

_FUNCTIONS = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_BLOCKS = (cst.IndentedBlock, cst.Module)


class _Test(Struct, frozen=True, eq=False):
    """A test by ``isinstance``; ``place``: in a block, after which of its statements it holds."""

    subject: cst.BaseExpression
    classes: tuple[cst.BaseExpression, ...]  # of one of which it is
    root: cst.CSTNode
    place: int = -1


class Narrowing:
    """The answers of ``isinstance`` in one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        inference: Classes,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._inference = inference

    def of(self, node: cst.Name | cst.Attribute) -> Value:
        """Return what is told of a name or an attribute where it is read."""
        by_root = self._tests.get(dotted_name(node) or "")
        if by_root is None:
            return UNKNOWN
        parents, inner = self._scope_analysis.parents, node
        outer: cst.CSTNode | None = node
        while outer is not None and not isinstance(outer, _FUNCTIONS):
            for test in by_root.get(outer, ()):
                if self._holds(test, node, inner):
                    return self._told(test.classes)
            inner, outer = outer, parents.get(outer)  # type: ignore[assignment]
        return UNKNOWN

    @cached_property
    def subjects(self) -> frozenset[str]:
        """The last names of what is tested anywhere."""
        return frozenset(name.rpartition(".")[2] for name in self._tests)

    @cached_property
    def _tests(self) -> Mapping[str, Mapping[cst.CSTNode, list[_Test]]]:
        found: dict[str, dict[cst.CSTNode, list[_Test]]] = {}
        for call in self._scope_analysis.calls:
            asked = self._asked(call)
            if asked is None:
                continue
            subject, classes = asked
            name = dotted_name(subject)
            whole, other = self._with_alternatives(call)
            told = [self._asked(each) for each in other]
            if not name or any(each is None or dotted_name(each[0]) != name for each in told):
                continue
            one_of = (classes, *(each[1] for each in told if each is not None))
            for root, place in self._regions(whole):
                test = _Test(subject, one_of, root, place)
                found.setdefault(name, {}).setdefault(root, []).append(test)
        return found

    def _asked(
        self, node: cst.BaseExpression
    ) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """Return of what ``isinstance`` is asked, and for which classes."""
        match node:
            case cst.Call(
                func=cst.Name(value="isinstance") as function,
                args=[cst.Arg(value=subject, star=""), cst.Arg(value=classes, star="")],
            ) if not self._resolver.bindings_at(function):
                return subject, classes
        return None

    def _with_alternatives(
        self, test: cst.BaseExpression
    ) -> tuple[cst.BaseExpression, list[cst.BaseExpression]]:
        """Return the whole of ``test or …``, and what else is in it; of its first test alone."""
        whole, other = test, list[cst.BaseExpression]()
        while True:
            match self._scope_analysis.parents[whole]:
                case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) as parent if (
                    left is whole
                ):
                    whole = parent
                    other.append(right)
                case _:
                    return whole, other

    def _regions(self, test: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, int]]:
        """Yield where a test is known to have been true."""
        parents, node, when = self._scope_analysis.parents, test, True
        while True:
            parent = parents[node]
            match parent:
                case cst.UnaryOperation(operator=cst.Not()):
                    when = not when
                case cst.BooleanOperation(left=left, right=right, operator=operator):
                    if isinstance(operator, cst.And) is not when:
                        return
                    if node is left:
                        yield right, -1
                case cst.IfExp() if node is parent.test:
                    yield (parent.body if when else parent.orelse), -1
                    return
                case cst.CompIf():
                    if when:
                        yield from self._in_comprehension(parent)
                    return
                case cst.While() if when:
                    yield parent.body, -1
                    return
                case cst.Assert() if when and node is parent.test:
                    yield from self._after(parents[parent])
                    return
                case cst.If():
                    if when:
                        yield parent.body, -1
                    elif parent.orelse is not None:
                        yield parent.orelse, -1
                    if _always_exits(parent, when=not when):
                        yield from self._after(parent)
                    return
                case _:
                    return
            node = parent

    def _in_comprehension(self, condition: cst.CompIf) -> Iterator[tuple[cst.CSTNode, int]]:
        clause = self._scope_analysis.parents[condition]
        assert isinstance(clause, cst.CompFor)
        later = clause.ifs[list(clause.ifs).index(condition) + 1 :]
        yield from ((each, -1) for each in later)
        if clause.inner_for_in is not None:
            yield clause.inner_for_in, -1
        whole: cst.CSTNode = clause
        while isinstance(whole, cst.CompFor):
            whole = self._scope_analysis.parents[whole]
        if isinstance(whole, cst.DictComp):
            yield whole.key, -1
            yield whole.value, -1
        elif isinstance(whole, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            yield whole.elt, -1

    def _after(self, statement: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, int]]:
        """Yield what follows on a statement in its block."""
        block = self._scope_analysis.parents[statement]
        if isinstance(block, _BLOCKS):
            yield block, self._scope_analysis.place_in(block, statement)

    def _holds(self, test: _Test, node: cst.CSTNode, inner: cst.CSTNode) -> bool:
        """Say whether the answer is still that of the same object."""
        if test.place >= 0 and self._place(test, inner) <= test.place:
            return False
        root, tested = first_name(node), first_name(test.subject)
        if root is None or tested is None:
            return False
        before, now = self._resolver.bindings_at(tested), self._resolver.bindings_at(root)
        if [*map(id, before)] != [*map(id, now)] or len(before) > MAX_BINDINGS:
            return False
        bound = before[0].scope.bindings[root.value] if before else ()
        if len(bound) > MAX_BINDINGS or any(self._is_inside(each.node, test) for each in bound):
            return False
        if node is root:
            return True
        stored = self._stores_by_name.get(dotted_name(node) or "", ())
        return not any(self._is_inside(each, test) for each in stored)

    def _place(self, test: _Test, inner: cst.CSTNode) -> int:
        assert isinstance(test.root, _BLOCKS)
        return self._scope_analysis.place_in(test.root, inner)

    def _is_inside(self, node: cst.CSTNode, test: _Test) -> bool:
        """Say whether a node stands where a test's answer would hold."""
        parents, inner = self._scope_analysis.parents, node
        outer: cst.CSTNode | None = node
        while outer is not None and outer is not test.root:
            inner, outer = outer, parents.get(outer)
        return outer is not None and (test.place < 0 or self._place(test, inner) > test.place)

    @cached_property
    def _stores_by_name(self) -> Mapping[str, list[cst.CSTNode]]:
        found: dict[str, list[cst.CSTNode]] = {}
        for store in self._scope_analysis.stores:
            found.setdefault(dotted_name(store.node) or "", []).append(store.node)
        return found

    def _told(self, classes: tuple[cst.BaseExpression, ...]) -> Value:
        """Return what an instance of one of several classes is."""
        told = (
            of_any_subclass(self._inference.instance(each))
            for several in classes
            for each in classes_in(several)
        )
        shared = merged(told)
        return Value(shared.type, shared.own, exact=False) if shared else UNKNOWN


def _always_exits(condition: cst.If, *, when: bool) -> bool:
    """Say whether control never gets behind a statement where its test has such an answer."""
    other = condition.orelse.body if isinstance(condition.orelse, cst.Else) else None
    body = condition.body if when else other
    return body is not None and always_exits(body)


def classes_in(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the classes that ``isinstance`` is given: those of ``(A, (B, C))`` and ``A | B``."""
    match node:
        case cst.Tuple():
            for each in node.elements:
                yield from classes_in(each.value)
        case cst.BinaryOperation(operator=cst.BitOr()):
            yield from classes_in(node.left)
            yield from classes_in(node.right)
        case _:
            yield node
