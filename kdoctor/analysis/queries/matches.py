"""Matches: what a query found, with all that a rule needs to report it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, value_of
from kdoctor.analysis.facts import Proven, TargetFacts
from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.analysis.queries.forms import form_in
from kdoctor.model import Confidence, Edit, Finding, Fix, ImportNeed, NoFix, Place, Severity, Span
from kdoctor.syntax import MemberStore, MemberUse, Module, Reference
from kdoctor.value_types import Type

M = TypeVar("M", bound="Match")
M_co = TypeVar("M_co", bound="Match", covariant=True)
Where = Callable[[object], bool]
"""A question about the form of a value: see ``forms``."""


class Reporter(Protocol):
    """The rule that looks: it makes the findings and rates the fixes."""

    def finding(  # noqa: PLR0913 - the parts of a finding, by keyword
        self,
        place: Place,
        message: str,
        *,
        symbol: str,
        confidence: Confidence,
        severity: Severity | None = None,
        help: str = "",  # noqa: A002 - the word of ``Finding``
        fix: Fix | NoFix,
    ) -> Finding:
        """Return a finding of the rule."""

    def fix(  # noqa: PLR0913 - the parts of a fix, by keyword
        self,
        title: str,
        *edits: Edit | NoFix,
        imports: Iterable[ImportNeed | None] = (),
        drops: Iterable[Span] = (),
        unsafe_because: str = "",
        proven_by: Iterable[Proven] | None = None,
        facts: TargetFacts | None = None,
    ) -> Fix | NoFix:
        """Return a fix, rated by the examples of the rule."""


class Finds(Protocol[M_co]):
    """A query, as a match needs it."""

    def find(self, module: Module, facts: TargetFacts) -> Iterator[M_co]:
        """Yield the candidates."""


class Match:
    """A place in a file that a query found."""

    def __init__(
        self,
        module: Module,
        facts: TargetFacts,
        node: cst.CSTNode,
        *,
        symbol: str,
        confidence: Confidence,
    ) -> None:
        self.module = module
        self.facts = facts
        self.node = node
        self.symbol = symbol
        self.confidence = confidence
        self.rule: Reporter  # bound by the rule that looks

    def finding(  # noqa: PLR0913 - the parts of a finding, by keyword
        self,
        message: str,
        *,
        fix: Fix | NoFix,
        at: cst.CSTNode | None = None,
        symbol: str = "",
        help: str = "",  # noqa: A002 - the word of ``Finding``
        confidence: Confidence | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding at the match, or ``at`` another node."""
        return self.rule.finding(
            self.module.place(self.node if at is None else at),
            message,
            symbol=symbol or self.symbol,
            confidence=confidence or self.confidence,
            severity=severity,
            help=help,
            fix=fix,
        )

    def fix(
        self,
        title: str,
        *edits: Edit | NoFix,
        imports: Iterable[ImportNeed | None] = (),
        drops: Iterable[Span] = (),
        unsafe_because: str = "",
        proven_by: Iterable[Proven] | None = None,
    ) -> Fix | NoFix:
        """Return a fix, safe where the rule's examples were run and held.

        Where one of the edits cannot be made, that is the answer.
        """
        return self.rule.fix(
            title,
            *edits,
            imports=imports,
            drops=drops,
            unsafe_because=unsafe_because,
            proven_by=proven_by,
            facts=self.facts,
        )

    def find(self, query: Finds[M]) -> Iterator[M]:
        """Yield what another query finds in the file, for the same rule."""
        for each in query.find(self.module, self.facts):
            each.rule = self.rule
            yield each

    def source(self, node: cst.CSTNode) -> str:
        """Return the text of a node."""
        return self.module.source(node)


class File(Match):
    """A whole file, for rules that follow values through it."""

    def __init__(self, module: Module, facts: TargetFacts) -> None:
        super().__init__(
            module, facts, module.tree, symbol="", confidence=Confidence.LIKELY
        )  # fmt: skip


