"""Guards: conditions of a rewrite, answered yes, no or unknown for a call.

Only a yes lets a rewrite through, and each guard has a sentence that says what stood in the way.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable

import libcst as cst
from msgspec import Struct

from kdoctor.rewrite.binding import CallBinding
from kdoctor.rewrite.pattern import Code
from kdoctor.syntax import Module


class GuardAnswer(enum.Enum):
    """A guard's answer for one call."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, *conditions: bool) -> GuardAnswer:
        """Return yes where all conditions hold, else no."""
        return cls.YES if all(conditions) else cls.NO


class UseSite(Struct, frozen=True):
    """A use of an old name: its node, and its arguments (None if not called)."""

    module: Module
    node: cst.CSTNode
    binding: CallBinding | None

    def value(self, parameter: str) -> cst.BaseExpression | None:
        """Return the argument for a parameter, None if its default applies."""
        return None if self.binding is None else self.binding.value(parameter)

    def default(self, parameter: str) -> str | None:
        """Return the source of the old default, None where there is none."""
        if self.binding is None:
            return None
        code = self.binding.pattern.parameters[parameter].default
        return code.source() if isinstance(code, Code) else None

    def expression(self, parameter: str) -> cst.BaseExpression | None:
        """Return the argument for a parameter, else the old default, None where neither is."""
        node = self.value(parameter)
        if node is None:
            default = self.default(parameter)
            return None if default is None else cst.parse_expression(default)
        return node

    def source(self, parameter: str) -> str | None:
        """Return the source of the argument, or of the default that applies."""
        node = self.value(parameter)
        return self.default(parameter) if node is None else self.module.source(node)


class Guard(ABC):
    """A condition. ``str()`` is stable and part of the rewrite's id.

    ``parameters`` are those that it asks about; ``pins`` those whose value is known where the
    answer is yes, so that a right side need not read them.
    """

    parameters: frozenset[str] = frozenset()
    pins: frozenset[str] = frozenset()

    @abstractmethod
    def decide(self, use_site: UseSite) -> GuardAnswer:
        """Answer for one use."""

    @abstractmethod
    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        """Return a sentence for each reason why the answer is not yes."""

    @property
    def condition(self) -> str:
        """What is asked of a use, "" where the answer is always yes. No id is made of it."""
        return str(self)

    def __and__(self, other: Guard) -> Guard:
        return every(self, other)

    def __or__(self, other: Guard) -> Guard:
        return _Some(self, other)

    def __invert__(self) -> Guard:
        return _Not(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Question(Guard):
    """A guard with its own predicate, for what the predefined ones do not cover.

    ``text`` is how it is written, ``sentence`` says what is the matter where the answer is not yes.
    """

    def __init__(
        self,
        text: str,
        sentence: str,
        answer: Callable[[UseSite], GuardAnswer],
        *,
        parameters: frozenset[str] = frozenset(),
        pins: frozenset[str] = frozenset(),
    ) -> None:
        self.text = text
        self.sentence = sentence
        self.answer = answer
        self.parameters = parameters
        self.pins = pins

    @property
    def condition(self) -> str:
        """How it is written; without a sentence there is nothing that may be the matter."""
        return self.text if self.sentence else ""

    def decide(self, use_site: UseSite) -> GuardAnswer:
        """Answer for one use; a question about arguments is unknown where nothing is called."""
        if self.parameters and use_site.binding is None:
            return GuardAnswer.UNKNOWN
        return self.answer(use_site)

    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        """Return the sentence, unless the answer is yes."""
        return () if self.decide(use_site) is GuardAnswer.YES else (self.sentence,)

    def __str__(self) -> str:
        return self.text


class _Every(Guard):
    def __init__(self, *guards: Guard) -> None:
        self.guards = guards
        self.parameters = frozenset().union(*(guard.parameters for guard in guards))
        self.pins = frozenset().union(*(guard.pins for guard in guards))

    def decide(self, use_site: UseSite) -> GuardAnswer:
        answers = {guard.decide(use_site) for guard in self.guards}
        if GuardAnswer.NO in answers:
            return GuardAnswer.NO
        return GuardAnswer.UNKNOWN if GuardAnswer.UNKNOWN in answers else GuardAnswer.YES

    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        return tuple(text for guard in self.guards for text in guard.obstacles(use_site))

    @property
    def condition(self) -> str:
        """The conditions of those that ask something."""
        asking = [guard for guard in self.guards if guard.condition]
        return str(every(*asking)) if asking else ""

    def __str__(self) -> str:
        return " & ".join(
            f"({guard})" if isinstance(guard, _Some) else str(guard) for guard in self.guards
        )


class _Some(Guard):
    def __init__(self, *guards: Guard) -> None:
        self.guards = guards
        self.parameters = frozenset().union(*(guard.parameters for guard in guards))
        self.pins = frozenset(guards[0].pins).intersection(*(guard.pins for guard in guards))

    def decide(self, use_site: UseSite) -> GuardAnswer:
        answers = {guard.decide(use_site) for guard in self.guards}
        if GuardAnswer.YES in answers:
            return GuardAnswer.YES
        return GuardAnswer.UNKNOWN if GuardAnswer.UNKNOWN in answers else GuardAnswer.NO

    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        if self.decide(use_site) is GuardAnswer.YES:
            return ()
        return (" and ".join(" and ".join(guard.obstacles(use_site)) for guard in self.guards),)

    def __str__(self) -> str:
        return " | ".join(str(guard) for guard in self.guards)


class _Not(Guard):
    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.parameters = guard.parameters

    def decide(self, use_site: UseSite) -> GuardAnswer:
        match self.guard.decide(use_site):
            case GuardAnswer.YES:
                return GuardAnswer.NO
            case GuardAnswer.NO:
                return GuardAnswer.YES
        return GuardAnswer.UNKNOWN

    def obstacles(self, use_site: UseSite) -> tuple[str, ...]:
        answer = self.decide(use_site)
        if answer is GuardAnswer.YES:
            return ()
        met = "is not met" if answer is GuardAnswer.NO else "may not be met"
        return (f"the condition `{self}` {met}",)

    def __str__(self) -> str:
        inner = str(self.guard)
        return f"~({inner})" if isinstance(self.guard, _Every | _Some) else f"~{inner}"


def every(*guards: Guard) -> Guard:
    """Return the conjunction of guards."""
    return guards[0] if len(guards) == 1 else _Every(*guards)
