"""`AveragePooling2D()`: arguments that had a default in Keras 2 and are now required.

## What it does
Reports calls that omit an argument which the target requires and an earlier release did not.

## Why it breaks
`TypeError: AveragePooling2D.__init__() missing 1 required positional argument: 'pool_size'`.
`MaxPooling2D` still has its default.

## What to write instead
Pass the default of Keras 2: `AveragePooling2D(pool_size=(2, 2))`.

## How we know
Both signatures are read from the releases. Each affected layer was run on Keras 3.15.1 and on
tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Finding, Severity
from kdoctor.rules.arguments._keras_1_rewrites import renamed
from kdoctor.rules.arguments._keras_calls import RELEASES, KerasCall, keras_calls, required
from kdoctor.rules.arguments._may_be_called import callee_of
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call without an argument that is wanted now."""
    for call in keras_calls(module, facts):
        if call.reference is None or is_hidden(call.call) or module.is_guarded(call.call):
            continue
        for name, position in required(call.new):
            if argument(call.call, name, position) is not None or _has_its_old_name(call, name):
                continue
            default = _last_default(facts, call.name, name)
            if default is not None:
                yield _finding(module, call, name, default)


def _has_its_old_name(call: KerasCall, parameter: str) -> bool:
    """Say whether it is passed by its name of Keras 1: KD310 renames it, none is to be written."""
    return any(
        new == parameter and argument(call.call, old) is not None
        for old, new in renamed(call).items()
    )


@lru_cache(maxsize=1024)
def _last_default(facts: TargetFacts, name: str, parameter: str) -> str | None:
    for release in RELEASES:
        old = facts.at_release(release).signature(name)
        found = None if old is None else old.parameter(parameter)
        if found is not None and found.default is not None:
            return found.default
    return None


def _may_be_left_out(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        name not in called.keywords
        and called.places <= position
        and _last_default(facts, callee.name, name) is not None
        for path, calls in quick.calls_by_meaning.items()
        if (callee := callee_of(path, facts)) is not None
        for name, position in callee.required
        for called in calls
    )


def _finding(module: Module, call: KerasCall, name: str, default: str) -> Finding:
    return rule.finding(
        module.place(call.call),
        f"`{call.leaf}` no longer has a default for `{name}`: TypeError: {call.written} missing "
        f"1 required positional argument: '{name}'",
        symbol=f"{call.name}({name})",
        confidence=call.confidence,
        help=f"The default in Keras 2 was `{name}={default}`.",
        fix=rule.fix(
            f"Write `{name}={default}`, the old default",
            add_keyword(module, call.call, f"{name}={default}"),
        ),
    )


rule = Rule(
    code="KD308",
    name="argument-wanted",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_be_left_out),
    since="3.0",
)

_INPUTS = "import keras\n\nx = keras.Input((8, 4))\nimage = keras.Input((8, 8, 3))\n"

VALID = [
    _INPUTS + "keras.layers.MaxPooling2D()(image)\nkeras.layers.AveragePooling2D(2)(image)",
    _INPUTS + "given = {'pool_size': 2}\nkeras.layers.AveragePooling2D(**given)(image)",
    "import tf_keras\ntf_keras.layers.AveragePooling2D()",
    _INPUTS + "keras.layers.AveragePooling1D(pool_length=2, stride=2)(x)",
    _INPUTS + "from keras.layers import AvgPool1D\nAvgPool1D(pool_length=2)(x)",
]
INVALID = [
    Example(
        before=_INPUTS + "y = keras.layers.AveragePooling2D()(image)",
        after=_INPUTS + "y = keras.layers.AveragePooling2D(pool_size=(2, 2))(image)",
        raises="TypeError: AveragePooling2D.__init__() missing 1 required positional argument: "
        "'pool_size'",
        on_keras_2=True,
        same="tuple(y.shape)",
    ),
    Example(
        before=_INPUTS + "y = keras.layers.AveragePooling1D(padding='same')(x)",
        after=_INPUTS + "y = keras.layers.AveragePooling1D(padding='same', pool_size=2)(x)",
        raises="TypeError: AveragePooling1D.__init__() missing 1 required positional argument: "
        "'pool_size'",
        on_keras_2=True,
        same="tuple(y.shape)",
    ),
    Example(
        before="import keras\n\ny = keras.layers.AvgPool3D()(keras.Input((4, 4, 4, 1)))",
        after="import keras\n\n"
        "y = keras.layers.AvgPool3D(pool_size=(2, 2, 2))(keras.Input((4, 4, 4, 1)))",
        raises="TypeError: AveragePooling3D.__init__() missing 1 required positional argument: "
        "'pool_size'",
        on_keras_2=True,
        same="tuple(y.shape)",
    ),
]
