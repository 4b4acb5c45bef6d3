"""Positional arguments that bind to different parameters than in Keras 2."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

import libcst as cst
from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.calls import (
    UNKNOWN,
    is_hidden,
    keras_version,
    literal,
    literal_of,
    value_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import Parameter, Presence, Signature, split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal_value_in
from kdoctor.syntax.quick_facts import QuickFacts

_Node = TypeVar("_Node", ast.expr, cst.BaseExpression)
_RELEASES = ("2.15.0", "2.10.0", "2.6.0", "2.3.1", "2.2.5", "2.1.6", "2.0.9")
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# What is passed where the default is None.
_TEXT = frozenset({"name", "activation", "monitor", "mode", "data_format"})
_DTYPES = frozenset({
    *("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8"),
    *("uint16", "uint32", "bool", "string", "mixed_float16", "mixed_bfloat16", "complex64"),
})  # fmt: skip
# In these words; before, other ones, or (for `Sequential`) nothing.
_SAYS_SO = Version("3.15.0")
_ERRORS = {
    "Sequential": "ValueError: Expected `trainable` to be a boolean.",
}


_PLAIN = (cst.Integer, cst.Float, cst.SimpleString, cst.Name, cst.UnaryOperation)
_MAX_VALUES = 8  # values that are looked at of one name
_UNFIT = (object(), 0.5, "?")


class _Call(Struct, frozen=True):
    """A call by position: ``name`` is dotted, as it was imported."""

    name: str
    call: cst.Call
    confidence: Confidence

    @property
    def values(self) -> list[cst.BaseExpression]:
        return [each.value for each in self.call.args if each.keyword is None]


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call whose positional arguments have got other meanings."""
    for each in _calls(module, facts):
        new = facts.signature(each.name)
        if new is None or _fits(module, each.values, new):
            continue
        for release in _RELEASES:
            old = _signature_of(facts, release, each.name)
            shifted = None if old is None else _shifted(each.values, old, new)
            if old is not None and shifted is not None and _fits(module, each.values, old):
                if _is_ours(old, new, shifted) and not module.is_guarded(each.call):
                    yield _finding(module, facts, each, _positional(old), shifted, release)
                break


def _may_be_shifted(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        not _all_fit(called.node.args, new, lambda node: _possible(quick, node))
        for name, calls in quick.calls_by_meaning.items()
        if (new := facts.signature(name)) is not None
        for called in calls
        if called.places
    )


def _is_ours(old: Signature, new: Signature, shifted: int) -> bool:
    """Say whether the old parameter is gone; of one that only moved KD304 speaks."""
    name = _positional(old)[shifted].name
    now = _positional(new)[shifted : shifted + 1]
    return new.parameter(name) is None or (name == "name" and _is_a_switch(now))


def _is_a_switch(parameters: Sequence[Parameter]) -> bool:
    return bool(parameters) and parameters[0].default in ("True", "False")


def _calls(module: Module, facts: TargetFacts) -> Iterator[_Call]:
    for reference in module.references:
        call, split = reference.call, split_root(reference.name)
        if call is None or split is None or not facts.runs_keras_3(split[0]) or is_hidden(call):
            continue
        if facts.lookup(reference.name).presence is not Presence.EXISTS:
            continue
        if any(each.keyword is None for each in call.args):
            yield _Call(reference.name, call, reference.confidence)


@lru_cache(maxsize=1024)
def _signature_of(facts: TargetFacts, release: str, name: str) -> Signature | None:
    return facts.at_release(release).signature(name)


def _positional(signature: Signature) -> list[Parameter]:
    return [each for each in signature.parameters if each.kind in _BY_POSITION]


def _fits(module: Module, values: Sequence[cst.BaseExpression], signature: Signature) -> bool:
    """Say whether every argument may be meant for the parameter in its place."""
    return _all_fit(values, signature, lambda node: (_value(module, node),))


def _value(module: Module, node: cst.BaseExpression) -> object:
    """Return the value of a literal, or of a name that surely has one number or text."""
    if not isinstance(node, cst.Name):
        return literal(node)
    value = value_of(module, node)
    return literal(value) if isinstance(value, _PLAIN) else UNKNOWN


