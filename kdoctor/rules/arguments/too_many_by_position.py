"""More positional arguments than a method accepts."""

from __future__ import annotations

import inspect

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.keras_api import Signature
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.arguments._keyword_changes import change_of
from kdoctor.rules.rule import rule

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# Rules of their own see to these.
_ELSEWHERE = frozenset({
    "add_variable", "add_weight", "get_initial_state", "load_weights", "save", "save_weights",
})  # fmt: skip


def _are_too_many(facts: TargetFacts, method: Bound, passed: Passed) -> bool:
    return not passed.is_starred and _gone(passed.places, method, facts) != ""


@rule(
    "KD326",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_calls(
        lambda each: each.method and each.is_known and each.leaf not in _ELSEWHERE, _are_too_many
    ),
)
def check(match: BoundCall) -> Finding:
    """Report each such call of a method."""
    call = match.bound
    given = [each for each in call.call.args if each.keyword is None and not each.star]
    places = _places(call.new)
    gone = _gone(len(given), call, match.facts)
    most = len(places) + 1
    least = sum(each.default is None for each in call.new.parameters if each.name in places) + 1
    takes = f"{most}" if least == most else f"from {least} to {most}"
    return match.finding(
        f"`{call.leaf}` takes fewer positional arguments now; this one was `{gone}`: TypeError: "
        f"{call.written} takes {takes} positional arguments but {len(given) + 1} were given",
        at=given[len(places)],
        symbol=f"{call.name}({gone})",
        help=change_of(call.leaf, call.kind, gone).help,
        fix=NoFix("the later positions have other parameters, or none, in Keras 3"),
    )


def _gone(count: int, method: Bound, facts: TargetFacts) -> str:
    """Return the parameter that the first one too many was meant for, "" where all have one."""
    room = len(_places(method.new))
    if count <= room or any(
        each.kind is inspect.Parameter.VAR_POSITIONAL for each in method.new.parameters
    ):
        return ""  # as nearly always: the tables of earlier releases are not read
    names = (_places(each) for each in method.olds(facts))
    return next((each[room] for each in names if len(each) >= count), "")


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]
