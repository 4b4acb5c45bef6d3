"""Resolve names to the imported objects they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.model import Confidence
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.imports import Imports
from kdoctor.syntax.reaching_definitions import MAX_BINDINGS, Exits, ReachingDefinitions
from kdoctor.syntax.references import ImportBinding, Reference, ReferenceKind
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind
from kdoctor.syntax.type_oracle import TypeOracle

# What makes a scope, and what part of which belongs to the scope around.
_AT_SCOPES = frozenset({
    cst.Module, cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.TypeParameters,
    cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp, cst.CompFor,
})  # fmt: skip


class Meaning(Struct, frozen=True):
    """The imported object a name refers to, under one name or several."""

    name: str
    names: tuple[str, ...]
    binding: ImportBinding
    confidence: Confidence

    def member(self, path: Sequence[str]) -> Meaning:
        """Return what an attribute of it means."""
        tail = "." + ".".join(path)
        names = tuple(_joined(each, tail) for each in self.names)
        return Meaning(_joined(self.name, tail), names, self.binding, self.confidence)

    def reference(
        self, node: cst.CSTNode, kind: ReferenceKind, call: cst.Call | None = None
    ) -> Reference:
        """Return the reference to it that a node is."""
        return Reference(node, self.name, self.binding, kind, call, self.confidence, self.names)


def _joined(name: str, tail: str) -> str:
    return name + tail[1:] if name.endswith(".") else name + tail


class Resolver:
    """Resolves the names of one module.

    ``is_dead`` says that a binding is never made on the target, ``are_alternatives`` that of two
    bindings one is the fallback of the other.
    """

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        imports: Imports,
        oracle: TypeOracle,
        is_dead: Callable[[cst.CSTNode], bool],
        are_alternatives: Callable[[cst.CSTNode, cst.CSTNode], bool],
    ) -> None:
        self._scope_analysis = scope_analysis
        self._imports = imports
        self._oracle = oracle
        self._is_dead = is_dead
        self._are_alternatives = are_alternatives
        self._flows: dict[tuple[Scope, str], ReachingDefinitions] = {}
        self._exits = Exits(scope_analysis)
        self._meanings: dict[Binding, Meaning | None] = {}
        self._stars: list[tuple[Binding, frozenset[str] | None]] | None = None
        self._scopes_of_names = {use.node: use.scope for use in scope_analysis.uses}
        self._chains: dict[cst.CSTNode, Meaning | None] = {}

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """Return the scope that names in ``node`` are looked up in."""
        known = self._scopes_of_names.get(node)
        if known is not None:
            return known
        parents, scopes = self._scope_analysis.parents, self._scope_analysis.scopes
        child, parent = node, parents.get(node)
        while parent is not None:
            if parent.__class__ not in _AT_SCOPES:
                child, parent = parent, parents.get(parent)
                continue
            scope = scopes.get(parent)
            if scope is not None and _is_inside(parent, child):
                return scope
            if (
                isinstance(parent, cst.FunctionDef | cst.ClassDef)
                and child not in parent.decorators
            ):
                generic = scopes.get(parent.type_parameters) if parent.type_parameters else None
                if generic is not None:
                    return generic
            if isinstance(parent, cst.CompFor) and child is parent.iter:
                holder = parents[parent]
                if not isinstance(holder, cst.CompFor):  # the first iterable runs outside
                    child, parent = holder, parents.get(holder)
                    continue
            child, parent = parent, parents.get(parent)
        return self._scope_analysis.module

    def bindings(self, name: str, place: cst.CSTNode, scope: Scope) -> tuple[Binding, ...]:
        """Return what may have bound ``name`` when ``place`` reads it, none for a builtin."""
        owner = scope.owner(name)
        return () if owner is None else self._reaching(owner, name, place, scope)

    def bindings_at(self, name: cst.Name) -> tuple[Binding, ...]:
        """Return what may have bound a name where it is read, none for a builtin."""
        return self.bindings(name.value, name, self.scope_of(name))

    def _reaching(
        self, owner: Scope, name: str, place: cst.CSTNode, scope: Scope
    ) -> tuple[Binding, ...]:
        bindings = owner.bindings[name]
        if len(bindings) == 1 and owner.kind is not ScopeKind.CLASS:
            return tuple(bindings)
        flow = self._flows.get((owner, name))
        if flow is None:
            flow = self._flows[owner, name] = ReachingDefinitions(
                owner, bindings, self._scope_analysis, self._exits
            )
        reaching = flow.reaching(place, scope)
        if not reaching and owner.kind is ScopeKind.CLASS and owner.parent is not None:
            # A class body reads what is around it until it binds the name itself.
            around = owner.parent
            while around.kind is ScopeKind.CLASS and around.parent is not None:
                around = around.parent
            return self.bindings(name, place, around)
        return reaching

    def meaning(self, name: str, place: cst.CSTNode, scope: Scope) -> Meaning | None:
        """Return the imported object of ``name`` at ``place``, None if not certain."""
        owner = scope.owner(name)
        if owner is None:
            return self._from_star(name)
        agreed = self._agreed(self._reaching(owner, name, place, scope))
        if agreed is None or owner.kind is not ScopeKind.MODULE or not self._known_stars():
            return agreed
        last = max(each.order for each in owner.bindings[name])
        later = [self._in_star(star, name) for star in self._stars_with(name, after=last)]
        # Star imports below may bind the name anew, to the same thing or to another.
        return agreed if all(each.names == agreed.names for each in later) else None

    def may_be_rebound_by_star(self, imported: ImportBinding) -> bool:
        """Say whether a later star import may rebind an import's name."""
        if imported.scope.kind is not ScopeKind.MODULE or not self._known_stars():
            return False
        last = max(each.order for each in imported.scope.bindings[imported.local])
        later = (
            self._in_star(each, imported.local)
            for each in self._stars_with(imported.local, after=last)
        )
        return any(each.names != (imported.name,) for each in later)

    def unreadable_stars(self) -> list[ImportBinding]:
        """Return the star imports of modules that cannot be read: they may bind any name."""
        return [self._imports.of[star] for star, names in self._known_stars() if names is None]

    def meaning_of(self, chain: cst.CSTNode) -> Meaning | None:
        """Return what ``of_chain`` does, and keep it.

        Not for questions on the way to an answer, whose own answers may be only half the truth: a
        condition asks what names mean, and what a name means depends on conditions.
        """
        if chain not in self._chains:
            self._chains[chain] = self.of_chain(chain)
        return self._chains[chain]

    def of_chain(self, node: cst.CSTNode) -> Meaning | None:
        """Return what ``name.a.b`` means, None for anything that is no such chain."""
        path: list[str] = []
        while type(node) is cst.Attribute:
            path.append(node.attr.value)
            node = node.value
        if type(node) is not cst.Name:
            return None
        meaning = self.meaning(node.value, node, self.scope_of(node))
        if meaning is None:
            return None
        return self.member(meaning, path[::-1])

    def name_of(self, node: cst.CSTNode) -> str | None:
        """Return the dotted name that ``name.a.b`` means, None where it means no such thing."""
        meaning = self.of_chain(node)
        return None if meaning is None else meaning.name

    def member(self, meaning: Meaning, path: Sequence[str]) -> Meaning:
        """Return what an attribute means, also where it is that of a module of the tree."""
        if not path:
            return meaning
        member = meaning.member(path)
        through = self._imports.through_tree(member.name)
        if not isinstance(through, str):
            return member
        if any(self._imports.through_tree(each) != through for each in member.names):
            return member  # in another branch it is something else: it stays a name of the tree
        return replace(member, name=through, names=(through,))

    @cached_property
    def may_be_imported(self) -> frozenset[str]:
        """All names that are bound to something imported anywhere in the module."""
        found = {each.name for each in self._scope_analysis.import_bindings}
        for _, names in self._known_stars():
            found |= names or frozenset()
        aliases: dict[str, set[str]] = {}
        for scope in self._scope_analysis.all_scopes():
            for binding in (each for bindings in scope.bindings.values() for each in bindings):
                if binding.kind is BindingKind.ASSIGN:
                    value = part_of(binding.value, binding.path)
                    sides = (value.body, value.orelse) if type(value) is cst.IfExp else (value,)
                    for root in map(_root, sides):
                        aliases.setdefault(root or "", set()).add(binding.name)
        waiting = list(found)
        while waiting:
            more = aliases.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return frozenset(found)

    def _agreed(self, reaching: Sequence[Binding]) -> Meaning | None:
        if len(reaching) == 1:
            return self._of_binding(reaching[0])
        if len(reaching) > MAX_BINDINGS:
            return None
        bindings = sorted(reaching, key=lambda each: each.order)
        # `np_utils = None` in a handler: an attribute of it is that of the import.
        bindings = [each for each in bindings if not _is_none(each)] or bindings
        meanings = [(each, self._of_binding(each)) for each in bindings]
        known = [(each, meaning) for each, meaning in meanings if meaning is not None]
        if not known or len(known) < len(meanings):
            return None
        first = known[0][1]
        if len({meaning.names for _, meaning in known}) == 1:
            return first
        for index, (one, _) in enumerate(known):
            for other, _ in known[index + 1 :]:
                if not self._are_alternatives(one.node, other.node):
                    return self._one_of_keras([meaning for _, meaning in known])
        live = [meaning for each, meaning in known if not self._is_dead(each.node)]
        taken = live[0] if len({meaning.name for meaning in live}) == 1 else first
        names = dict.fromkeys(name for _, meaning in known for name in meaning.names)
        return replace(taken, names=tuple(names))

    def _one_of_keras(self, meanings: Sequence[Meaning]) -> Meaning | None:
        """Return what is the same of Keras, whatever decides which root it comes from."""
        names = tuple(dict.fromkeys(name for each in meanings for name in each.names))
        taken = self._oracle.common_name_of(names)
        if taken is None:
            return None
        chosen = next((each for each in meanings if taken in each.names), meanings[0])
        return replace(chosen, name=taken, names=names, confidence=Confidence.LIKELY)

    def _of_binding(self, binding: Binding) -> Meaning | None:
        if binding in self._meanings:
            return self._meanings[binding]
        self._meanings[binding] = None  # `a = b; b = a` must come to an end
        meaning = None
        if binding.kind is BindingKind.IMPORT:
            imported = self._imports.of[binding]
            meaning = Meaning(imported.name, (imported.name,), imported, Confidence.CERTAIN)
        elif binding.kind is BindingKind.ASSIGN:
            value = part_of(binding.value, binding.path)
            if isinstance(value, cst.IfExp):
                meaning = self._of_either(value)
            elif value is not None:
                meaning = self.of_chain(value)
            if meaning is not None:
                meaning = replace(meaning, confidence=Confidence.LIKELY)
        self._meanings[binding] = meaning
        return meaning

    def _of_either(self, choice: cst.IfExp) -> Meaning | None:
        """Return what ``a if condition else b`` means, where that is one thing."""
        sides = [(each, self.of_chain(each)) for each in (choice.body, choice.orelse)]
        known = [(each, meaning) for each, meaning in sides if meaning is not None]
        if len(known) < len(sides):
            return None
        live = [meaning for each, meaning in known if not self._is_dead(each)]
        names = {meaning.name for meaning in live}
        if len(names) == 1:
            return live[0]
        return self._one_of_keras([meaning for _, meaning in known])

    def _from_star(self, name: str) -> Meaning | None:
        stars = self._known_stars()
        holding = [index for index, (_, names) in enumerate(stars) if names and name in names]
        if not holding:
            return None
        last = self._that_binds(name, holding)
        meaning = self._in_star(stars[last][0], name)
        # A later star import of an unknown module may have bound the name anew.
        if any(names is None for _, names in stars[last + 1 :]):
            return replace(meaning, confidence=Confidence.LIKELY)
        return meaning

    def _that_binds(self, name: str, holding: Sequence[int]) -> int:
        """Return the star import that binds a name, of those of modules that had it some day.

        It is the last. What its module has no more on the target, an earlier one may bind there:
        ``Input`` of ``from keras.layers import *`` before ``from keras.models import *``.
        """
        stars = [self._imports.of[self._known_stars()[index][0]] for index in holding]
        names = [f"{star.name}.{name}" for star in stars]
        moved_to = () if len(holding) == 1 else self._oracle.moved_to(names[-1])
        alive = (index for index, each in zip(holding, names, strict=True) if each in moved_to)
        return max(alive, default=holding[-1])

    def _stars_with(self, name: str, *, after: int) -> Iterator[Binding]:
        """Yield the star imports below that bind ``name`` on the target."""
        for star, names in self._known_stars():
            if star.order < after or names is None or name not in names:
                continue
            # What a release had once, and the target has no more, binds nothing there.
            if self._oracle.exists(f"{self._imports.of[star].name}.{name}") is not False:
                yield star

    def _in_star(self, star: Binding, name: str) -> Meaning:
        imported = self._imports.of[star]
        meaning = Meaning(imported.name, (imported.name,), imported, Confidence.CERTAIN)
        return self.member(meaning, [name])

    def _known_stars(self) -> list[tuple[Binding, frozenset[str] | None]]:
        if self._stars is None:
            self._stars = []
            for binding in self._scope_analysis.module.stars:
                star = self._imports.of[binding]
                known = self._imports.star_names(star)
                if known is None:
                    names = self._oracle.star_names(star.name)
                    known = None if names is None else frozenset(names)
                self._stars.append((binding, known))
        return self._stars


def _is_inside(maker: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Say whether ``child`` of the node that makes a scope belongs to that scope."""
    if isinstance(maker, cst.FunctionDef | cst.ClassDef | cst.Lambda):
        return child is maker.body
    return True


def _is_none(binding: Binding) -> bool:
    value = part_of(binding.value, binding.path)
    return (
        binding.kind is BindingKind.ASSIGN and isinstance(value, cst.Name) and value.value == "None"
    )


def _root(node: cst.CSTNode | None) -> str | None:
    while type(node) is cst.Attribute:
        node = node.value
    return node.value if type(node) is cst.Name else None
