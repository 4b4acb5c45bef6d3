"""``super().__init__(name)``: positional arguments whose position changed in the base class.

## What it does
Checks the positional arguments that a user-defined class passes to the `__init__` of its Keras base
class, and reports those plainly meant for a parameter that is at another position on the target: a
variable with the parameter's name, or a string for `name`. (KD414 covers other calls with
positional arguments.)

## Why it breaks
`Metric(name, dtype)` in Keras 2 is `Metric(dtype, name)` in Keras 3, and `Loss(reduction, name)` is
`Loss(name, reduction)`: `ValueError: Cannot convert 'mine' to a mixed precision DTypePolicy`,
`ValueError: Invalid value for argument `reduction``.

## What to write instead
Pass it by keyword: `super().__init__(name=name)`. This means the same on Keras 2 and 3.

## How we know
The parameters of every release are read from its wheel. The fix turns the argument, and all
positional arguments after it, into keyword arguments with the old names; both examples give the
same result on Keras 2 and 3.
"""

from __future__ import annotations

import inspect
from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import Expression
from kdoctor.keras_api import Signature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.arguments._bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.rules.arguments._keras_calls import RELEASES
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_DTYPES = frozenset(
    {
        *("float16", "float32", "float64", "bfloat16", "bool", "string"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    }
)
_SWITCHES = frozenset({"True", "False"})
_WITHOUT_SWITCH = frozenset({"seed", "axis", "dtype", "name", "weights", "embeddings_constraint"})


def _goes_astray(facts: TargetFacts, base: Bound, passed: Passed) -> bool:
    return passed.leaf == "__init__" and _first_astray(facts, base, passed) is not None


def _first_astray(facts: TargetFacts, base: Bound, passed: Passed) -> tuple[int, str, str] | None:
    """Return the place of the first argument that goes astray, and the parameter then and now."""
    if passed.is_starred:
        return None
    new, olds = _places(base.new), _old_places(base.name, facts)
    for index, (now, form) in enumerate(zip(new, passed.forms, strict=False)):
        old = _old_name(olds, index, passed.places)
        # A parameter with another name only is where it was.
        if old in {None, now} or base.new.parameter(old or "") is None:
            continue
        if old is not None and _fits_only(form, old, now):
            return index, old, now
    return None


@lru_cache(maxsize=4096)
def _old_places(name: str, facts: TargetFacts) -> list[list[str]]:
    found = (facts.at_release(each).signature(name) for each in RELEASES)
    return [_places(each) for each in found if each is not None]


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


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
    return isinstance(form, bool) and new in _WITHOUT_SWITCH


@rule(
    "KD304",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_calls(lambda base: not base.method, _goes_astray),
)
def check(match: BoundCall) -> Finding | None:
    """Report the first argument of a call that goes astray."""
    call = match.bound
    found = _first_astray(match.facts, call, match.passed)
    if found is None or call.reference is not None:
        return None
    index, old, new = found
    error = _error(call.kind, old, new)
    return match.finding(
        f"positional argument {index + 1} of `{call.leaf}` was `{old}` in Keras 2 and is "
        f"`{new}` now{error}",
        at=call.call.args[index],
        severity=Severity.ERROR if error else Severity.CHANGE,
        symbol=f"{call.name}({old})",
        help=f"Pass it by keyword: `{old}=…`.",
        fix=_named(match, index),
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
    args = [each for each in call.call.args if each.keyword is None and not each.star]
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
    proofs = (each for each in INVALID if each.after and f"{names[0]}=" in each.after)
    return Fix(
        f"Pass it as `{names[0]}=`", tuple(edits), check.applicability(proofs),
        unsafe_because=f"`{names[0]}=` was not run on both Keras 2 and Keras 3",
    )  # fmt: skip


_WITH_OPTIONS = (
    "import keras\n\n\nclass Mine(keras.metrics.Metric):\n"
    "    def __init__(self, name='mine', **options):\n        super().__init__({}, **options)\n\n"
    "    def update_state(self, y, p):\n        pass\n\n"
    "    def result(self):\n        return 0.0\n\n\nmetric = Mine()"
)

VALID = [
    _WITH_OPTIONS.format("*given"),
    "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', metrics=['acc'])",
    "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', [1.0, 0.5], ['acc'])",
    "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', anything)",
    "import keras\nkeras.Input((4,), 32), keras.Input((4,), 32, 'float32')",
    "import keras\nkeras.layers.LSTM(3, 'tanh', 'sigmoid')",
    "import keras\nkeras.layers.LeakyReLU(0.1), keras.optimizers.SGD(0.1, 0.9)",
    # `mask` is called `previous_mask` now, and stands where it stood.
    (
        "import keras\n\n\nclass Mine(keras.layers.Embedding):\n"
        "    def compute_mask(self, inputs, mask=None):\n"
        "        return super().compute_mask(inputs, mask)"
    ),
    "import keras\nkeras.utils.to_categorical(y, 3), keras.layers.Conv2D(3, 3, 3, 'same')",
    "import tf_keras\ntf_keras.Sequential().compile('sgd', 'mse', ['acc'])",
]
INVALID = [
    Example(
        before="import keras\n\n\nclass Mine(keras.losses.Loss):\n"
        "    def __init__(self, reduction='sum', name='mine'):\n"
        "        super().__init__(reduction, name)\n\n"
        "    def call(self, y, p):\n        return y - p\n\n\nloss = Mine()",
        after="import keras\n\n\nclass Mine(keras.losses.Loss):\n"
        "    def __init__(self, reduction='sum', name='mine'):\n"
        "        super().__init__(reduction=reduction, name=name)\n\n"
        "    def call(self, y, p):\n        return y - p\n\n\nloss = Mine()",
        raises="ValueError: Invalid value for argument `reduction`",
        same="loss.reduction, loss.name",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.metrics.Metric):\n"
        "    def __init__(self, name='mine'):\n        super().__init__(name)\n\n"
        "    def update_state(self, y, p):\n        pass\n\n"
        "    def result(self):\n        return 0.0\n\n\nname = Mine().name",
        after="import keras\n\n\nclass Mine(keras.metrics.Metric):\n"
        "    def __init__(self, name='mine'):\n        super().__init__(name=name)\n\n"
        "    def update_state(self, y, p):\n        pass\n\n"
        "    def result(self):\n        return 0.0\n\n\nname = Mine().name",
        raises="ValueError: ",
        same="name",
    ),
    Example(
        before=_WITH_OPTIONS.format("name"),
        after=_WITH_OPTIONS.format("name=name"),
        raises="ValueError: ",
        same="metric.name",
    ),
]
