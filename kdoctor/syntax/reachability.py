"""Reachability on the target: dead code, and code with a working fallback."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import takewhile

import libcst as cst

from kdoctor.syntax.alias_chains import AliasCache
from kdoctor.syntax.blocks import always_raises, early_exits, program_exit_in
from kdoctor.syntax.condition_values import NotAGuard, Undecided
from kdoctor.syntax.conditions import Conditions
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.exception_fallbacks import ExceptionFallbacks, Import, Try
from kdoctor.syntax.fallback_helpers import (
    common_ancestor,
    conditions,
    hasattr_members,
    is_for_types_only,
    is_one_of_members,
)
from kdoctor.syntax.imports import Imports
from kdoctor.syntax.libcst_walk import STATEMENTS
from kdoctor.syntax.match_cases import Cases
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import Block, ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.type_oracle import TypeOracle

_HANDLERS = (cst.ExceptHandler, cst.ExceptStarHandler)
# Where it is noted that no guard stands around: statements, and what stands in itself again and
# again, such as the parts of `a or b or c`.
_MARKED = STATEMENTS | {cst.BooleanOperation, cst.BinaryOperation, cst.CompFor}


class Reachability:
    """Reachability in one module.

    ``as_it_is``: also an import for which nothing makes up ends what stands below it. Otherwise it
    is taken for one that will be mended, as it is reported.
    """

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        imports: Imports,
        oracle: TypeOracle,
        resolver: Callable[[], Resolver],
        *,
        as_it_is: bool = False,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._parents = scope_analysis.parents
        self._imports = imports
        self._oracle = oracle
        self._resolver = resolver
        self._busy: set[cst.CSTNode] = set()
        self._dead: dict[cst.CSTNode, bool] = {}
        self._found_out: set[cst.CSTNode] = set()  # whether they are dead, at the moment
        self._kept = AliasCache(Undecided, NotAGuard)
        self._kept_on_new_python = AliasCache(Undecided, NotAGuard)
        self._answers: dict[cst.CSTNode, object] = {}
        self._is_answering = False
        self._members: dict[cst.BaseExpression, frozenset[str]] = {}
        self._free: set[cst.CSTNode] = set()  # statements with no guard around them, for sure
        self._cases = Cases()
        self._exits: dict[Block, dict[int, cst.BaseExpression]] = {}
        # A ring would keep the tree until a collector comes.
        own: Reachability = weakref.proxy(self)

        def is_guarded(node: cst.CSTNode) -> bool:
            return own.is_guarded(node)  # `own.is_guarded` itself would hold the guards

        def will_be_reported(statement: Import, attempt: Try) -> bool:
            return not as_it_is and own.will_be_reported(statement, attempt)

        self._mended: dict[cst.CSTNode, bool] = {}
        self._mending: set[cst.CSTNode] = set()  # of which that is being found out
        self._tries = ExceptionFallbacks(
            scope_analysis, imports, oracle, resolver, is_guarded, will_be_reported
        )

    def is_guarded(self, node: cst.CSTNode) -> bool:
        """Say whether a failure at ``node`` is harmless on the target.

        That is so where the target never gets to it, or a type checker alone does, where a version
        check whose answer is not known decides about it, and where a handler catches the failure
        and does the same work.
        """
        if node in self._busy:
            self._note_provisional()
            return False
        self._busy.add(node)
        try:
            return (
                any(answer is not True for answer in self._conditions_of(node))
                or self._tries.is_handled_by_try(node)
                or is_for_types_only(
                    node,
                    self._parents,
                    self._resolver().name_of,
                    postponed=self._postpones_annotations,
                )
            )
        finally:
            self._busy.discard(node)

    def will_be_reported(self, statement: Import, attempt: Try) -> bool:
        """Say whether nothing makes up for an import that fails, so that it is reported."""
        known = self._mended.get(statement)
        if known is None:
            self._mended[statement] = False  # while it is being found out
            self._mending.add(statement)
            known = not self._as_it_is.has_fallback(statement, attempt)
            self._mended[statement] = known
            self._mending.discard(statement)
        elif statement in self._mending:
            self._note_provisional()
        return known

    def has_fallback(self, statement: Import, attempt: Try) -> bool:
        """Say whether the program allows for an import to fail: see ``ExceptionFallbacks``."""
        return self._tries.has_fallback(statement, attempt)

    @cached_property
    def _as_it_is(self) -> Reachability:
        """The same, where nothing is taken for mended."""
        return Reachability(
            self._scope_analysis, self._imports, self._oracle, self._resolver, as_it_is=True
        )

    def is_dead(self, node: cst.CSTNode) -> bool:
        """Say whether ``node`` is unreachable on the target."""
        known = self._dead.get(node)
        if known is None:
            self._dead[node] = False  # while it is being found out: a test may ask for itself
            self._found_out.add(node)
            fails = any(answer is False for answer in self._conditions_of(node))
            known = fails or self._tries.is_skipped(node)
            self._dead[node] = known
            self._found_out.discard(node)
        elif node in self._found_out:
            self._note_provisional()
        return known

    def _note_provisional(self) -> None:
        """Note that what is being found out rests on what is not known yet."""
        self._kept.note_provisional()
        self._kept_on_new_python.note_provisional()

    def are_alternatives(self, one: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Say whether one binding is the fallback of the other."""
        parent, parts = common_ancestor(one, other, self._parents)
        if isinstance(parent, cst.Try | cst.TryStar):
            kinds = {type(each) for each in parts}
            return not kinds.isdisjoint(_HANDLERS) and cst.Finally not in kinds
        if isinstance(parent, cst.If) and parent.test not in parts:
            return self._answer(parent.test) is not NotAGuard
        if isinstance(parent, cst.Match):
            tests = [test for part in parts for test, _ in self._cases.tests(parent, part)]
            return any(self._answer(test) is not NotAGuard for test in tests)
        return False

    def live(self, bindings: Iterable[Binding]) -> list[Binding]:
        """Return the bindings that can happen on the target."""
        return [each for each in bindings if not self.is_never_bound(each.node)]

    def is_never_bound(self, node: cst.CSTNode) -> bool:
        """Say whether the target never makes the binding at ``node``, or at once another instead.

        The latter is so in the body of a ``try`` in which an import fails.
        """
        return self.is_dead(node) or self._tries.is_in_failing_try(node)

    def is_attribute_fallback(
        self, node: cst.CSTNode, is_there: Callable[[str], bool | None]
    ) -> bool:
        """Say whether ``node`` is the fallback for attributes that all exist.

        ``try: y = tf.math.log(x)``, ``except AttributeError: y = tf.log(x)``.
        """
        return self._tries.is_attribute_fallback(node, is_there)

    def _answer(self, test: cst.BaseExpression) -> object:
        """Return True or False, or Undecided, or NotAGuard.

        What comes out on the way to another answer is not kept: it may be half the truth.
        """
        if test in self._answers:
            return self._answers[test]
        if self._is_answering:
            return self._truth(test)
        self._is_answering = True
        try:
            answer = self._answers[test] = self._truth(test)
        finally:
            self._is_answering = False
        return answer

    def _truth(self, test: cst.BaseExpression, *, on_new_python: bool = False) -> object:
        kept = self._kept_on_new_python if on_new_python else self._kept
        conditions = Conditions(
            self._resolver(), self._oracle, self.live, kept, on_new_python=on_new_python
        )
        try:
            return conditions.truth(test)
        except Undecided:
            return Undecided
        except NotAGuard:
            return NotAGuard

    def _conditions_of(self, node: cst.CSTNode) -> Iterator[object]:
        """Yield, of each guard around ``node``, whether it lets the target through.

        True and False are certain, Undecided is a guard of which that is not known.
        """
        child, parent = node, self._parents.get(node)
        passed: list[cst.CSTNode] = []  # above which no guard was found so far
        while parent is not None and child not in self._free:
            passed.append(child)
            for test, wanted in self._tests(parent, child):
                answer = self._answer(test)
                if answer is NotAGuard and wanted and self._asks_for(test, node):
                    yield Undecided
                elif answer is not NotAGuard:
                    yield Undecided if answer is Undecided else answer is wanted
                if (
                    answer is not NotAGuard
                    or test not in self._answers
                    or self._hasattr_members(test)
                ):
                    passed.clear()
            if type(parent) is cst.IndentedBlock or type(parent) is cst.Module:
                yield from self._early_exits(parent, child)
                if self._exits[parent]:
                    passed.clear()
            child, parent = parent, self._parents.get(parent)
        self._free.update(each for each in passed if each.__class__ in _MARKED)

    def _asks_for(self, test: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """Say whether ``test`` asks for a member that is (part of) what ``node`` reads."""
        return is_one_of_members(self._hasattr_members(test), node)

    def _hasattr_members(self, test: cst.BaseExpression) -> frozenset[str]:
        # Of `a and b and c`, each part is a test of what stands behind it.
        chain = [test]
        while chain[-1] not in self._members and isinstance(chain[-1], cst.BooleanOperation):
            chain.append(chain[-1].left)
        for each in reversed(chain):
            if each in self._members:
                continue
            if isinstance(each, cst.BooleanOperation):
                members = self._members[each.left] | hasattr_members(each.right)
            else:
                members = hasattr_members(each)
            self._members[each] = members
        return self._members[test]

    def _tests(
        self, parent: cst.CSTNode, child: cst.CSTNode
    ) -> Iterable[tuple[cst.BaseExpression, bool]]:
        """Return the tests on which ``child`` of ``parent`` depends, and how each must turn out."""
        if isinstance(parent, cst.Match | cst.MatchCase):
            return self._cases.tests(parent, child)
        if type(parent) is cst.If and self._is_refused_otherwise(parent, child):
            return ()
        return conditions(parent, child, self._constant_of)

    def _early_exits(
        self, block: cst.IndentedBlock | cst.Module, until: cst.CSTNode
    ) -> Iterator[object]:
        """Yield the answers of `if …: return` (or raise) before ``until`` in one block.

        Not of those that only an old Python fails: every Keras has one that gets past them. Nor of
        those with which a module refuses to run: who migrates it deletes them.
        """
        exits = self._exits.get(block)
        if exits is None:
            exits = self._exits[block] = dict(early_exits(block))
        if not exits:
            return
        end = self._scope_analysis.place_in(block, until)
        for place in list(takewhile(end.__gt__, exits)):
            test = exits.get(place)
            if test is not None and self._is_refusal(self._parents[test]):
                exits.pop(place)
                continue
            answer = NotAGuard if test is None else self._answer(test)
            if answer is Undecided and test is not None and self._is_for_old_python(test):
                answer = NotAGuard
            if answer is not NotAGuard:
                yield Undecided if answer is Undecided else answer is False
            elif test in self._answers:
                exits.pop(place, None)  # asked once for all that stands below it

    def refusal(self, statement: cst.If | cst.Assert) -> cst.BaseSmallStatement | None:
        """Return with what a statement of the module itself certainly stops the target."""
        match statement, self._answer(statement.test):
            case cst.Assert(), False:
                stop: cst.CSTNode | None = statement
            case cst.If(), True:
                stop = program_exit_in(statement.body)
            case cst.If(orelse=cst.Else(body=taken)), False:
                stop = program_exit_in(taken)
            case _:
                return None
        if not isinstance(stop, cst.BaseSmallStatement) or not self._is_run_by_import(statement):
            return None
        return None if self.is_guarded(statement) else stop

    def _is_refused_otherwise(self, statement: cst.If, child: cst.CSTNode) -> bool:
        """Say whether the module refuses to run where the target takes the other branch."""
        otherwise = statement.orelse
        if child is statement.body:
            other = otherwise.body if isinstance(otherwise, cst.Else) else None
        else:
            other = statement.body
        return always_raises(other) and self._is_run_by_import(statement)

    def _is_refusal(self, statement: cst.CSTNode) -> bool:
        """Say whether a module refuses to run here: `if keras.__version__ >= "3": raise …`."""
        return (
            isinstance(statement, cst.If)
            and always_raises(statement.body)
            and self._is_run_by_import(statement)
        )

    def _is_run_by_import(self, node: cst.CSTNode) -> bool:
        """Say whether a statement stands in the module itself, where nothing catches an error."""
        parent = self._parents.get(node)
        while isinstance(parent, cst.SimpleStatementLine | cst.IndentedBlock | cst.If | cst.Else):
            parent = self._parents.get(parent)
        return isinstance(parent, cst.Module)

    def _is_for_old_python(self, test: cst.BaseExpression) -> bool:
        return self._truth(test, on_new_python=True) is False

    def _constant_of(self, name: cst.Name) -> cst.BaseExpression | None:
        """Return what a name certainly stands for where it is read."""
        match self._resolver().bindings_at(name):
            case [Binding(kind=BindingKind.ASSIGN) as only]:
                return part_of(only.value, only.path)
        return None

    @cached_property
    def _postpones_annotations(self) -> bool:
        imports = self._imports.of.values()
        return any(each.imported == "__future__.annotations" for each in imports)
