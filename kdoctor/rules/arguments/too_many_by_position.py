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
from collections.abc import Iterable

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Signature
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.arguments._bound_calls import Bound, BoundCall, Passed, bound_calls
from kdoctor.rules.arguments._keyword_changes import change_of
from kdoctor.rules.rule import Example, rule

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# Rules of their own see to these.
_ELSEWHERE = frozenset({
    "add_variable", "add_weight", "get_initial_state", "load_weights", "save", "save_weights",
})  # fmt: skip


def _are_too_many(facts: TargetFacts, method: Bound, passed: Passed) -> bool:
    return not passed.is_starred and _gone(passed.places, method.new, method.olds(facts)) != ""


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
    gone = _gone(len(given), call.new, call.olds(match.facts))
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


def _gone(count: int, new: Signature, olds: Iterable[Signature]) -> str:
    """Return the parameter that the first one too many was meant for, "" where all have one."""
    room = len(_places(new))
    if count <= room or any(
        each.kind is inspect.Parameter.VAR_POSITIONAL for each in new.parameters
    ):
        return ""
    names = (_places(each) for each in olds)
    return next((each[room] for each in names if len(each) >= count), "")


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


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
