"""Predefined guards: questions about a call's arguments and context.

They combine with ``&``, ``|`` and ``~``::

    when=not_none("min_value", "max_value") & context(Context.EAGER)
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
from msgspec import Struct

from kdoctor.keras_api import split_root
from kdoctor.rewrite.guard_base import Guard, GuardAnswer, Question, UseSite, every
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal_value_in
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Context, Kind

__all__ = [
    "Guard",
    "GuardAnswer",
    "Question",
    "UseSite",
    "context",
    "display",
    "equals",
    "given",
    "indexed",
    "is_kind",
    "is_lambda",
    "literal",
    "not_given",
    "not_none",
    "of_value",
    "one_of",
    "statement_position",
]

# What these return or hold is a value, hardly ever None.
_LIBRARIES = ("keras", "math", "numpy", "tensorflow")
NUMBER_MAKERS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round", "sum"})
_DISPLAYS = (cst.List, cst.Tuple, cst.ListComp)


def not_none(*parameters: str) -> Guard:
    """Each of the parameters has a value that cannot be None."""

    def answer(parameter: str) -> Callable[[UseSite], GuardAnswer]:
        return lambda use_site: _cannot_be_none(use_site, parameter)

    return _each("not_none", parameters, "`{}` may be None", answer)


def given(*parameters: str) -> Guard:
    """Each of the parameters is passed."""
    return _each(
        "given",
        parameters,
        "`{}` is not passed",
        lambda name: lambda use_site: GuardAnswer.of(use_site.value(name) is not None),
    )


def not_given(*parameters: str) -> Guard:
    """None of the parameters is passed."""
    return _each(
        "not_given",
        parameters,
        "`{}` is passed",
        lambda name: lambda use_site: GuardAnswer.of(use_site.value(name) is None),
    )


def literal(*parameters: str) -> Guard:
    """Each of the parameters is a number, text, True, False, None, or a display of such."""
    return _each(
        "literal",
        parameters,
        "`{}` is not a literal",
        lambda name: lambda use_site: GuardAnswer.of(_literal(use_site.source(name)) is not None),
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
        lambda use_site: GuardAnswer.of(isinstance(use_site.value(parameter), _DISPLAYS)),
        parameters=frozenset({parameter}),
    )


def is_lambda(parameter: str) -> Guard:
    """The parameter is written as a ``lambda``."""
    return Question(
        f"is_lambda({parameter!r})",
        f"`{parameter}` is not written as a lambda",
        lambda use_site: GuardAnswer.of(isinstance(use_site.value(parameter), cst.Lambda)),
        parameters=frozenset({parameter}),
    )


def is_kind(parameter: str, *kinds: Kind) -> Guard:
    """The parameter is known to be an object of one of these kinds."""
    wanted = " or ".join(kind.value for kind in kinds)

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        found = None if node is None else use_site.module.type_of(node)
        return GuardAnswer.UNKNOWN if found is None else GuardAnswer.of(found.kind in kinds)

    return Question(
        f"is_kind({', '.join([repr(parameter), *(f'Kind.{kind.name}' for kind in kinds)])})",
        f"`{parameter}` is not known to be a {wanted}",
        answer,
        parameters=frozenset({parameter}),
    )


def of_value(
    name: str,
    sentence: str,
    parameter: str,
    question: Callable[[UseSite, cst.BaseExpression], GuardAnswer],
) -> Guard:
    """Ask a question of the value passed for a parameter, or of its default.

    ``sentence`` has a ``{}`` for the parameter. The answer is unknown where there is no value.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.expression(parameter)
        return GuardAnswer.UNKNOWN if node is None else question(use_site, node)

    return Question(
        f"{name}({parameter!r})",
        sentence.format(parameter),
        answer,
        parameters=frozenset({parameter}),
    )


def context(*contexts: Context) -> Guard:
    """The line runs in one of these contexts."""

    def answer(use_site: UseSite) -> GuardAnswer:
        found = use_site.module.context_of(use_site.node)
        if found in contexts:
            return GuardAnswer.YES
        return GuardAnswer.UNKNOWN if found is Context.UNKNOWN else GuardAnswer.NO

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
        lambda use_site: GuardAnswer.of(
            isinstance(use_site.module.parent(use_site.node), cst.Expr)
        ),
    )


def indexed() -> Guard:
    """The result is subscripted on the spot with one index: ``K.shape(x)[0]``."""

    def answer(use_site: UseSite) -> GuardAnswer:
        parent = use_site.module.parent(use_site.node)
        if not isinstance(parent, cst.Subscript) or parent.value is not use_site.node:
            return GuardAnswer.NO
        return GuardAnswer.of(
            len(parent.slice) == 1 and isinstance(parent.slice[0].slice, cst.Index)
        )

    return Question("indexed()", "the result of the call is not indexed on the spot", answer)


