"""More positional arguments than a method accepts."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Signature
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.arguments._keyword_changes import change_of
from kdoctor.rules.arguments._may_be_called import Callee, passes
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# Rules of their own see to these.
_ELSEWHERE = frozenset({
    "add_variable", "add_weight", "get_initial_state", "load_weights", "save", "save_weights",
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call of a method."""
    for call in keras_calls(module, facts):
        if call.owner is None or not call.is_known or call.leaf in _ELSEWHERE:
            continue
        given = _by_position(call.call)
        gone = _gone(given, call.new, tuple(call.olds(facts)))
        if gone is not None and not module.is_guarded(call.call):
            yield _finding(module, call, given, gone)


def _finding(module: Module, call: KerasCall, given: list[cst.Arg], gone: str) -> Finding:
    places = _places(call.new)
    most = len(places) + 1
    least = sum(each.default is None for each in call.new.parameters if each.name in places) + 1
    takes = f"{most}" if least == most else f"from {least} to {most}"
    change = change_of(call.leaf, call.kind, gone)
    return rule.finding(
        module.place(given[len(places)]),
        f"`{call.leaf}` takes fewer positional arguments now; this one was `{gone}`: TypeError: "
        f"{call.written} takes {takes} positional arguments but {len(given) + 1} were given",
        symbol=f"{call.name}({gone})",
        confidence=call.confidence,
        help=change.help,
        fix=NoFix("the later positions have other parameters, or none, in Keras 3"),
    )


def _gone(given: Sequence[object], new: Signature, olds: Sequence[Signature]) -> str | None:
    """Return the parameter that the first one too many was meant for, None where all have one."""
    room = len(_places(new))
    if len(given) <= room or any(
        each.kind is inspect.Parameter.VAR_POSITIONAL for each in new.parameters
    ):
        return None
    names = (_places(each) for each in olds)
    return next((each[room] for each in names if len(each) >= len(given)), None)


def _may_be_too_many(facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    return called.places > len(_places(callee.new)) and (
        _gone(range(called.places), callee.new, callee.olds(facts)) is not None
    )


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


def _by_position(call: cst.Call) -> list[cst.Arg]:
    """Return what is passed by position, nothing where ``*args`` hides how much that is."""
    if any(each.star == "*" for each in call.args):
        return []
    return [each for each in call.args if each.keyword is None and not each.star]


rule = Rule(
    code="KD326",
    name="too-many-by-position",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=passes(
        _may_be_too_many, of=lambda callee: callee.method and callee.leaf not in _ELSEWHERE
    ),
    since="3.0",
)