class Call(Match):
    """A call: of a method, of a class, of a function.

    ``name`` is the dotted name of what is called, as far as it is known.
    ``owner`` is what the method is called on, or what is called itself, ``made`` what the class
    makes; the other is None. ``use`` and ``reference`` are the method or the name as it is written.
    """

    node: cst.Call

    def __init__(  # noqa: PLR0913 - the parts of a call, by keyword
        self,
        module: Module,
        facts: TargetFacts,
        node: cst.Call,
        *,
        use: MemberUse | None = None,
        reference: Reference | None = None,
        made: Type | None = None,
        applied: Type | None = None,
    ) -> None:
        source = use or reference
        name = reference.name if reference is not None else ""
        owner = use.owner if use is not None else applied
        if owner is not None:
            method = "__call__" if use is None else use.member
            name = f"keras.{owner.cls or owner.kind.capitalize()}.{method}"
        confidence = Confidence.LIKELY if source is None else source.confidence
        super().__init__(module, facts, node, symbol=name, confidence=confidence)
        self.call = node
        self.name = name
        self.use = use
        self.reference = reference
        self.owner = owner
        self.made = made

    @property
    def leaf(self) -> str:
        """The method, or the last name of what is called, as it was imported."""
        return self.name.rpartition(".")[2]

    @property
    def cls(self) -> str:
        """The class of what is made, or of what the method is called on; "" if not known."""
        found = self.made or self.owner
        return (found and found.cls) or ""

    @property
    def is_hidden(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` hide some arguments."""
        return is_hidden(self.call)

    def argument(self, name: str, place: int | None = None) -> cst.Arg | None:
        """Return the argument of this keyword, or at this place (from 0)."""
        return argument(self.call, name, place)

    def given(self, name: str) -> cst.Arg | None:
        """Return the argument of this parameter, by keyword or where the target has it."""
        signature = self.facts.signature(self.name)
        names = [each.name for each in signature.parameters] if signature else []
        return self.argument(name, names.index(name)) if name in names else None

    def value(self, name: str, place: int | None = None) -> cst.BaseExpression | None:
        """Return what is passed, for a name with one value that value."""
        given = self.argument(name, place)
        return None if given is None else value_of(self.module, given.value)

    def passes(self, name: str, place: int | None = None, *, where: Where | None = None) -> bool:
        """Say whether it passes this argument, of whose form ``where`` holds."""
        value = self.value(name, place)
        return value is not None and (where is None or where(form_in(self.module, value)))

    def form(self, value: cst.BaseExpression) -> object:
        """Return the form of what is passed, for a name with one value of that value."""
        return form_in(self.module, value_of(self.module, value))

    def takes(self, name: str) -> bool:
        """Say whether what is called has a parameter of this name on the target."""
        signature = self.facts.signature(self.name)
        return signature is not None and signature.parameter(name) is not None


class Argument(Call):
    """An argument of a call: ``node`` is what is passed, ``call`` the call.

    ``keyword`` is its keyword as the query has it, "" of one that was found by its form alone.
    """

    node: cst.BaseExpression  # type: ignore[assignment]

    def __init__(self, found: Call, name: str, given: cst.Arg) -> None:
        self.__dict__.update(found.__dict__)
        self.symbol = f"{found.name}({name})"
        self.call = found.call
        self.keyword = name
        self.arg = given
        self.node = given.value

    @property
    def value_node(self) -> cst.BaseExpression:
        """What is passed, for a name with one value that value."""
        return value_of(self.module, self.arg.value)


class Read(Match):
    """A read of a member; ``called`` is its call, if it is called."""

    node: cst.Attribute

    def __init__(self, module: Module, facts: TargetFacts, use: MemberUse) -> None:
        owner = use.owner.cls or use.owner.kind.capitalize()
        super().__init__(
            module, facts, use.node, symbol=f"{owner}.{use.member}", confidence=use.confidence
        )
        self.use = use
        self.owner = use.owner
        self.member = use.member
        self.called = use.called


class Store(Match):
    """An assignment to a member, or its deletion."""

    node: cst.Attribute

    def __init__(self, module: Module, facts: TargetFacts, store: MemberStore) -> None:
        owner = store.owner.cls or store.owner.kind.capitalize()
        super().__init__(
            module, facts, store.node, symbol=f"{owner}.{store.member}", confidence=store.confidence
        )
        self.store = store
        self.owner = store.owner
        self.member = store.member


class Class(Match):
    """A class of the user's own, with its methods by name."""

    node: cst.ClassDef

    def __init__(self, module: Module, facts: TargetFacts, node: cst.ClassDef) -> None:
        super().__init__(
            module, facts, node, symbol=node.name.value, confidence=Confidence.LIKELY
        )  # fmt: skip
        self.methods = methods_in(node)


class Method(Match):
    """A method that a class of the user's own defines: ``owner`` is the class."""

    node: cst.FunctionDef

    def __init__(self, owner: Class, node: cst.FunctionDef) -> None:
        super().__init__(
            owner.module,
            owner.facts,
            node,
            symbol=f"{owner.symbol}.{node.name.value}",
            confidence=owner.confidence,
        )
        self.owner = owner
        self.name = node.name.value


class Name(Match):
    """A use of something imported: ``reference`` tells its dotted name and its call, if any."""

    def __init__(self, module: Module, facts: TargetFacts, reference: Reference) -> None:
        super().__init__(
            module,
            facts,
            reference.node,
            symbol=reference.name,
            confidence=reference.confidence,
        )
        self.reference = reference
        self.name = reference.name
        self.call = reference.call
