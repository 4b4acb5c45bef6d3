"""A user-defined class: its kind, its bases, and which of its members it may define itself."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
from msgspec import Struct, field

from kdoctor.syntax.node_predicates import is_accessor
from kdoctor.syntax.package import ClassInfo
from kdoctor.syntax.scope_analysis import Store
from kdoctor.syntax.scopes import Scope
from kdoctor.value_types import Type


class UserClass(Struct, eq=False):
    """A class of this module, or (``node`` is None) of another module of the tree.

    ``closed``: nothing but ``members`` and the bases' own can be found on an instance; false where
    a base is unknown, or where the class makes attributes in ways that cannot be read off.
    ``keeps`` says of which members even an unknown base is no matter: it stands behind one of
    Keras' own that has them; ``leads`` of which no base is, since that one is the first.
    ``info`` is what is known of an imported class.
    """

    name: str
    type: Type | None
    bases: tuple[UserClass, ...] = ()
    members: frozenset[str] = frozenset()
    closed: bool = True
    node: cst.ClassDef | None = None
    scope: Scope | None = None
    stores: dict[str, list[Store]] = field(default_factory=dict)
    answers: dict[object, UserClass | None] = field(default_factory=dict)
    keeps: Callable[[str], bool] | None = None
    leads: Callable[[str], bool] | None = None
    info: ClassInfo | None = None

    def is_open_to(self, member: str) -> bool:
        """Say whether ``member`` may come from an unknown part of this class."""
        return not self.closed and (self.keeps is None or not self.keeps(member))

    def may_define(self, member: str) -> bool:
        """Say whether ``member`` may come from the user's own code."""
        return self._nearest(_may_define, member) is not None

    def may_override(self, member: str) -> bool:
        """Say whether ``member`` may be defined in the class body, or in a base's.

        What is only assigned to ``self`` does not; of a class in another file that is not known.
        """
        return self._nearest(_may_override, member) is not None

    def definer(self, member: str) -> UserClass | None:
        """Return the nearest class that surely defines ``member``."""
        return self._nearest(_defines, member)

    def _nearest(self, holds: Callable[[UserClass, str], bool], member: str) -> UserClass | None:
        """Return the nearest of the class and its own bases of which something holds.

        Each keeps its answer: of 200 classes that are bases of each other, all would be asked for
        each. A base that is there twice is asked once, or diamonds would have 2^n ways up.
        """
        key = holds, member
        found: UserClass | None = None
        each: UserClass | None = self
        while each is not None:
            if key in each.answers:
                found = each.answers[key] or (each if holds(each, member) else None)
                break
            if holds(each, member):
                found = each
                break
            if each.leads is not None and each.leads(member):
                break
            if len(each.bases) > 1:
                found = next((base for base in each.lineage if holds(base, member)), None)
                break
            each = each.bases[0] if each.bases else None
        # A ring would keep the tree until a collector comes: itself is not among its answers.
        self.answers[key] = None if found is self else found
        return found

    def method(self, name: str) -> cst.FunctionDef | None:
        """Return the one definition of a method in this class itself."""
        bindings = self.scope.bindings.get(name, []) if self.scope is not None else []
        found = [
            each.node
            for each in bindings
            if not (isinstance(each.node, cst.FunctionDef) and is_accessor(each.node))
        ]
        return found[0] if len(found) == 1 and isinstance(found[0], cst.FunctionDef) else None

    @property
    def lineage(self) -> list[UserClass]:
        """The class and its own bases, in the order in which Python looks for a member.

        Each stands before what it is made from, as the bases are listed where that leaves a choice.
        """
        found: dict[int, UserClass] = {}
        waiting: list[tuple[UserClass, bool]] = [(self, False)]
        seen: set[int] = set()
        while waiting:
            each, is_done = waiting.pop()
            if is_done:
                found[id(each)] = each
            elif id(each) not in seen:
                seen.add(id(each))
                waiting.append((each, True))
                waiting += ((base, False) for base in each.bases)
        return [*found.values()][::-1]


def _may_define(own: UserClass, member: str) -> bool:
    return member in own.members or own.is_open_to(member)


def _may_override(own: UserClass, member: str) -> bool:
    return (
        own.is_open_to(member)
        or (member in own.members and own.scope is None)
        or (own.scope is not None and member in own.scope.bindings)
    )


def _defines(own: UserClass, member: str) -> bool:
    return member in own.members
