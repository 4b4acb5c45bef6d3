"""``try`` statements with fallbacks: which code replaces which failing code.

An import that fails, and for which nothing makes up, will be mended: what stands below it is looked
at as if it worked, and what its handler does, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import libcst as cst

from kdoctor.syntax.blocks import always_exits, imports_in, last_statement, only_imports_fail
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.fallback_helpers import (
    attributes_in,
    bound_in,
    catches,
    decides_module_exit,
    handles_name_error,
    handles_only_attribute_error,
    is_another_member,
    is_bare_attribute_check,
    is_below,
    is_empty,
    is_within,
    names_with_same_suffix,
    outermost_attribute,
    raises,
    reads_in,
    statement_around,
    targets,
)
from kdoctor.syntax.imports import Imports, dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.type_oracle import TypeOracle

_Function = cst.FunctionDef | cst.Lambda
_TRIES_AND_FUNCTIONS = frozenset({cst.Try, cst.TryStar, cst.FunctionDef, cst.Lambda})
Import = cst.Import | cst.ImportFrom
Try = cst.Try | cst.TryStar
_HANDLERS = (cst.ExceptHandler, cst.ExceptStarHandler)
_Part = tuple[Try, cst.CSTNode]  # a `try` and the part of it in question
# Places where a name may well be None: `if x is not None:`.
_ONLY_ASKS = (
    *(cst.If, cst.IfExp, cst.While, cst.Assert),
    *(cst.Comparison, cst.BooleanOperation, cst.UnaryOperation),
)


class ExceptionFallbacks:
    """The fallbacks of one module. ``is_guarded``: whether a failure at a node is harmless."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is known of the module, and who else decides
        self,
        scope_analysis: ScopeAnalysis,
        imports: Imports,
        oracle: TypeOracle,
        resolver: Callable[[], Resolver],
        is_guarded: Callable[[cst.CSTNode], bool],
        will_be_reported: Callable[[Import, Try], bool],
    ) -> None:
        self._scope_analysis = scope_analysis
        self._parents = scope_analysis.parents
        self._imports = imports
        self._oracle = oracle
        self._resolver = resolver
        self._is_guarded = is_guarded
        self._will_be_mended = will_be_reported
        self._lacking: dict[cst.CSTNode, bool] = {}
        self._imports_in: dict[cst.BaseSuite, Sequence[tuple[int, Import]]] = {}

    def is_handled_by_try(self, node: cst.CSTNode) -> bool:
        """Say whether a ``try`` skips ``node``, or handles its failure."""
        tries = tuple(self._around(node))
        return bool(tries) and (
            self._is_dead_in_any(node, tries)
            or self._has_fallback(node, tries)
            or self._is_open_fallback(node, tries)
        )

    def is_skipped(self, node: cst.CSTNode) -> bool:
        """Say whether a ``try`` certainly ends, or has done its work, before ``node``."""
        return self._is_dead_in_any(node, self._around(node))

    def is_in_failing_try(self, node: cst.CSTNode) -> bool:
        """Say whether ``node`` is in the body of a ``try`` with a failing import.

        Or is bound there to an attribute that is not there, which a handler waits for.
        """
        return any(
            part is attempt.body
            and (
                any(self._ends(attempt, each) for _, each in self._imports_of(attempt))
                or (
                    any(map(handles_only_attribute_error, attempt.handlers))
                    and self._is_missing(node)
                )
            )
            for attempt, part in self._around(node)
        )

    def _is_missing(self, node: cst.CSTNode) -> bool:
        """Say whether ``node`` is bound by an assignment of what is not there."""
        known = self._lacking.get(node)
        if known is None:
            self._lacking[node] = False  # while it is being found out: `x = x.y` reads itself
            statement = statement_around(node, self._parents)
            known = isinstance(statement, cst.Assign) and self._fails(statement.value)
            self._lacking[node] = known
        return known

    def is_attribute_fallback(
        self, node: cst.CSTNode, is_there: Callable[[str], bool | None]
    ) -> bool:
        """Say whether ``node`` is the fallback for attributes that all exist.

        ``try: y = tf.math.log(x)``, ``except AttributeError: y = tf.log(x)``.
        """
        tries = self._around(node)
        return any(self._are_all_found(attempt, part, is_there) for attempt, part in tries)

    def _around(self, node: cst.CSTNode) -> Iterator[_Part]:
        """Yield each ``try`` around ``node`` with its part that ``node`` is in, from the inside."""
        child, parent = node, self._parents.get(node)
        while parent is not None:
            if parent.__class__ in _TRIES_AND_FUNCTIONS:
                if isinstance(parent, cst.Try | cst.TryStar):
                    yield parent, child
                elif isinstance(parent, _Function) and child is parent.body:
                    return  # it runs some other time
            child, parent = parent, self._parents.get(parent)

    def _is_dead_in_any(self, node: cst.CSTNode, tries: Iterable[_Part]) -> bool:
        return any(self._is_dead_in(attempt, part, node) for attempt, part in tries)

    def _is_dead_in(self, attempt: Try, part: cst.CSTNode, node: cst.CSTNode) -> bool:
        if part is attempt.finalbody:
            return False
        imports = self._imports_of(attempt)
        if isinstance(part, _HANDLERS):
            if not all(self._works(each) is True for _, each in imports):
                return False
            if imports and all(only_imports_fail(each) for each in attempt.body.body):
                return True
            return self._are_all_found(attempt, part, self._oracle.exists)
        place = self._statement_index(attempt, node) if imports else 0
        return any(
            index < place and self._ends(attempt, each) and self._is_caught(attempt, each)
            for index, each in imports
        )

    def _ends(self, attempt: Try, statement: Import) -> bool:
        """Say whether the body of a ``try`` ends at an import, which fails, and stays as it is."""
        return self._works(statement) is False and not self._will_be_mended(statement, attempt)

    def has_fallback(self, statement: Import, attempt: Try) -> bool:
        """Say whether the program handles the failure of an import.

        A handler does its work, or notes that it failed: ``HAS_CONTRIB = False``.
        """
        bound = self._imports.by_statement.get(statement, ())
        fails = [
            each for each in bound if self._oracle.exists(self._imports.of[each].imported) is False
        ]
        if all(map(self._is_guarded, (each.node for each in fails or bound))):
            return True
        failures = self._failures(statement, statement)
        noted = {
            name
            for handler in attempt.handlers
            if catches(handler, failures)
            for name in bound_in(handler)
        } - {each.name for each in bound}
        asked = (use for name in noted for use in self._scope_analysis.uses_by_name.get(name, ()))
        return bool(noted) and not any(
            decides_module_exit(use.node, self._parents) for use in asked
        )

    def _are_all_found(
        self, attempt: Try, part: cst.CSTNode, is_there: Callable[[str], bool | None]
    ) -> bool:
        """Say whether a handler waits for attributes alone, and each that is read is there."""
        if not isinstance(part, _HANDLERS) or not handles_only_attribute_error(part):
            return False
        chains = {outermost_attribute(each, self._parents) for each in attributes_in(attempt.body)}
        names = [self._name(each) for each in chains]
        return bool(names) and all(name and is_there(name) for name in names)

    def _is_caught(self, attempt: Try, statement: Import) -> bool:
        """Say whether a handler catches the failure of an import and does not pass it on.

        Where none does, what stands below the import fails as it would without the ``try``.
        """
        for handler in attempt.handlers:
            if catches(handler, self._failures(statement, statement)):
                return not raises(handler)
        return False

    def _statement_index(self, attempt: Try, node: cst.CSTNode) -> int:
        """Return which statement of the body ``node`` is in; a great number for the ``else``."""
        child, parent = node, self._parents.get(node)
        while parent is not None and child is not attempt:
            if parent is attempt.body:
                return self._scope_analysis.place_in(attempt.body, child)
            child, parent = parent, self._parents.get(parent)
        return len(attempt.body.body)

    def _imports_of(self, attempt: Try) -> Sequence[tuple[int, Import]]:
        """Return the imports in the body of a ``try``, each with the index of its line."""
        body = attempt.body
        if body not in self._imports_in:
            self._imports_in[body] = tuple(imports_in(body))
        return self._imports_in[body]

    def _works(self, statement: cst.Import | cst.ImportFrom) -> bool | None:
        """Say whether an import statement succeeds on the target, None where that is not known."""
        names = [each if each[:1] != "." else "" for each in self._imported_names(statement)]
        exists = [self._oracle.exists(each) for each in names]
        if isinstance(statement, cst.Import):  # `import keras.layers.Dense` looks for a module
            exists += [False for each in names if self._oracle.is_module(each) is False]
        if any(each is False for each in exists):
            return False
        return True if exists and all(each is True for each in exists) else None

    def _imported_names(self, statement: cst.Import | cst.ImportFrom) -> list[str]:
        nodes: list[cst.CSTNode] = (
            [statement.names] if isinstance(statement.names, cst.ImportStar) else [*statement.names]
        )
        by_node = self._imports.by_node
        return [
            by_node[node].name if isinstance(statement, cst.ImportFrom) else by_node[node].imported
            for node in nodes
            if node in by_node
        ]

    def _has_fallback(self, node: cst.CSTNode, tries: Iterable[_Part]) -> bool:
        statement = statement_around(node, self._parents)
        failures = self._failures(node, statement)
        for attempt, part in tries:
            if part is not attempt.body:
                continue
            for handler in attempt.handlers:
                if catches(handler, failures):
                    if "NameError" in failures and handles_name_error(handler):
                        return True
                    if is_bare_attribute_check(node, statement) and not raises(handler):
                        return True
                    if self._performs_fallback(handler, statement, node):
                        return True
                    break
        return False

    def _is_open_fallback(self, node: cst.CSTNode, tries: Iterable[_Part]) -> bool:
        """Say whether an import stands in for one of a private twin, which may well be there.

        ``from keras.src.utils import tf_utils``, and where that fails ``from keras.utils import``.
        """
        statement = statement_around(node, self._parents)
        if not isinstance(statement, cst.Import | cst.ImportFrom):
            return False
        wanted = self._imported_by(statement)
        for attempt, part in tries:
            first = [each for _, each in self._imports_of(attempt)]
            if not isinstance(part, _HANDLERS) or not all(
                only_imports_fail(each) for each in attempt.body.body
            ):
                continue
            tried = {name: path for each in first for name, path in self._imported_by(each).items()}
            are_twins = all(is_within(path, tried.get(name, "")) for name, path in wanted.items())
            if are_twins and all(self._works(each) is not False for each in first):
                return True
        return False

    def _imported_by(self, statement: cst.Import | cst.ImportFrom) -> dict[str, str]:
        """Return what an import imports, by the names that it binds."""
        bindings = self._bound_by(statement, statement)
        return {each.name: self._imports.of[each].imported for each in bindings}

    def _failures(self, node: cst.CSTNode, statement: cst.CSTNode) -> tuple[str, ...]:
        """Return what ``node`` raises where what it names is not there: an exception, its base."""
        if isinstance(statement, cst.ImportFrom):
            module = next(iter(self._imported_names(statement)), "").rpartition(".")[0]
            if self._oracle.exists(module) is True:
                return ("ImportError",)  # a name is missing, not the module
        if isinstance(statement, Import):
            return ("ModuleNotFoundError", "ImportError")
        is_unbound = isinstance(node, cst.Name) and not self._resolver().bindings_at(node)
        return ("NameError",) if is_unbound else ("AttributeError",)

    def _performs_fallback(
        self,
        handler: cst.ExceptHandler | cst.ExceptStarHandler,
        statement: cst.CSTNode,
        node: cst.CSTNode,
    ) -> bool:
        bound = self._bound_by(statement, node)
        if bound:
            if always_exits(handler.body) and not isinstance(
                last_statement(handler.body), cst.Return
            ):
                return False
            return all(self._is_replaced(each, handler) for each in bound)
        for other in descendants(handler.body):
            match statement, other:
                case cst.Assign(), cst.Assign(value=value):
                    likewise = targets(statement) == targets(other)
                case cst.Return(value=cst.BaseExpression()), cst.Return(
                    value=cst.BaseExpression() as value
                ):
                    likewise = True
                case cst.Expr(value=cst.Call()), cst.Expr(value=cst.Call() as call):
                    value = call
                    failed = self._name(outermost_attribute(node, self._parents))
                    names = map(self._name, attributes_in(other))
                    twins = (self._name(call.func), *names_with_same_suffix(failed, names))
                    likewise = any(each and self._oracle.exists(each) for each in twins)
                    likewise = likewise or is_another_member(call.func, node)
                case _:
                    continue
            if likewise and not self._fails(value):
                return True
        return False

    def _bound_by(self, statement: cst.CSTNode, node: cst.CSTNode) -> list[Binding]:
        """Return the names that a statement does not bind when it fails at ``node``."""
        if isinstance(statement, cst.Import | cst.ImportFrom):
            bound = self._imports.by_statement.get(statement, ())
            return [each for each in bound if node in {each.node, statement}]
        if isinstance(statement, cst.Assign):
            names = [dotted_name(each.target) for each in statement.targets]
        elif isinstance(statement, cst.ClassDef | cst.FunctionDef):
            names = [statement.name.value]
        else:
            return []
        scope = self._resolver().scope_of(statement)
        return [
            each
            for name in names
            for each in scope.bindings.get(name or "", ())
            if is_below(each.node, statement, self._parents)
        ]

    def _is_replaced(
        self, binding: Binding, handler: cst.ExceptHandler | cst.ExceptStarHandler
    ) -> bool:
        for other in binding.scope.bindings.get(binding.name, ()):
            if not is_below(other.node, handler, self._parents):
                continue
            if other.kind is BindingKind.IMPORT:
                exists = self._oracle.exists(self._imports.of[other].imported)
                if exists is not False or self._is_guarded(other.node):
                    return True
            else:
                value = part_of(other.value, other.path)
                if not is_empty(value) and not (value is not None and self._fails(value)):
                    return True
        read = [
            use.node
            for use in self._scope_analysis.uses_by_name.get(binding.name, ())
            if not is_below(use.node, handler, self._parents)
            and binding in self._resolver().bindings(use.name, use.node, use.scope)
        ]
        uses = [
            each
            for each in read
            if not isinstance(self._parents.get(each), _ONLY_ASKS)
            or decides_module_exit(each, self._parents)
        ]
        return bool(read) and all(
            self._is_guarded(outermost_attribute(each, self._parents)) for each in uses
        )

    def _fails(self, value: cst.CSTNode) -> bool:
        """Say whether something that an expression reads is missing on the target."""
        return any(
            self._oracle.exists(name) is False
            for each in reads_in(value, self._parents)
            if (name := self._name(each)) is not None
        )

    def _name(self, node: cst.CSTNode) -> str | None:
        return self._resolver().name_of(node)
