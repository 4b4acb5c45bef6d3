"""Questions about a call that the scanner can answer, and that decide whether a rewrite holds.

A guard answers yes, no or unknown; only a yes lets the rewrite through, and each guard has a
sentence that says what stood in the way. Guards combine with ``&``, ``|`` and ``~``::

    when=not_none("min_value", "max_value") & context(Context.EAGER)
"""

from __future__ import annotations

import ast
import enum
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.rewrite.binding import Binding
from kdoctor.rewrite.template import Code
from kdoctor.syntax import Context, Kind, Module

# What these return or hold is a value, hardly ever None.
_LIBRARIES = ("keras", "math", "numpy", "tensorflow")
_NUMBER_MAKERS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round", "sum"})
_DISPLAYS = (cst.List, cst.Tuple, cst.ListComp)


class Answer(enum.Enum):
    """What a guard says of one call."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Situation:
    """A use of an old name: where it stands, and what is passed (None where it is not called)."""

    module: Module
    node: cst.CSTNode
    binding: Binding | None

    def value(self, parameter: str) -> cst.BaseExpression | None:
        """Return what is passed for a parameter, None where its default holds."""
        return None if self.binding is None else self.binding.value(parameter)

    def default(self, parameter: str) -> str | None:
        """Return the source of the old default, None where there is none."""
        if self.binding is None:
            return None
        code = self.binding.pattern.parameters[parameter].default
        return code.source() if isinstance(code, Code) else None

    def source(self, parameter: str) -> str | None:
        """Return the source of what is passed, or of the default that holds in its place."""
        node = self.value(parameter)
        return self.default(parameter) if node is None else self.module.source(node)


class Guard(ABC):
    """A question. ``str()`` is stable and goes into the rewrite's id.

    ``parameters`` are those that it asks about; ``pins`` those whose value is known where the
    answer is yes, so that a right side need not read them.
    """

    parameters: frozenset[str] = frozenset()
    pins: frozenset[str] = frozenset()

    @abstractmethod
    def decide(self, situation: Situation) -> Answer:
        """Answer for one use."""

    @abstractmethod
    def obstacles(self, situation: Situation) -> tuple[str, ...]:
        """Return a sentence for each thing that keeps the answer from being yes."""

    def __and__(self, other: Guard) -> Guard:
        return _Every(self, other)

    def __or__(self, other: Guard) -> Guard:
        return _Some(self, other)

    def __invert__(self) -> Guard:
        return _Not(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Question(Guard):
    """A guard of one question, for the cases that the ones below do not cover.

    ``text`` is how it is written, ``sentence`` says what is the matter where the answer is not yes.
    """

    def __init__(
        self,
        text: str,
        sentence: str,
        answer: Callable[[Situation], Answer],
        *,
        parameters: frozenset[str] = frozenset(),
        pins: frozenset[str] = frozenset(),
    ) -> None:
        self.text = text
        self.sentence = sentence
        self.answer = answer
        self.parameters = parameters
        self.pins = pins

    def decide(self, situation: Situation) -> Answer:
        """Answer for one use; a question about arguments is unknown where nothing is called."""
        if self.parameters and situation.binding is None:
            return Answer.UNKNOWN
        return self.answer(situation)

    def obstacles(self, situation: Situation) -> tuple[str, ...]:
        """Return the sentence, unless the answer is yes."""
        return () if self.decide(situation) is Answer.YES else (self.sentence,)

    def __str__(self) -> str:
        return self.text


class _Every(Guard):
    def __init__(self, *guards: Guard) -> None:
        self.guards = guards
        self.parameters = frozenset().union(*(guard.parameters for guard in guards))
        self.pins = frozenset().union(*(guard.pins for guard in guards))

    def decide(self, situation: Situation) -> Answer:
        answers = {guard.decide(situation) for guard in self.guards}
        if Answer.NO in answers:
            return Answer.NO
        return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES

    def obstacles(self, situation: Situation) -> tuple[str, ...]:
        return tuple(text for guard in self.guards for text in guard.obstacles(situation))

    def __str__(self) -> str:
        return " & ".join(
            f"({guard})" if isinstance(guard, _Some) else str(guard) for guard in self.guards
        )


class _Some(Guard):
    def __init__(self, *guards: Guard) -> None:
        self.guards = guards
        self.parameters = frozenset().union(*(guard.parameters for guard in guards))
        self.pins = frozenset(guards[0].pins).intersection(*(guard.pins for guard in guards))

    def decide(self, situation: Situation) -> Answer:
        answers = {guard.decide(situation) for guard in self.guards}
        if Answer.YES in answers:
            return Answer.YES
        return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.NO

    def obstacles(self, situation: Situation) -> tuple[str, ...]:
        if self.decide(situation) is Answer.YES:
            return ()
        return (" and ".join(" and ".join(guard.obstacles(situation)) for guard in self.guards),)

    def __str__(self) -> str:
        return " | ".join(str(guard) for guard in self.guards)


class _Not(Guard):
    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.parameters = guard.parameters

    def decide(self, situation: Situation) -> Answer:
        match self.guard.decide(situation):
            case Answer.YES:
                return Answer.NO
            case Answer.NO:
                return Answer.YES
        return Answer.UNKNOWN

    def obstacles(self, situation: Situation) -> tuple[str, ...]:
        answer = self.decide(situation)
        if answer is Answer.YES:
            return ()
        return (f"{'it holds' if answer is Answer.NO else 'it may hold'} that {self.guard}",)

    def __str__(self) -> str:
        inner = str(self.guard)
        return f"~({inner})" if isinstance(self.guard, _Every | _Some) else f"~{inner}"


def not_none(*parameters: str) -> Guard:
    """Each of the parameters has a value that cannot be None."""

    def answer(parameter: str) -> Callable[[Situation], Answer]:
        return lambda situation: _cannot_be_none(situation, parameter)

    return _each("not_none", parameters, "`{}` may be None", answer)


def given(*parameters: str) -> Guard:
    """Each of the parameters is passed."""
    return _each(
        "given",
        parameters,
        "`{}` is not passed",
        lambda name: lambda situation: _answer(situation.value(name) is not None),
    )


def not_given(*parameters: str) -> Guard:
    """None of the parameters is passed."""
    return _each(
        "not_given",
        parameters,
        "`{}` is passed",
        lambda name: lambda situation: _answer(situation.value(name) is None),
    )


def literal(*parameters: str) -> Guard:
    """Each of the parameters is a number, text, True, False, None, or a display of such."""
    return _each(
        "literal",
        parameters,
        "`{}` is not a literal",
        lambda name: lambda situation: _answer(_literal(situation.source(name)) is not None),
    )


def equals(parameter: str, value: object) -> Guard:
    """The parameter is, or is by default, the literal ``value``."""
    return _value_in("equals", parameter, (value,), f"`{parameter}` is not known to be {value!r}")


def one_of(parameter: str, *values: object) -> Guard:
    """The parameter is, or is by default, one of the literal ``values``."""
    choices = ", ".join(map(repr, values))
    return _value_in(
        "one_of", parameter, values, f"`{parameter}` is not known to be one of {choices}"
    )


def display(parameter: str) -> Guard:
    """The parameter is written as a list or tuple: ``[a, b]``."""
    return Question(
        f"display({parameter!r})",
        f"`{parameter}` is not written as a list",
        lambda situation: _answer(isinstance(situation.value(parameter), _DISPLAYS)),
        parameters=frozenset({parameter}),
    )


def is_lambda(parameter: str) -> Guard:
    """The parameter is written as a ``lambda``."""
    return Question(
        f"is_lambda({parameter!r})",
        f"`{parameter}` is not written as a lambda",
        lambda situation: _answer(isinstance(situation.value(parameter), cst.Lambda)),
        parameters=frozenset({parameter}),
    )


def is_kind(parameter: str, *kinds: Kind) -> Guard:
    """The parameter is known to be an object of one of these kinds."""
    wanted = " or ".join(kind.value for kind in kinds)

    def answer(situation: Situation) -> Answer:
        node = situation.value(parameter)
        found = None if node is None else situation.module.type_of(node)
        return Answer.UNKNOWN if found is None else _answer(found.kind in kinds)

    return Question(
        f"is_kind({', '.join([repr(parameter), *(f'Kind.{kind.name}' for kind in kinds)])})",
        f"`{parameter}` is not known to be a {wanted}",
        answer,
        parameters=frozenset({parameter}),
    )


def context(*contexts: Context) -> Guard:
    """The line runs in one of these contexts."""

    def answer(situation: Situation) -> Answer:
        found = situation.module.context_of(situation.node)
        if found in contexts:
            return Answer.YES
        return Answer.UNKNOWN if found is Context.UNKNOWN else Answer.NO

    names = " or ".join(each.name.lower().replace("_", " ") for each in contexts)
    return Question(
        f"context({', '.join(f'Context.{each.name}' for each in contexts)})",
        f"the line is not known to run as {names} code",
        answer,
    )


def statement_position() -> Guard:
    """The call is a statement of its own: nobody reads its result."""
    return Question(
        "statement_position()",
        "the result of the call is used",
        lambda situation: _answer(isinstance(situation.module.parent(situation.node), cst.Expr)),
    )


def indexed() -> Guard:
    """The result is subscripted on the spot with one index: ``K.shape(x)[0]``."""

    def answer(situation: Situation) -> Answer:
        parent = situation.module.parent(situation.node)
        if not isinstance(parent, cst.Subscript) or parent.value is not situation.node:
            return Answer.NO
        return _answer(len(parent.slice) == 1 and isinstance(parent.slice[0].slice, cst.Index))

    return Question("indexed()", "the result of the call is not indexed on the spot", answer)


def _each(
    name: str,
    parameters: tuple[str, ...],
    sentence: str,
    question: Callable[[str], Callable[[Situation], Answer]],
) -> Guard:
    """Ask one question of each parameter; the sentences name those that fail."""
    atoms = [
        Question(
            f"{name}({parameter!r})",
            sentence.format(parameter),
            question(parameter),
            parameters=frozenset({parameter}),
        )
        for parameter in parameters
    ]
    return atoms[0] if len(atoms) == 1 else _Every(*atoms)


def _value_in(name: str, parameter: str, values: tuple[object, ...], sentence: str) -> Guard:
    # Types count: `1 == True`, and `axis=True` is not `axis=1`.
    wanted = {(type(value), repr(value)) for value in values}

    def answer(situation: Situation) -> Answer:
        found = _literal(situation.source(parameter))
        if found is None:
            return Answer.UNKNOWN
        return _answer((type(found.value), repr(found.value)) in wanted)

    return Question(
        f"{name}({', '.join(map(repr, (parameter, *values)))})",
        sentence,
        answer,
        parameters=frozenset({parameter}),
        pins=frozenset({parameter}),
    )


@dataclass(frozen=True, slots=True)
class _Literal:
    value: object


def _literal(source: str | None) -> _Literal | None:
    try:
        return None if source is None else _Literal(ast.literal_eval(f"({source})"))
    except (ValueError, SyntaxError, TypeError):
        return None


def _answer(*conditions: bool) -> Answer:
    return Answer.YES if all(conditions) else Answer.NO


def _cannot_be_none(situation: Situation, parameter: str) -> Answer:
    node = situation.value(parameter)
    if node is not None:
        return _is_a_value(node, situation.module)
    return _answer(situation.default(parameter) not in (None, "None"))


def _is_a_value(node: cst.BaseExpression, module: Module) -> Answer:
    """Say whether an expression cannot be None, as far as its form tells."""
    match node:
        case cst.Name(value="None"):
            return Answer.NO
        case cst.Name(value="True" | "False"):
            return Answer.YES
        case cst.IfExp():
            answers = {_is_a_value(node.body, module), _is_a_value(node.orelse, module)}
            return answers.pop() if len(answers) == 1 else Answer.UNKNOWN
        case cst.BooleanOperation():
            found = _is_a_value(node.right, module)
            return found if isinstance(node.operator, cst.Or) else Answer.UNKNOWN
        case cst.Call(func=cst.Name(value=name) as function) if name in _NUMBER_MAKERS:
            return Answer.YES if module.scope_of(function).owner(name) is None else Answer.UNKNOWN
        case cst.Call():
            return _from_a_library(node.func, module)
        case cst.Name() | cst.Attribute():
            return _from_a_library(node, module)
        case cst.Subscript() | cst.Await() | cst.NamedExpr() | cst.Yield():
            return Answer.UNKNOWN
    return Answer.YES  # literals, displays, arithmetic, comparisons, lambdas


def _from_a_library(node: cst.BaseExpression, module: Module) -> Answer:
    name = module.qualified(node)
    if name is None:
        return Answer.UNKNOWN
    known = split_root(name) is not None or name.partition(".")[0] in _LIBRARIES
    return Answer.YES if known else Answer.UNKNOWN
