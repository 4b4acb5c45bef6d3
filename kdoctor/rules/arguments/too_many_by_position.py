"""More positional arguments than a method accepts."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import keras_version
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keyword_changes import change_of
from kdoctor.analysis.queries.bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.keras_api import Signature
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rewrite.arguments import lost_with
from kdoctor.rules.rule import rule

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# Rules of their own see to these.
_ELSEWHERE = frozenset({
    "add_variable", "add_weight", "get_initial_state", "load_weights", "save", "save_weights",
})  # fmt: skip

_UNPROVEN = "the Keras 2 that it could be compared with takes no more arguments by position either"


def _are_too_many(facts: TargetFacts, method: Bound, passed: Passed) -> bool:
    return not passed.is_starred and bool(_gone(passed.places, method, facts))


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
    release = keras_version(match.facts)
    given = [each for each in call.args if each.keyword is None and not each.star]
    places = _places(call.new)
    gone = _gone(len(given), call, match.facts)
    most = len(places) + 1
    least = sum(each.default is None for each in call.new.parameters if each.name in places) + 1
    takes = f"{most}" if least == most else f"from {least} to {most}"
    return match.finding(
        f"`{call.leaf}` takes fewer positional arguments now; this one was `{gone[0]}`: TypeError: "
        f"{call.written} takes {takes} positional arguments but {len(given) + 1} were given",
        at=given[len(places)],
        symbol=f"{call.name}({gone[0]})",
        help=change_of(call.leaf, call.kind, gone[0], release).help,
        fix=_fix(match, given[len(places) :], gone),
    )


def _fix(match: BoundCall, extra: Sequence[cst.Arg], meant: Sequence[str]) -> Fix | NoFix:
    """Leave out what is too many where all of it may be left out."""
    call = match.bound
    release = keras_version(match.facts)
    changes = [change_of(call.leaf, call.kind, each, release) for each in meant]
    if not all(each.drop for each in changes):
        return NoFix("the later positions have other parameters, or none, in Keras 3")
    edits = remove_arguments(match.module, call.call, extra)
    if edits is None:
        return NoFix("there is a comment or an assignment inside it")
    lost = [each.loses for each in changes if each.loses] or [_UNPROVEN]
    lost += filter(None, [lost_with([each.value for each in extra])])
    what = " and ".join(f"`{each}`" for each in meant)
    return match.fix(f"Leave out {what}", *edits, unsafe_because="; ".join(lost))


def _gone(count: int, method: Bound, facts: TargetFacts) -> Sequence[str]:
    """Return the parameters that those too many were meant for, none where all have one."""
    room = len(_places(method.new))
    if count <= room or any(
        each.kind is inspect.Parameter.VAR_POSITIONAL for each in method.new.parameters
    ):
        return ()  # as nearly always: the tables of earlier releases are not read
    names = (_places(each) for each in method.olds(facts))
    return next((each[room:count] for each in names if len(each) >= count), ())


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]
