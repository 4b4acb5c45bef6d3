"""``super().__init__(name)``: positional arguments whose position changed in the base class."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import RELEASES
from kdoctor.analysis.queries.bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.analysis.queries.forms import Expression
from kdoctor.keras_api import Signature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_DTYPES = frozenset(
    {
        *("float16", "float32", "float64", "bfloat16", "bool", "string"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    }
)
_REDUCTIONS = frozenset({"auto", "none", "sum", "sum_over_batch_size"})
_SWITCHES = frozenset({"True", "False"})
_WITHOUT_SWITCH = frozenset({"seed", "axis", "dtype", "name", "weights", "embeddings_constraint"})


def _goes_astray(facts: TargetFacts, base: Bound, passed: Passed) -> bool:
    return _first_astray(facts, base, passed) is not None


def _first_astray(facts: TargetFacts, base: Bound, passed: Passed) -> tuple[int, str, str] | None:
    """Return the place of the first argument that goes astray, and the parameter then and now."""
    if passed.is_starred or not passed.places:
        return None  # as of most calls of `super().__init__`: no earlier release is asked
    new, olds = _places(base.new), _old_places(base.name, facts)
    for index, (now, form) in enumerate(zip(new, passed.forms, strict=False)):
        old = _old_name(olds, index, passed.places)
        # A parameter with another name only is where it was.
        if old in {None, now} or base.new.parameter(old or "") is None:
            continue
        if old is not None and _fits_only(form, old, now):
            return index, old, now
    return _first_too_many(base, new, olds, passed)


def _first_too_many(
    base: Bound, new: Sequence[str], olds: list[list[str]], passed: Passed
) -> tuple[int, str, str] | None:
    """Return the same of the first argument that has no place now, only its keyword."""
    index = len(new)
    if passed.places <= index or base.kind is Kind.MODEL or _takes_any_number(base.new):
        return None  # KD331 tells of the name of a model
    old = _old_name(olds, index, passed.places)
    return None if old is None or base.new.parameter(old) is None else (index, old, "")


@lru_cache(maxsize=4096)
def _old_places(name: str, facts: TargetFacts) -> list[list[str]]:
    found = (facts.at_release(each).signature(name) for each in RELEASES)
    return [_places(each) for each in found if each is not None]


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


def _takes_any_number(signature: Signature) -> bool:
    return any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in signature.parameters)


def _old_name(olds: list[list[str]], index: int, count: int) -> str | None:
    """Return the parameter at a place, where every release with so many places agrees."""
    names = {places[index] for places in olds if len(places) >= count}
    return names.pop() if len(names) == 1 else None


def _fits_only(form: object, old: str, new: str) -> bool:
    """Say whether what is passed is plainly meant for the old parameter."""
    kind, name = (form.kind, form.name) if isinstance(form, Expression) else ("", "")
    if kind == "Name" and name == old:
        return True
    if old == "name":
        is_text = isinstance(form, str) or kind == "JoinedStr"
        return is_text and new == "dtype" and form not in _DTYPES
    if old == "reduction":
        return form in _REDUCTIONS or (kind == "Attribute" and name.lower() in _REDUCTIONS)
    return isinstance(form, bool) and new in _WITHOUT_SWITCH


@rule(
    "KD304",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_calls(lambda base: not base.method, _goes_astray, written="__init__"),
)
def check(match: BoundCall) -> Finding | None:
    """Report the first argument of a call that goes astray."""
    call = match.bound
    found = _first_astray(match.facts, call, match.passed)
    if found is None or call.reference is not None:
        return None
    index, old, new = found
    error = _error(call.kind, old, new) if new else _too_many(match, index)
    is_now = f"is `{new}` now" if new else "is keyword-only now"
    return match.finding(
        f"positional argument {index + 1} of `{call.leaf}` was `{old}` in Keras 2 and "
        f"{is_now}{error}",
        at=call.args[index],
        severity=Severity.ERROR if error else Severity.CHANGE,
        symbol=f"{call.name}({old})",
        help=f"Pass it by keyword: `{old}=…`.",
        fix=_named(match, index),
    )


def _too_many(match: BoundCall, room: int) -> str:
    """Return what Python says of arguments that have no place."""
    required = sum(
        each.default is None for each in match.bound.new.parameters if each.kind in _BY_POSITION
    )
    takes = f"{room + 1}" if required == room else f"from {required + 1} to {room + 1}"
    several = "" if takes == "1" else "s"
    given = match.passed.places + 1
    return (
        f": TypeError: {match.bound.leaf}.__init__() takes {takes} positional argument{several} "
        f"but {given} were given"
    )


def _error(kind: Kind | None, old: str, new: str) -> str:
    """Return what Python says, where it does."""
    if (old, new) == ("name", "dtype") and kind == Kind.METRIC:
        return ": ValueError: Cannot convert it to a mixed precision DTypePolicy"
    if (old, new) == ("reduction", "name"):
        return ": ValueError: Invalid value for argument `reduction`"
    return ""


def _named(match: BoundCall, index: int) -> Fix | NoFix:
    """Write the old names of this argument and of those that follow it by position."""
    call = match.bound
    args = [each for each in call.args if each.keyword is None and not each.star]
    olds = _old_places(call.name, match.facts)
    names = [_old_name(olds, place, len(args)) for place in range(index, len(args))]
    edits: list[Edit] = []
    for given, name in zip(args[index:], names, strict=True):
        if name is None:
            return NoFix("releases of Keras 2 disagree about the order of the parameters")
        if call.new.parameter(name) is None:
            return NoFix(f"`{call.leaf}` no longer has `{name}`")
        start = match.module.outer_span(given.value).start
        edits.append(Edit(Span(start, start), (f"{name}=",)))
    # Not `match.fix`: the reason is told where the record has no run, not where the code is unsure.
    proofs = (each for each in check.invalid if each.after and f"{names[0]}=" in each.after)
    return Fix(
        f"Pass it as `{names[0]}=`", tuple(edits), check.applicability(proofs),
        unsafe_because=f"`{names[0]}=` was not run on both Keras 2 and Keras 3",
    )  # fmt: skip