def _each(
    name: str,
    parameters: tuple[str, ...],
    sentence: str,
    question: Callable[[str], Callable[[UseSite], GuardAnswer]],
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
    return every(*atoms)


def _value_in(name: str, parameter: str, values: tuple[object, ...], sentence: str) -> Guard:
    # Types count: `1 == True`, and `axis=True` is not `axis=1`.
    wanted = {(type(value), repr(value)) for value in values}

    def answer(use_site: UseSite) -> GuardAnswer:
        found = _literal(use_site.source(parameter))
        if found is None:
            return GuardAnswer.UNKNOWN
        return GuardAnswer.of((type(found.value), repr(found.value)) in wanted)

    return Question(
        f"{name}({', '.join(map(repr, (parameter, *values)))})",
        sentence,
        answer,
        parameters=frozenset({parameter}),
        pins=frozenset({parameter}),
    )


class _Literal(Struct, frozen=True):
    value: object


def _literal(source: str | None) -> _Literal | None:
    try:
        return None if source is None else _Literal(literal_value_in(f"({source})"))
    except (ValueError, SyntaxError, TypeError):
        return None


def _cannot_be_none(use_site: UseSite, parameter: str) -> GuardAnswer:
    node = use_site.value(parameter)
    if node is None:
        return GuardAnswer.of(use_site.default(parameter) not in (None, "None"))
    if _its_negative_is_passed(node, use_site):
        return GuardAnswer.YES
    return _is_a_value(node, use_site.module)


def _its_negative_is_passed(node: cst.BaseExpression, use_site: UseSite) -> bool:
    """Say whether the call is of the form ``clip(x, -limit, limit)``: ``-None`` raises."""
    call = use_site.node
    if not isinstance(node, cst.Name | cst.Attribute) or not isinstance(call, cst.Call):
        return False
    return any(
        isinstance(each.value, cst.UnaryOperation)
        and isinstance(each.value.operator, cst.Minus)
        and each.value.expression.deep_equals(node)
        for each in call.args
    )


def _is_a_value(node: cst.BaseExpression, module: Module) -> GuardAnswer:
    """Say whether an expression cannot be None, as far as its form tells."""
    match node:
        case cst.Name(value="None"):
            return GuardAnswer.NO
        case cst.Name(value="True" | "False"):
            return GuardAnswer.YES
        case cst.IfExp():
            answers = {_is_a_value(node.body, module), _is_a_value(node.orelse, module)}
            return answers.pop() if len(answers) == 1 else GuardAnswer.UNKNOWN
        case cst.BooleanOperation():
            found = _is_a_value(node.right, module)
            return found if isinstance(node.operator, cst.Or) else GuardAnswer.UNKNOWN
        case cst.Call(func=cst.Name(value=name) as function) if name in NUMBER_MAKERS:
            return (
                GuardAnswer.YES
                if module.scope_of(function).owner(name) is None
                else GuardAnswer.UNKNOWN
            )
        case cst.Call():
            return _from_a_library(node.func, module)
        case cst.Name() if _is_a_constant(node, module):
            return GuardAnswer.YES
        case cst.Name() | cst.Attribute():
            return _from_a_library(node, module)
        case cst.Subscript() | cst.Await() | cst.NamedExpr() | cst.Yield():
            return GuardAnswer.UNKNOWN
    return GuardAnswer.YES  # literals, displays, arithmetic, comparisons, lambdas


def _is_a_constant(name: cst.Name, module: Module) -> bool:
    """Say whether a name is bound once, to a literal that is not None."""
    owner = module.scope_of(name).owner(name.value)
    bindings = owner.bindings[name.value] if owner else []
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
        return False
    value: cst.BaseExpression | None = bindings[0].value
    for step in bindings[0].path:
        if not isinstance(value, cst.Tuple | cst.List) or step is None:
            return False
        value = value.elements[step].value if step < len(value.elements) else None
    found = None if value is None else _literal(module.source(value))
    return found is not None and found.value is not None


def _from_a_library(node: cst.BaseExpression, module: Module) -> GuardAnswer:
    name = module.qualified(node)
    if name is None:
        return GuardAnswer.UNKNOWN
    known = split_root(name) is not None or name.partition(".")[0] in _LIBRARIES
    return GuardAnswer.YES if known else GuardAnswer.UNKNOWN
