"""`hasattr(optimizer, "lr")` is false in Keras 3: the code behind it no longer runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.queries import Call, builtins
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.behaviour._asked_for import (
    Outcome,
    does_something,
    is_fixed,
    outcomes,
)
from kdoctor.rules.members._advice import advice_for
from kdoctor.rules.members._error_owner import last_release_with, owner_in_words, symbol
from kdoctor.rules.members._member_rewrites import KINDS, ROWS
from kdoctor.rules.members._removed_members import GONE
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind, Type

_OLD_RATE, _RATE = "lr", "learning_rate"
_MEMBER_OF_SELF = pattern(r"\bself\.(\w+)")
# Keras 3 does by itself, or has no need of, what was done with these: to pass it over is right.
_NOT_NEEDED = frozenset({
    "dynamic", "get_updates_for", "graph", "name_scope", "op", "state_updates", "submodules",
    "updates", "uses_learning_phase",
})  # fmt: skip
_ALL = frozenset(
    each
    for members in GONE.values()
    for each in members
    if not each.startswith("_") and each not in _NOT_NEEDED
)
_NO_FIX = "kdoctor cannot tell what should happen without it"


def _is_gone(form: object) -> bool:
    return isinstance(form, str) and form in _ALL


class _Question(Struct, frozen=True):
    """``hasattr(owner, "member")``, or ``getattr`` with a default, and what follows from it."""

    call: cst.Call
    owner: cst.BaseExpression
    name: cst.SimpleString
    outcomes: tuple[Outcome, ...]

    @property
    def member(self) -> str:
        """The name that is asked for."""
        return str(self.name.raw_value)

    @property
    def asks(self) -> bool:
        """Whether it is ``hasattr``."""
        return len(self.call.args) == len(("owner", "name"))


@rule(
    "KD481",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=builtins("hasattr", "getattr").passing("name", place=1, where=_is_gone),
)
def check(call: Call) -> Finding | None:
    """Report each question of which the answer has changed and is not provided for."""
    module, facts = call.module, call.facts
    question = next((each for each in _questions(module) if each.call is call.node), None)
    if question is None:
        return None
    mentions = [
        each for each in _mentions(module, question) if _is_in(module, each.node, question.outcomes)
    ]
    owner = _owner(module, question, mentions)
    if owner is None or question.member not in GONE.get(owner.kind, ()):
        return None
    if last_release_with(facts, owner, question.member) is None:
        return None
    new = _successors(owner, question.member)
    skipped = [
        each
        for outcome in question.outcomes
        for part in outcome.passed_over
        for each in descendants(part)
    ]
    if question.asks and not mentions and not _are_used(module, skipped, question, new):
        return None  # a version check by other means, or only asked
    if any(does_something(part) for each in question.outcomes for part in each.instead):
        return None
    others = _other_names(module, question)
    if any(last_release_with(facts, owner, each) is None for each in others):
        return None  # it asks for a name that is there, too
    if _is_used_beside(module, question, new, frozenset(skipped)):
        return None
    return _finding(call, owner, question, mentions)


@once
def _questions(module: Module) -> tuple[_Question, ...]:
    return tuple(_asked(module))


def _asked(module: Module) -> Iterator[_Question]:
    for node in module.nodes(cst.Call):
        match node:
            case cst.Call(
                func=cst.Name(value="hasattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name)],
            ) if name.raw_value in _ALL:
                yield _Question(node, owner, name, tuple(outcomes(module, node, False)))
            case cst.Call(
                func=cst.Name(value="getattr"),
                args=[
                    cst.Arg(value=owner),
                    cst.Arg(value=cst.SimpleString() as name),
                    cst.Arg(value=default),
                ],
            ) if name.raw_value in _ALL and is_fixed(default):
                found = tuple(outcomes(module, node, literal(default)))
                yield _Question(node, owner, name, found)


def _owner(
    module: Module, question: _Question, mentions: Sequence[MemberUse | MemberStore]
) -> Type | None:
    """Return what is asked, None where that is not known or may be given such a member."""
    owner = module.type_of(question.owner)
    if owner is None or question.member in _defined(module) or _is_given(module, question.member):
        return None
    if mentions:
        return None if any(map(_is_defined, mentions)) else owner
    known = module.oracle.class_type(owner.qualified) if owner.qualified else None
    if owner.cls is not None and (known is None or known.cls != owner.cls):
        return None  # a class of the user's own, or one that is not known
    return owner


def _is_defined(mention: MemberUse | MemberStore) -> bool:
    """Say whether the user's own class may have the member, in front of any assignment."""
    is_assigned = isinstance(mention, MemberUse) and mention.is_assigned
    return mention.owner_defines and not is_assigned


