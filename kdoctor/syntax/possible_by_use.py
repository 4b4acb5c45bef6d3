"""What names and attributes may hold, by what is called of them: the counterpart of ``by_use``."""

from __future__ import annotations

import ast

from kdoctor.kinds import Type
from kdoctor.syntax.knowledge import Knowledge
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.sketch import Bound, Sketch

_HOLDS = frozenset({BindingKind.ASSIGN, BindingKind.PARAMETER, BindingKind.LOOP, BindingKind.WITH})


class PossibleByUse:
    """Answers for one source."""

    def __init__(self, sketch: Sketch, knowledge: Knowledge) -> None:
        self.of_bindings: dict[Bound, set[Type]] = {}
        self.of_members: dict[str, set[Type]] = {}  # by attribute
        for call, space in sketch.asked:
            function = call.func
            keywords = frozenset(each.arg for each in call.keywords if each.arg)
            told = knowledge.receiver_type(function.attr, keywords)
            if told is None:
                continue
            match function.value:
                case ast.Name(id=name):
                    for bound in sketch.bindings(name, space):
                        if bound.kind in _HOLDS:
                            self.of_bindings.setdefault(bound, set()).add(told)
                case ast.Attribute(attr=member):
                    self.of_members.setdefault(member, set()).add(told)
