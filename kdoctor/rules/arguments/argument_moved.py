"""``super().__init__(name)``: positional arguments whose position changed in the base class."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, may_be_called_on
from kdoctor.keras_api import Signature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.arguments._may_be_called import Callee, passes
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_DTYPES = frozenset(
    {
        *("float16", "float32", "float64", "bfloat16", "bool", "string"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    }
)
_SWITCHES = frozenset({"True", "False"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report the first argument of a call that goes astray."""
    for call in keras_calls(module, facts):
        if call.reference is not None or call.owner is not None:
            continue
        by_position = _by_position(call.call)
        if not by_position:
            continue
        new = _places(call.new)
        olds = [_places(each) for each in call.olds(facts)]
        for index, given in enumerate(by_position):
            old = _old_name(olds, index, len(by_position))
            now = new[index] if index < len(new) else None
            if old is None or now is None or old == now or call.new.parameter(old) is None:
                continue  # a parameter with another name only is where it was
            if _fits_only(module, given.value, old, now) and not module.is_guarded(call.call):
                yield _finding(module, facts, call, index, (old, now))
                break


def _may_be_of_an_object(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether it is not only `Base.__init__(self, …)`."""
    asked = (called for called in quick.calls_of("__init__") if called.places)
    return may_be_called_on(quick, facts, asked, Kind)


def _may_go_astray(facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    if called.leaf != "__init__" or called.starred or not called.places:
        return False
    new, olds = _then_and_now(callee, facts)
    for index, given in enumerate(called.node.args):
        old = _old_name(olds, index, called.places)
        if old is None or index >= len(new) or old == new[index]:
            continue
        plain = isinstance(given, ast.Constant | ast.JoinedStr)
        if plain or (isinstance(given, ast.Name) and given.id == old):
            return True
    return False


@lru_cache(maxsize=4096)
def _then_and_now(callee: Callee, facts: TargetFacts) -> tuple[list[str], list[list[str]]]:
    return _places(callee.new), [_places(each) for each in callee.olds(facts)]


def _by_position(call: cst.Call) -> list[cst.Arg]:
    """Return what is passed by position, nothing where ``*args`` hides which is which.

    What ``**options`` hold is none of it: Python lets nothing be given twice.
    """
    if any(each.star == "*" for each in call.args):
        return []
    return [each for each in call.args if each.keyword is None and not each.star]


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


def _old_name(olds: list[list[str]], index: int, count: int) -> str | None:
    """Return the parameter at a place, where every release with so many places agrees."""
    names = {places[index] for places in olds if len(places) >= count}
    return names.pop() if len(names) == 1 else None


def _fits_only(module: Module, value: cst.BaseExpression, old: str, new: str) -> bool:
    """Say whether what is passed is plainly meant for the old parameter."""
    if isinstance(value, cst.Name) and value.value == old:
        return True
    is_text = isinstance(value, cst.SimpleString | cst.FormattedString)
    if old == "name":
        return is_text and new == "dtype" and module.source(value).strip("'\"") not in _DTYPES
    is_switch = isinstance(value, cst.Name) and value.value in _SWITCHES
    return is_switch and new in {
        "seed",
        "axis",
        "dtype",
        "name",
        "weights",
        "embeddings_constraint",
    }


def _finding(
    module: Module, facts: TargetFacts, call: KerasCall, index: int, names: tuple[str, str]
) -> Finding:
    old, new = names
    attempt = _named(module, facts, call, index)
    error = _error(call, names)
    return rule.finding(
        module.place(call.call.args[index]),
        f"positional argument {index + 1} of `{call.leaf}` was `{old}` in Keras 2 and is "
        f"`{new}` now{error}",
        severity=Severity.ERROR if error else Severity.CHANGE,
        symbol=f"{call.name}({old})",
        confidence=call.confidence,
        help=f"Pass it by keyword: `{old}=…`.",
        fix=attempt,
    )


def _error(call: KerasCall, names: tuple[str, str]) -> str:
    """Return what Python says, where it does."""
    if names == ("name", "dtype") and call.kind is Kind.METRIC:
        return ": ValueError: Cannot convert it to a mixed precision DTypePolicy"
    if names == ("reduction", "name"):
        return ": ValueError: Invalid value for argument `reduction`"
    return ""


def _named(module: Module, facts: TargetFacts, call: KerasCall, index: int) -> Fix | NoFix:
    """Write the old names of this argument and of those that follow it by position."""
    args = _by_position(call.call)
    olds = [_places(each) for each in call.olds(facts)]
    edits: list[Edit] = []
    for place in range(index, len(args)):
        name = _old_name(olds, place, len(args))
        if name is None:
            return NoFix("releases of Keras 2 disagree about the order of the parameters")
        parameter = call.new.parameter(name)
        if parameter is None:
            return NoFix(f"`{call.leaf}` no longer has `{name}`")
        start = module.outer_span(args[place].value).start
        edits.append(Edit(Span(start, start), (f"{name}=",)))
    first = _old_name(olds, index, len(args))
    proof = facts.applicability(
        *(each for each in rule.invalid if each.after and f"{first}=" in each.after)
    )
    return Fix(
        f"Pass it as `{first}=`", tuple(edits), proof,
        unsafe_because=f"`{first}=` was not run on both Keras 2 and Keras 3",
    )  # fmt: skip


rule = Rule(
    code="KD304",
    name="argument-moved",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("__init__")
    & Trigger(_may_be_of_an_object)
    & passes(_may_go_astray, of=lambda callee: not callee.method),
    since="3.0",
)