def _possible(quick: QuickFacts, node: ast.expr) -> Iterable[object]:
    """Return what ``_value`` may return: of a name with many values, one that fits nowhere."""
    if not isinstance(node, ast.Name):
        return (literal_of(node),)
    values = quick.values_of(node)
    if len(values) > _MAX_VALUES:
        return _UNFIT
    return [literal_of(each) for each in values if isinstance(each, ast.Constant | ast.UnaryOp)]


def _all_fit(
    nodes: Sequence[_Node], signature: Signature, values_of: Callable[[_Node], Iterable[object]]
) -> bool:
    parameters = _positional(signature)
    if len(nodes) > len(parameters):
        kinds = {each.kind for each in signature.parameters}
        return inspect.Parameter.VAR_POSITIONAL in kinds
    return all(
        _may_be(value, each.name, each.default)
        for node, each in zip(nodes, parameters, strict=False)
        if each.default is not None
        for value in values_of(node)
    )


def _may_be(value: object, name: str, default_text: str) -> bool:
    """Say whether a value may be meant for a parameter, by the type of its default."""
    if value is UNKNOWN or value is None:
        return True
    if name == "dtype":
        return not isinstance(value, str) or value in _DTYPES
    default = _default(default_text)
    if name in _TEXT:
        return isinstance(value, str)
    if isinstance(default, bool):
        # Some wrote 0 and 1, nobody 0.9.
        return isinstance(value, bool) or value in (0, 1)
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, int):
        return isinstance(value, int | tuple | list) and not isinstance(value, bool)
    if isinstance(default, str):
        # A name for what may be given as an object, too.
        return not isinstance(value, bool | int | float | tuple)
    return True


@lru_cache(maxsize=512)
def _default(source: str) -> object:
    try:
        return literal_value_in(source)
    except ValueError:
        return None


def _shifted(values: Sequence[cst.BaseExpression], old: Signature, new: Signature) -> int | None:
    """Return the first place whose parameter has another name now; None where there is none."""
    before, after = _positional(old), _positional(new)
    for place in range(min(len(values), len(before))):
        if place >= len(after):
            return place
        old_name, new_name = before[place].name, after[place].name
        is_renamed = (old_name, new_name) in _RENAMED or (
            place == 0 and new.parameter(old_name) is None
        )
        if old_name != new_name and not is_renamed:
            return place
    return None


_RENAMED = frozenset(
    {
        ("lr", "learning_rate"),
        ("alpha", "negative_slope"),
        ("y", "x"),
        ("l", "l1"),
        ("l", "l2"),
        ("input_shape", "shape"),
    }
)


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    call: _Call,
    old: Sequence[Parameter],
    shifted: int,
    release: str,
) -> Finding:
    new_signature = facts.signature(call.name)
    assert new_signature is not None
    new = _positional(new_signature)
    leaf = call.name.rpartition(".")[2]
    meant = [each.name for each in old[shifted : len(call.values)]]
    taken = [each.name for each in new[shifted : len(call.values)]]
    error = _ERRORS.get(leaf) if keras_version(facts) >= _SAYS_SO else None
    gone = [each for each in meant if new_signature.parameter(each) is None and each != "decay"]
    return rule.finding(
        module.place(call.values[shifted]),
        f"this positional argument was `{meant[0]}` up to Keras {release}, and is now "
        f"{f'`{taken[0]}`' if taken else 'one argument too many'}"
        + (f": {error}" if error else ""),
        symbol=call.name,
        confidence=call.confidence,
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Write {', '.join(f'`{each}=`' for each in meant)}.",
        fix=Fix(
            f"Write {', '.join(f'`{each}=`' for each in meant)}",
            tuple(
                Edit(Span(start, start), (f"{name}=",))
                for name, value in zip(meant, call.values[shifted:], strict=True)
                for start in (module.outer_span(value).start,)
            ),
            Applicability.UNSAFE
            if gone
            else facts.applicability(
                *(each for each in rule.invalid if each.after and not each.unsafe)
            ),
            unsafe_because=f"`{leaf}` no longer has `{gone[0]}`" if gone else "",
        ),
    )


rule = Rule(
    code="KD414",
    name="position-shifted",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=Trigger(_may_be_shifted),
    since="3.0",
)