def _is_given(module: Module, member: str) -> bool:
    """Say whether something gets such an attribute without being asked for it first."""
    asked = [each for each in _questions(module) if each.member == member]
    return any(
        each.member == member
        and not any(_is_in(module, each.node, question.outcomes) for question in asked)
        for each in module.member_stores
    )


@once
def _defined(module: Module) -> frozenset[str]:
    """Return what classes of the file define in their bodies."""
    found: set[str] = set()
    for each in module.nodes(cst.ClassDef):
        found.update(module.scope_of(each.body).bindings)
    return frozenset(found)


def _function(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """Return the function around a node, else the module."""
    functions = (e for e in module.ancestors(node) if isinstance(e, cst.FunctionDef))
    return next(functions, module.tree)


def _mentions(module: Module, question: _Question) -> Iterator[MemberUse | MemberStore]:
    """Yield what reads or sets that member of that object in the same function."""
    written, function = module.source(question.owner), _function(module, question.call)
    stores = (each for each in module.member_stores if each.member == question.member)
    places: list[MemberUse | MemberStore] = [*module.members_named(question.member), *stores]
    for each in places:
        if module.source(each.node.value) == written and _function(module, each.node) is function:
            yield each


def _is_in(module: Module, node: cst.CSTNode, found: Sequence[Outcome]) -> bool:
    """Say whether a node is among what is passed over."""
    above = {node, *module.ancestors(node)}
    return any(part in above for each in found for part in each.passed_over)


def _are_used(
    module: Module,
    nodes: Iterable[cst.CSTNode],
    question: _Question,
    members: Collection[str],
) -> bool:
    """Say whether code uses one of some members of what is asked: so it does after other fixes."""
    written = module.source(question.owner)
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value in members
        and module.source(each.value) == written
        for each in nodes
    )


def _other_names(module: Module, question: _Question) -> Iterator[str]:
    """Yield the other members that the same function asks for, or sets, of the same object."""
    written = module.source(question.owner)
    for each in descendants(_function(module, question.call)):
        match each:
            case cst.Call(
                func=cst.Name(value="hasattr" | "getattr" | "setattr"),
                args=[cst.Arg(value=asked), cst.Arg(value=cst.SimpleString() as name), *_],
            ) if name.raw_value != question.member and module.source(asked) == written:
                yield str(name.raw_value)


def _is_used_beside(
    module: Module, question: _Question, new: Collection[str], skipped: Collection[cst.CSTNode]
) -> bool:
    """Say whether the function uses what stands in for the member, whatever the answer.

    A module does many things: that it uses the new name somewhere tells nothing.
    """
    function = _function(module, question.call)
    if function is module.tree:
        return False
    for each in descendants(function):
        match each:
            case cst.Attribute(attr=cst.Name(value=member)):
                is_new = member in new
            case cst.SimpleString():
                is_new = each.raw_value in new
            case _:
                continue
        if is_new and each not in skipped:
            return True
    return False


def _successors(owner: Type, member: str) -> frozenset[str]:
    """Return the members that are written instead of one that is gone."""
    if (owner.kind, member) == (Kind.OPTIMIZER, _OLD_RATE):
        return frozenset({_RATE, f"_{_RATE}"})
    return frozenset(
        new
        for row in ROWS
        if row.member == member and owner.kind in KINDS[row.owner]
        for new in _MEMBER_OF_SELF.findall(row.row.right)
    )


def _finding(
    call: Call, owner: Type, question: _Question, mentions: Sequence[MemberUse | MemberStore]
) -> Finding:
    member = question.member
    is_rate = (owner.kind, member) == (Kind.OPTIMIZER, _OLD_RATE)
    effect = (
        f"`{call.source(call.node)}` is always false: the code behind it is skipped"
        if question.asks
        else f"this always returns the default, `{call.source(call.node.args[2].value)}`"
    )
    return call.finding(
        f"{owner_in_words(owner)} no longer has `{member}`: {effect}",
        at=question.name,
        symbol=symbol(owner, member),
        help=f"Use `{_RATE}`." if is_rate else advice_for(owner.kind, member).help,
        fix=_renamed(call, question, mentions) if is_rate else NoFix(_NO_FIX),
    )


def _renamed(
    call: Call, question: _Question, mentions: Sequence[MemberUse | MemberStore]
) -> Fix | NoFix:
    """Ask for the new name, and use it in what depends on the answer."""
    span, name = call.module.span(question.name), question.name
    inside = Span(span.start + len(name.prefix) + len(name.quote), span.end - len(name.quote))
    places = {inside, *(call.module.span(each.node.attr) for each in mentions)}
    return call.fix(
        f"Check for `{_RATE}` instead of `{_OLD_RATE}`",
        *(Edit(each, (_RATE,)) for each in sorted(places)),
    )
