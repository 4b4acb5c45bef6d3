"""More positional arguments than a method accepts.

## What it does
Counts the positional arguments of methods of Keras models, layers, optimizers and metrics, and
reports calls that pass more than the target's release accepts, and not more than an earlier one
accepted. (KD414 covers classes and functions, KD212 `add_weight`, KD605 and KD606 saving.)

## Why it breaks
The last parameters were removed: `predict` and `evaluate` lost `max_queue_size`, `workers` and
`use_multiprocessing`, `add_loss` lost `inputs`. `TypeError: TensorFlowTrainer.predict() takes from
2 to 6 positional arguments but 7 were given`.

## What to write instead
Pass the arguments by keyword, and leave out those that were removed: KD303 says what replaces each
of them.

## How we know
The parameters are read from every release from 2.0 on; the examples were run on Keras 3.15.1.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import all_by_position
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Signature
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.arguments._keyword_changes import change_of
from kdoctor.rules.arguments._may_be_called import Callee, passes
from kdoctor.rules.rule import Example, Rule
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
        given = all_by_position(call.call)
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

_MODEL = (
    "import keras\nimport numpy as np\n\nx = np.ones((2, 2))\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n"
)
_OWN = """\
import keras


class Mine(keras.layers.Layer):
    def add_loss(self, loss, inputs):
        return loss

    def call(self, x):
        self.add_loss(x, x)
        return x
"""

VALID = [
    f"{_MODEL}model.predict(x, 32, 0, None)",
    f"{_MODEL}model.predict(*given, 32, 0, None, None, 10, 1)",
    # No release takes so many: it is another `predict`.
    f"{_MODEL}model.predict(x, 32, 0, None, None, 10, 1, False, 1, 2, 3)",
    # A method of the user's own.
    _OWN,
]
INVALID = [
    Example(
        before=f"{_MODEL}model.predict(x, 32, 0, None, None, 10, 1)",
        raises="TypeError: TensorFlowTrainer.predict() takes from 2 to 6 positional arguments but "
        "8 were given",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.add_loss(None, None)",
        raises="TypeError: Layer.add_loss() takes 2 positional arguments but 3 were given",
    ),
]
