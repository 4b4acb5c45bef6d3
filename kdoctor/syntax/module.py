"""A parsed module with name resolution and inferred types.

Everything is found out when it is first asked for: references by one walk, spans by one pass.
"""

from __future__ import annotations

import ast
import unicodedata
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import libcst as cst

from kdoctor.documents import Unit
from kdoctor.errors import SyntaxProblem
from kdoctor.lazy_regex import pattern
from kdoctor.model import Place, Span
from kdoctor.syntax.annotations import names_in_string
from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.contexts import Contexts
from kdoctor.syntax.import_uses import uses_by_import
from kdoctor.syntax.imports import Imports
from kdoctor.syntax.inference import Inference, Inferences
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.lowering.parse import Parsed
from kdoctor.syntax.members import MemberStore, MemberUse, MemberUses, member_stores
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.package import ClassInfo, ParameterCallees
from kdoctor.syntax.parsing import on_a_deep_stack, parse
from kdoctor.syntax.project_types import MAX_DEPTH, Project
from kdoctor.syntax.reachability import Reachability
from kdoctor.syntax.references import ImportBinding, Reference, ReferenceKind
from kdoctor.syntax.scope_analysis import Mode, ScopeAnalysis, Store, Use
from kdoctor.syntax.scope_visitor import scope_analysis
from kdoctor.syntax.scopes import Binding, Scope
from kdoctor.syntax.spans import DifferentTextError, Spans
from kdoctor.syntax.type_oracle import NO_ORACLE, TypeOracle
from kdoctor.syntax.usage_inference import UsageInference, usage_may_tell_types
from kdoctor.value_types import Context, Type

_WORD = pattern(r"\w+")
_BLANKS_AND_COMMENTS = pattern(r"(?:[\s\\]|#[^\r\n]*)*")
_Node = TypeVar("_Node", bound=cst.CSTNode)

_KINDS = {
    Mode.LOAD: ReferenceKind.LOAD,
    Mode.ANNOTATION: ReferenceKind.LOAD,
    Mode.STORE: ReferenceKind.STORE,
    Mode.DELETE: ReferenceKind.DELETE,
}


