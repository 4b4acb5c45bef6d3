"""Positional arguments that bind to different parameters than in Keras 2."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache

import libcst as cst
from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.calls import keras_version, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, calls_by_position
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.queries.positions import Place
from kdoctor.keras_api import Parameter, Presence, Signature
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal, literal_in

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


class _Shift(Struct, frozen=True):
    """Arguments from the first that has another meaning on: up to ``release`` they had these."""

    values: Sequence[cst.BaseExpression]
    meant: Sequence[str]
    taken: Sequence[str]
    release: str


def _may_be_misplaced(facts: TargetFacts, place: Place) -> bool:
    """Say whether something can be passed there that is not meant for the parameter."""
    name, at = place
    parameters, takes_more = _places(facts, name)
    # Without a default, anything may be meant for it.
    return parameters[at].default is not None if at < len(parameters) else not takes_more


def _is_misplaced(facts: TargetFacts, place: Place, form: object) -> bool:
    """Say whether what is passed may not be meant for the parameter in its place."""
    name, at = place
    parameters, takes_more = _places(facts, name)
    if at >= len(parameters):
        return not takes_more
    default = parameters[at].default
    if default is None:
        return False  # anything may be meant for it
    if isinstance(form, Expression):
        return form.kind in {"", "Dict", "List", "Set", "Tuple"}  # its value may be known, too
    return not _may_be(form, parameters[at].name, default)


@rule(
    "KD414",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls_by_position(_is_misplaced, among=_may_be_misplaced),
)
def check(call: Call) -> Finding | None:
    """Report each call whose positional arguments have got other meanings."""
    module, facts, new = call.module, call.facts, call.facts.signature(call.name)
    values = [each.value for each in call.node.args if each.keyword is None]
    if new is None or facts.lookup(call.name).presence is not Presence.EXISTS:
        return None
    for release in () if _fits(module, values, new) else _RELEASES:
        old = _signature_of(facts, release, call.name)
        shifted = None if old is None else _shifted(values, old, new)
        if old is not None and shifted is not None and _fits(module, values, old):
            if _is_ours(old, new, shifted):
                names = [[each.name for each in _positional(one)] for one in (old, new)]
                meant, taken = (each[shifted : len(values)] for each in names)
                return _finding(call, _Shift(values[shifted:], meant, taken, release))
            break
    return None


def _is_ours(old: Signature, new: Signature, shifted: int) -> bool:
    """Say whether the old parameter is gone; of one that only moved KD304 speaks."""
    name = _positional(old)[shifted].name
    now = _positional(new)[shifted : shifted + 1]
    return new.parameter(name) is None or (name == "name" and _is_a_switch(now))


def _is_a_switch(parameters: Sequence[Parameter]) -> bool:
    return bool(parameters) and parameters[0].default in ("True", "False")


@lru_cache(maxsize=1024)
def _signature_of(facts: TargetFacts, release: str, name: str) -> Signature | None:
    return facts.at_release(release).signature(name)


@lru_cache(maxsize=4096)
def _places(facts: TargetFacts, name: str) -> tuple[list[Parameter], bool]:
    """Return the parameters by position, and whether it takes more (as what is unknown does)."""
    signature = facts.signature(name)
    if signature is None:
        return [], True
    return _positional(signature), _takes_any_number(signature)


def _positional(signature: Signature) -> list[Parameter]:
    return [each for each in signature.parameters if each.kind in _BY_POSITION]


def _fits(module: Module, values: Sequence[cst.BaseExpression], signature: Signature) -> bool:
    """Say whether every argument may be meant for the parameter in its place."""
    parameters = _positional(signature)
    if len(values) > len(parameters):
        return _takes_any_number(signature)
    return all(
        _may_be(_value(module, node), each.name, each.default)
        for node, each in zip(values, parameters, strict=False)
        if each.default is not None
    )


def _takes_any_number(signature: Signature) -> bool:
    return any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in signature.parameters)


def _value(module: Module, node: cst.BaseExpression) -> object:
    """Return the value of a literal, or of a name that surely has one number or text."""
    if not isinstance(node, cst.Name):
        return literal(node)
    value = value_of(module, node)
    return literal(value) if isinstance(value, _PLAIN) else UNKNOWN


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
    value = literal_in(source)
    return None if value is UNKNOWN else value


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


def _finding(call: Call, shift: _Shift) -> Finding:
    meant, taken = shift.meant, shift.taken
    error = _ERRORS.get(call.leaf) if keras_version(call.facts) >= _SAYS_SO else None
    gone = [each for each in meant if not call.takes(each) and each != "decay"]
    return call.finding(
        f"this positional argument was `{meant[0]}` up to Keras {shift.release}, and is now "
        f"{f'`{taken[0]}`' if taken else 'one argument too many'}"
        + (f": {error}" if error else ""),
        at=shift.values[0],
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Write {', '.join(f'`{each}=`' for each in meant)}.",
        fix=call.fix(
            f"Write {', '.join(f'`{each}=`' for each in meant)}",
            *(
                Edit(Span(start, start), (f"{name}=",))
                for name, value in zip(meant, shift.values, strict=True)
                for start in (call.module.outer_span(value).start,)
            ),
            unsafe_because=f"`{call.leaf}` no longer has `{gone[0]}`" if gone else "",
        ),
    )
