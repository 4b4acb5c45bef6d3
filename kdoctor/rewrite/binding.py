"""Bind a call's arguments to a signature, exactly as Python does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.rewrite.pattern import Pattern
from kdoctor.rewrite.refusal import Refused

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Argument(Struct, frozen=True):
    """One argument of the call and its parameter."""

    parameter: str
    arg: cst.Arg

    @property
    def value(self) -> cst.BaseExpression:
        """The expression that is passed."""
        return self.arg.value

    @property
    def keyword(self) -> str | None:
        """The keyword as it is written, None where it is passed by position."""
        return None if self.arg.keyword is None else self.arg.keyword.value


class CallBinding(Struct, frozen=True):
    """A call's arguments in source order, bound to the parameters of ``pattern``."""

    pattern: Pattern
    arguments: tuple[Argument, ...]

    def value(self, parameter: str) -> cst.BaseExpression | None:
        """Return what is passed for a parameter that is not variadic, None where nothing is."""
        return next((each.value for each in self.passed(parameter)), None)

    def passed(self, parameter: str) -> Iterator[Argument]:
        """Yield the arguments that go to ``parameter``: at most one, unless it is variadic."""
        return (each for each in self.arguments if each.parameter == parameter)

    def __contains__(self, parameter: str) -> bool:
        return any(each.parameter == parameter for each in self.arguments)


def bind(call: cst.Call, pattern: Pattern) -> CallBinding:
    """Return the arguments of ``call`` by parameter of the old signature.

    Raises:
        Refused: Python would raise ``TypeError`` or ``SyntaxError``, or ``*args``/``**kwargs`` hide
            what is passed.
    """
    parameters = pattern.parameters
    positional = iter([each for each in parameters.values() if each.kind in _POSITIONAL])
    rest = _only(parameters, inspect.Parameter.VAR_POSITIONAL)
    others = _only(parameters, inspect.Parameter.VAR_KEYWORD)
    name = pattern.name
    taken: set[str] = set()
    keywords: set[str] = set()
    arguments: list[Argument] = []
    for arg in call.args:
        if arg.star:
            raise Refused(
                f"the call passes `{arg.star}…`, which hides what goes to which parameter"
            )
        if arg.keyword is None:
            parameter = next(positional, None)
            target = rest if parameter is None else parameter.name
            if target is None:
                raise Refused(f"the call passes more positional arguments than `{name}` has")
        else:
            written = arg.keyword.value
            known = written in parameters and parameters[written].kind in _KEYWORD
            target = written if known else others
            if target is None:
                raise Refused(f"`{name}` has no parameter `{written}`")
            if written in keywords or (known and written in taken):
                raise Refused(f"the call passes `{written}` twice")
            keywords.add(written)
        taken.add(target)
        arguments.append(Argument(target, arg))
    for parameter in parameters.values():
        required = parameter.default is inspect.Parameter.empty and parameter.kind in (
            *_POSITIONAL,
            inspect.Parameter.KEYWORD_ONLY,
        )
        if required and parameter.name not in taken:
            raise Refused(f"the call does not pass `{parameter.name}`, which `{name}` requires")
    return CallBinding(pattern, tuple(arguments))


def _only(parameters: dict[str, inspect.Parameter], kind: inspect._ParameterKind) -> str | None:
    return next((each.name for each in parameters.values() if each.kind is kind), None)