class Module:
    """The Python code of one unit."""

    def __init__(
        self,
        unit: Unit,
        parsed: Parsed,
        oracle: TypeOracle = NO_ORACLE,
        package: Project | None = None,
    ) -> None:
        self.unit = unit
        self.text, self.path = unit.text, unit.path
        self.tree = parsed.tree
        self.oracle = oracle
        self._parsed = parsed
        self.package = package
        self.answers: dict[Hashable, object] = {}  # of `once`

    @classmethod
    def parse(
        cls,
        unit: Unit,
        oracle: TypeOracle = NO_ORACLE,
        package: Project | None = None,
        tree: ast.Module | None = None,
    ) -> Module:
        """Parse the text of ``unit``.

        ``tree`` is what Python's own parser made of it, where that is at hand.

        Raises:
            SyntaxProblem: it is no Python that libcst can parse. Line and column are those of the
                document (in a notebook: of the cell).
        """
        return cls(unit, parse(unit, tree), oracle, package)

    def with_oracle(self, oracle: TypeOracle) -> Module:
        """Return the same module with another type oracle."""
        return Module(self.unit, self._parsed, oracle, self.package)

    # -- places

    def span(self, node: cst.CSTNode) -> Span:
        """Return the span of ``node`` without parentheses, comments or comma.

        Raises:
            SyntaxProblem: libcst does not write this tree back as it was; no place in it is sure.
        """
        return self._placed(self._spans.inner, node)

    def outer_span(self, node: cst.CSTNode) -> Span:
        """Return the span of an expression with its own parentheses; ``span`` for other nodes."""
        if isinstance(node, cst.BaseExpression):
            return self._placed(self._spans.outer, node)
        return self.span(node)

    def place(self, node: cst.CSTNode) -> Place:
        """Return the position of ``node`` for people."""
        return self.unit.place(self.span(node))

    def source(self, node: cst.CSTNode) -> str:
        """Return the source of ``node`` without enclosing parentheses."""
        span = self.span(node)
        return self.text[span.start : span.end]

    def comma_after(self, node: cst.CSTNode) -> Span | None:
        """Return where the comma behind an element, an argument or a parameter stands, if any."""
        # The comma is no part of the pattern: that would go back to one in a comment.
        before = _BLANKS_AND_COMMENTS.match(self.text, self.span(node).end)
        if before is None or not self.text.startswith(",", before.end()):
            return None
        return Span(before.end(), before.end() + 1)

    @cached_property
    def _spans(self) -> Spans:
        return self._parsed.spans(self._scope_analysis.parents)

    def _placed(self, ask: Callable[[cst.CSTNode], Span], node: cst.CSTNode) -> Span:
        try:
            try:
                return ask(node)
            except RecursionError:
                return on_a_deep_stack(ask, node)
        except (RecursionError, MemoryError):
            raise SyntaxProblem("the code is nested too deeply", 1, 1) from None
        except DifferentTextError as problem:
            offset = problem.offset_in(self._parsed.text)
            place = self.unit.place(Span(offset, offset))
            raise SyntaxProblem(str(problem), place.line, place.column) from None

    # -- structure

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent of ``node``, None for the module."""
        return self._scope_analysis.parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the ancestors of ``node``, innermost first."""
        parents = self._scope_analysis.parents
        above = parents.get(node)
        while above is not None:
            yield above
            above = parents.get(above)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier that is written in the text, also in its strings and comments."""
        text = self.text if self.text.isascii() else unicodedata.normalize("NFKC", self.text)
        return frozenset(_WORD.findall(text))

    def nodes(self, kind: type[_Node]) -> Sequence[_Node]:
        """Return all nodes of one class (not of its subclasses), in source order."""
        found = self._scope_analysis.gathered.get(kind)
        return self._nodes.get(kind, ()) if found is None else found  # type: ignore[return-value]

    @property
    def attributes(self) -> Sequence[cst.Attribute]:
        """All attribute expressions in source order, import lines aside."""
        return self._scope_analysis.attributes

    @property
    def stores(self) -> Sequence[Store]:
        """All assigned attributes: ``self.x = value``."""
        return self._scope_analysis.stores

    @cached_property
    def _nodes(self) -> dict[type[cst.CSTNode], list[cst.CSTNode]]:
        found: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        for node in descendants(self.tree):
            found.setdefault(node.__class__, []).append(node)
        return found

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """Return the scope that names at ``node`` are looked up in."""
        return self._resolver.scope_of(node)

    @cached_property
    def _scope_analysis(self) -> ScopeAnalysis:
        return scope_analysis(self.tree)

    # -- names

    @cached_property
    def imports(self) -> tuple[ImportBinding, ...]:
        """All import bindings in source order."""
        return tuple(self._imports.of.values())

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """All imports and uses of imported names, in source order."""
        found = [*self._import_references(), *self._use_references(), *self._string_references()]
        return tuple(reference for _, reference in sorted(found, key=lambda pair: pair[0]))

    @cached_property
    def placed_references(self) -> tuple[tuple[Span, Reference], ...]:
        """The references by their position."""
        placed = ((self.span(each.node), each) for each in self.references)
        return tuple(sorted(placed, key=lambda pair: pair[0]))

    def qualified(self, expression: cst.CSTNode) -> str | None:
        """Return the dotted name of an expression that is something imported, else None."""
        meaning = self._resolver.meaning_of(expression)
        return None if meaning is None else meaning.name

    def project_class(self, expression: cst.CSTNode) -> ClassInfo | None:
        """Return the class of another project module that an expression names."""
        return self._classes.of_tree(expression)

    def parameter_callees(self, callee: cst.CSTNode, *, of_instance: bool) -> ParameterCallees:
        """Return what a project function, or a class's instance, calls with its parameters."""
        name = self._resolver.of_chain(callee)
        return self._imports.parameter_callees(name.name, of_instance=of_instance) if name else ()

    def returned_call_in_project(self, callee: cst.CSTNode) -> str | None:
        """Return the call whose result another project module's function returns."""
        meaning = self._resolver.of_chain(callee)
        return None if meaning is None else self._imports.returned_call(meaning.name)

    def is_project_module(self, top: str) -> bool:
        """Say whether ``import top`` surely means a module of the file's project."""
        return self.package is not None and self.package.holds(self.path, top)

    def has_file(self, relative: str) -> bool:
        """Say whether a relative path exists beside this file, or in its project."""
        return self.package is not None and self.package.has_file(self.path, relative)

    def is_tried_in_project(self) -> bool:
        """Say whether another file goes on where its import of this one fails."""
        return self.package is not None and self.package.is_tried(self.path)

    @property
    def assigned_in_project(self) -> frozenset[str]:
        """What the tree's modules that are imported assign elsewhere; ``a.*`` may be any name."""
        return self._imports.given

    @cached_property
    def members(self) -> tuple[MemberUse, ...]:
        """All attribute reads on instances of known kind, in source order, the outer ones first."""
        return tuple(self._member_uses.all())

    def members_named(self, *members: str) -> Sequence[MemberUse]:
        """Return those of ``members`` that have one of these names: asked for, they cost less."""
        return self._member_uses.named(members)

    @cached_property
    def _member_uses(self) -> MemberUses:
        return MemberUses(self._scope_analysis, self.inference, self._classes)

    @cached_property
    def member_stores(self) -> tuple[MemberStore, ...]:
        """All attribute assignments on instances of known kind, in source order."""
        return tuple(member_stores(self._scope_analysis, self.inference, self._classes))

    def type_of(self, expression: cst.CSTNode) -> Type | None:
        """Return the inferred type of an expression, None if unknown."""
        return self.inference.value(expression).type

    def is_inferred_from_calls(self, parameter: Binding) -> bool:
        """Say whether a parameter's type was inferred from the calls of its function."""
        self.type_of(parameter.node)  # it settles what the parameters are
        return parameter in self.inference.assumed

    def is_from_another_file(self, expression: cst.CSTNode) -> bool:
        """Say whether a value comes from another file, where more may have been done with it."""
        return self.inference.value(expression).is_foreign

    def context_of(self, node: cst.CSTNode) -> Context:
        """Return the context of ``node``: layer call, loss, model construction."""
        return self._contexts.of(node)

    def context_as_argument(self, node: cst.CSTNode) -> Context | None:
        """Return the context of a function that is handed on where ``node`` stands, if known."""
        return self._contexts.as_argument(node)

    def is_dead(self, node: cst.CSTNode) -> bool:
        """Say whether ``node`` is unreachable on the target."""
        return self._guards.is_dead(node)

    def is_guarded(self, node: cst.CSTNode) -> bool:
        """Say whether a failure at ``node`` is harmless on the target.

        That is so in code that the target never gets to, under a version check that nobody can
        decide, and in a ``try`` whose handler does the same work with what the target has.
        """
        return self._guards.is_guarded(node)

    def refusal(self, statement: cst.If | cst.Assert) -> cst.BaseSmallStatement | None:
        """Return with what a statement of the module itself certainly stops the target."""
        return self._guards.refusal(statement)

    def is_attribute_fallback(
        self, node: cst.CSTNode, is_there: Callable[[str], bool | None]
    ) -> bool:
        """Say whether ``node`` is the fallback for attributes that all exist.

        ``try: y = tf.math.log(x)``, ``except AttributeError: y = tf.log(x)``.
        """
        return self._guards.is_attribute_fallback(node, is_there)

    def uses_of(self, binding: ImportBinding) -> tuple[cst.CSTNode, ...]:
        """Return all that may read (or delete) the name that an import binds, maybe another's."""
        return self._uses_by_import.get(id(binding), ())

    def is_written_in_project(self, word: str) -> bool:
        """Say whether any file of the project, maybe this one, writes a word."""
        return self.package is not None and self.package.is_written(self.path, word)

    def is_written_by_importers(self, word: str) -> bool:
        """Say whether a project file that imports this one, maybe through others, writes a word."""
        return self.package is not None and self.package.do_importers_write(self.path, word)

    def name_may_be_imported_elsewhere(self, name: str) -> bool:
        """Say whether another project file may import a name from here."""
        return self.package is not None and self.package.may_be_imported_from(self.path, name)

    def keras_root_of_project(self) -> str | None:
        """Return the Keras root of the project's other files; reads them all."""
        return None if self.package is None else self.package.keras_root(self.path)

    def bindings_at(self, name: cst.Name) -> tuple[Binding, ...]:
        """Return the bindings that may reach a name, none for a builtin."""
        return self._resolver.bindings_at(name)

    def is_free(self, local: str, at: Iterable[cst.CSTNode]) -> bool:
        """Say whether ``local`` can be bound at module level and read at these places.

        Not where it is bound, a builtin or from a star, nor if a star carries it over another's.
        """
        bound = local in self._scope_analysis.module.bindings or local in self.unbound_reads
        hides = self.package is not None and self.package.may_hide_elsewhere(self.path, local)
        is_taken = bound or hides or self._in_a_star(local)
        return not is_taken and all(self.scope_of(node).owner(local) is None for node in at)

    def may_be_rebound_by_star(self, binding: ImportBinding) -> bool:
        """Say whether a later star import may rebind an import's name."""
        return self._resolver.may_be_rebound_by_star(binding)

    @cached_property
    def unreadable_stars(self) -> tuple[ImportBinding, ...]:
        """The star imports of modules that cannot be read, in source order: they bind any name."""
        return tuple(self._resolver.unreadable_stars())

    def _in_a_star(self, local: str) -> bool:
        scope = self._scope_analysis.module
        return bool(scope.stars) and self._resolver.meaning(local, self.tree, scope) is not None

    @cached_property
    def unbound_reads(self) -> Mapping[str, cst.CSTNode]:
        """The first read of each name that no scope binds: of a builtin, or from a star import."""
        unbound = [use for use in self._all_uses if use.scope.owner(use.name) is None]
        return {use.name: use.node for use in reversed(unbound)}

    @cached_property
    def _imports(self) -> Imports:
        return Imports(self._scope_analysis, self.path, self.package)

    @cached_property
    def _resolver(self) -> Resolver:
        parts, guards = (self._scope_analysis, self._imports, self.oracle), self._guards
        return Resolver(*parts, guards.is_never_bound, guards.are_alternatives)

    @cached_property
    def _classes(self) -> UserClasses:
        return UserClasses(self._scope_analysis, self._imports, self._resolver, self.oracle)

    @property
    def inference(self) -> Inference:
        """The inference of its types."""
        return self.inferences[MAX_DEPTH]

    @cached_property
    def inferences(self) -> Inferences:
        """Inferences that ask the project's other files, by how many files further they ask."""
        own = weakref.proxy(self)  # a ring would keep the tree until a collector comes

        def tells() -> bool:
            return usage_may_tell_types(own.references, own._imports, own.oracle)  # noqa: SLF001

        parts = (self._scope_analysis, self._resolver, self._classes, self.oracle)
        return Inferences(*parts, UsageInference(*parts, tells), self.package, self.path)

    @cached_property
    def _contexts(self) -> Contexts:
        parts = self._scope_analysis, self._resolver, self._classes, self.inference
        return Contexts(*parts, self.oracle)

    @cached_property
    def _guards(self) -> Reachability:
        own = weakref.proxy(self)  # a ring would keep the tree until a collector comes
        return Reachability(self._scope_analysis, self._imports, self.oracle, lambda: own._resolver)  # noqa: SLF001

    def _import_references(self) -> Iterator[tuple[int, Reference]]:
        for binding, imported in self._imports.of.items():
            name = imported.imported if imported.own_class is None else imported.name
            if isinstance(imported.statement, cst.ImportFrom):
                name = imported.name
            yield (
                binding.order,
                Reference(binding.node, name, imported, ReferenceKind.IMPORT, names=(name,)),
            )

    def _use_references(self) -> Iterator[tuple[int, Reference]]:
        resolver, parents = self._resolver, self._scope_analysis.parents
        names = resolver.may_be_imported
        for use in self._scope_analysis.uses:
            if use.name not in names:
                continue
            if (meaning := resolver.meaning_of(use.chain)) is not None:
                above = parents.get(use.chain)
                call = above if type(above) is cst.Call and above.func is use.chain else None
                yield use.order, meaning.reference(use.chain, _KINDS[use.mode], call)

    def _string_references(self) -> Iterator[tuple[int, Reference]]:
        for use in self._string_uses:
            meaning = self._resolver.meaning(use.name, use.node, use.scope)
            if meaning is not None and use.text is not None:
                meaning = self._resolver.member(meaning, use.text.split(".")[1:])
                yield use.order, meaning.reference(use.node, ReferenceKind.ANNOTATION_STRING)

    @cached_property
    def _string_uses(self) -> tuple[Use, ...]:
        """The names that are read in annotations that are strings."""
        return tuple(
            Use(text.partition(".")[0], node, node, scope, Mode.ANNOTATION, order, text)
            for node, scope, order in self._scope_analysis.strings
            for text in names_in_string(node)
        )

    @cached_property
    def _all_uses(self) -> tuple[Use, ...]:
        return (*self._scope_analysis.uses, *self._string_uses)

    @cached_property
    def _uses_by_import(self) -> dict[int, tuple[cst.CSTNode, ...]]:
        return uses_by_import(self._scope_analysis, self._imports, self._resolver, self._all_uses)
