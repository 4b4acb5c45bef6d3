"""`loss_weights` must have one entry per loss.

## What it does
Reports `loss_weights` in `compile` of a functional model or a `Sequential`, if losses and weights
are written out and differ in number: `loss="mse", loss_weights=[1, 0.5]`.

## Why it breaks
Keras 2 repeated a single loss for all outputs before it applied the weights, and used a weight of 1
for outputs missing from a dict of weights. Since 3.7, Keras compares the numbers at the first
batch: `ValueError: `loss_weights` must match the number of losses, got 1 losses and 2 weights.` For
a dict of losses it looks up the weight of each: `KeyError`.

## What to write instead
Repeat the loss for each output, `loss=["mse", "mse"]`; in a dict, give each output a weight.

## How we know
Run with Keras 3.4, 3.6, 3.7, 3.10 and 3.15.1, and on tf_keras 2.21.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import call_of_super, value_of
from kdoctor.analysis.dataflow.escapes import is_read_once, unmutated_value_of
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import DictForm
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_WEIGHTS = "loss_weights"
_PLACE = 1  # of `loss`, after the optimizer
# A class of one's own may work its loss out without them.
_BUILT = ("", "Functional", "Sequential")
_Display = cst.List | cst.Tuple | cst.Dict


def _is_display(form: object) -> bool:
    return isinstance(form, list | tuple | DictForm)


@rule(
    "KD320",
    severity=Severity.ERROR,
    since="3.7",
    look_for=calls("compile", on=Kind.MODEL)
    .even(hidden=True)
    .passing("loss", place=_PLACE)
    .argument(_WEIGHTS, where=_is_display),
)
def check(given: Argument) -> Finding | None:
    """Report each such call."""
    module, loss = given.module, given.argument("loss", _PLACE)
    weights = unmutated_value_of(module, given.node)
    if loss is None or not isinstance(weights, _Display):
        return None
    if given.cls not in _BUILT or call_of_super(given.call) is not None:
        return None
    losses, count = count_losses(module, loss.value), count_elements(weights)
    if losses is None or count is None:
        return None
    if isinstance(value_of(module, loss.value), cst.Dict) and isinstance(weights, cst.Dict):
        # It looks up those that it needs.
        missing = _without_weight(module, loss.value, weights)
        if missing and given.cls == "Functional":
            return _of_dicts(given, weights, missing)
    elif losses != count and max(losses, count) > 1:
        return _of_counts(given, loss.value, losses, weights, count)
    return None


def _without_weight(
    module: Module, loss: cst.BaseExpression, weights: cst.BaseExpression
) -> list[str]:
    """Return the outputs that a dict of losses has and a dict of weights lacks."""
    losses = value_of(module, loss)
    if not isinstance(losses, cst.Dict) or not isinstance(weights, cst.Dict):
        return []
    have, want = _keys(weights), _keys(losses)
    if have is None or want is None or not set(have) <= set(want):
        return []
    return [each for each in want if each not in have]


def _keys(display: cst.Dict) -> list[str] | None:
    keys = [literal(each.key) for each in display.elements if isinstance(each, cst.DictElement)]
    names = [each for each in keys if isinstance(each, str)]
    return names if len(set(names)) == len(display.elements) else None


def _of_dicts(given: Argument, weights: _Display, missing: list[str]) -> Finding:
    fix: Fix | NoFix
    if not weights.elements:
        fix = NoFix("the dict is empty")
    elif not is_read_once(given.module, given.node):
        fix = NoFix("the dict is also used elsewhere")
    else:
        start = given.module.span(weights.elements[0]).start
        added = "".join(f'"{each}": 1.0, ' for each in missing)
        fix = given.fix(
            "Add a weight of 1 for each missing output", Edit(Span(start, start), (added,))
        )
    return given.finding(
        f"`loss_weights` has no entry for `{missing[0]}`: KeyError: '{missing[0]}'",
        at=weights,
        symbol=_symbol(given),
        help="Give each output a weight; Keras 2 used 1.0 for missing ones.",
        fix=fix,
    )


def _of_counts(
    given: Argument, loss: cst.BaseExpression, losses: int, weights: _Display, count: int
) -> Finding:
    entries = "1 entry" if count == 1 else f"{count} entries"
    have = "is 1 loss" if losses == 1 else f"are {losses} losses"
    return given.finding(
        f"`loss_weights` has {entries}, but there {have}: ValueError: `loss_weights` must match "
        f"the number of losses, got {losses} losses and {count} weights.",
        at=weights,
        symbol=_symbol(given),
        help="Pass a list of losses, one for each output.",
        fix=_repeated(given, loss, weights, count),
    )


def _symbol(given: Argument) -> str:
    return f"{given.cls or 'Model'}.compile({_WEIGHTS})"


def _repeated(
    given: Argument, loss: cst.BaseExpression, weights: _Display, count: int
) -> Fix | NoFix:
    if isinstance(value_of(given.module, loss), _Display):
        return NoFix("kdoctor cannot tell which loss or weight is the extra one")
    if isinstance(weights, cst.Dict):
        return NoFix("kdoctor cannot tell whether each output has a weight")
    if not isinstance(loss, cst.SimpleString | cst.Name | cst.Attribute):
        return NoFix("each output needs its own loss")
    span = given.module.outer_span(loss)
    repeated = [part for _ in range(count) for part in (Hole(span), ", ")][:-1]
    return given.fix(
        f"Repeat the loss for each of the {count} outputs", Edit(span, ("[", *repeated, "]"))
    )


_MODEL = (
    "import keras\nimport numpy as np\n\nx = keras.layers.Input((2,))\n"
    "a, b = (keras.layers.Dense(1, kernel_initializer='ones', name=name)(x) for name in 'ab')\n"
    "model = keras.Model(x, [a, b])\n"
)
_FIT = (
    "logs = model.fit(\n    np.ones((4, 2)), [np.ones((4, 1)), np.zeros((4, 1))], verbose=0\n"
    ").history\n"
)
_TOLD = "ValueError: `loss_weights` must match the number of losses, got {} losses and {} weights."
_MSE = "keras.losses.mean_squared_error"
_FAR = (
    f"{_MODEL}\n\ndef far(truth, guess):\n    return abs(truth - guess) * 2\n\n\n"
    "weights = (2.0, 1.0)\n"
)
_SAME = "[logs[name][0] for name in ('loss', 'a_loss', 'b_loss')]"

VALID = [
    _MODEL + "model.compile('sgd', ['mse', 'mae'], loss_weights=[1, 0.5])\n",
    _MODEL + "model.compile('sgd', ['mse', 'mae'], loss_weights={'a': 1, 'b': 0.5})\n",
    _MODEL + "model.compile('sgd', {'a': 'mse', 'b': 'mae'}, loss_weights=[1, 0.5])\n",
    _MODEL + "model.compile('sgd', 'mse', loss_weights=weights)\n",
    _MODEL + "model.compile('sgd', 'mse', loss_weights=None)\n",
    _MODEL + "model.compile('sgd', 'mse', loss_weights=[0.5])\n",
    # What the loss is, or how many there are, is open.
    _MODEL + "from mine import loss\nmodel.compile('sgd', loss, loss_weights=[1, 0.5])\n",
    _MODEL + "model.compile('sgd', [*losses], loss_weights=[1, 0.5])\n",
    _MODEL + "model.compile('sgd', ['mse', None, 'mse'], loss_weights=[1, 0.5])\n",
    _MODEL + "model.compile('sgd', losses(), loss_weights=[1, 0.5])\n",
    (
        _MODEL + "loss = 'mse'\nif both:\n    loss = ['mse', 'mae']\n"
        "model.compile('sgd', loss, loss_weights=[1, 0.5])\n"
    ),
    # It grows, under its name or another.
    _MODEL + "losses = ['mse']\nlosses.append('mae')\n"
    "model.compile('sgd', losses, loss_weights=[1, 0.5])\n",
    _MODEL + "weights = {'a': 1}\nweights['b'] = 2\n"
    "model.compile('sgd', {'a': 'mse', 'b': 'mae'}, loss_weights=weights)\n",
    _MODEL + "losses = ['mse']\nadd(losses)\nmodel.compile('sgd', losses, loss_weights=[1, 0.5])\n",
    # A weight that no loss asks for.
    _MODEL
    + "model.compile('sgd', {'a': 'mse', 'b': 'mae'}, loss_weights={'a': 1, 'b': 2, 'c': 3})\n",
    # A list is made of a function.
    _MODEL + "@twice\ndef far(truth, guess):\n    return guess - truth\n\n\n"
    "model.compile('sgd', far, loss_weights=[1, 0.5])\n",
    (
        "import keras\n\n\nclass Net(keras.Model):\n    def compile(self):\n"
        "        super().compile('sgd', 'mse', loss_weights=[1, 0.5])\n\n"
        "    def train_step(self, data):\n        return {}\n"
    ),
    # A class that weighs its losses itself.
    (
        "import keras\n\n\nclass Net(keras.Model):\n    def train_step(self, data):\n"
        "        return {}\n\n\nNet().compile('sgd', 'mse', loss_weights=[1, 0.5])\n"
    ),
    _MODEL.replace("keras", "tf_keras") + "model.compile('sgd', 'mse', loss_weights=[1, 0.5])\n",
]
INVALID = [
    Example(
        before=_MODEL + "model.compile('sgd', 'mse', loss_weights=[1, 0.5])\n" + _FIT,
        after=_MODEL + "model.compile('sgd', ['mse', 'mse'], loss_weights=[1, 0.5])\n" + _FIT,
        raises=_TOLD.format(1, 2),
        on_keras_2=True,
        same=_SAME,
    ),
    # By name, as a function, and as a member of Keras.
    Example(
        before=f"{_FAR}model.compile(\n    'sgd',\n    loss=far,  # for both\n"
        f"    loss_weights=weights,\n)\n{_FIT}",
        after=f"{_FAR}model.compile(\n    'sgd',\n    loss=[far, far],  # for both\n"
        f"    loss_weights=weights,\n)\n{_FIT}",
        raises=_TOLD.format(1, 2),
        on_keras_2=True,
        same=_SAME,
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', {_MSE}, loss_weights=[1, 0.5])\n{_FIT}",
        after=f"{_MODEL}model.compile('sgd', [{_MSE}, {_MSE}], loss_weights=[1, 0.5])\n{_FIT}",
        raises=_TOLD.format(1, 2),
        on_keras_2=True,
        same=_SAME,
    ),
    # A dict that leaves an output out.
    Example(
        before=_MODEL
        + "model.compile('sgd', {'a': 'mse', 'b': 'mae'}, loss_weights={'a': 0.5})\n"
        + _FIT,
        after=_MODEL
        + "model.compile('sgd', {'a': 'mse', 'b': 'mae'}, loss_weights={\"b\": 1.0, 'a': 0.5})\n"
        + _FIT,
        raises="KeyError: 'b'",
        on_keras_2=True,
        same=_SAME,
    ),
    Example(
        before=_MODEL
        + "model.compile('sgd', keras.losses.Huber(), loss_weights={'a': 1, 'b': 0.5})\n"
        + _FIT,
        raises=_TOLD.format(1, 2),
    ),
    Example(
        before=_MODEL + "model.compile('sgd', ['mse', 'mae'], loss_weights={'b': 0.5})\n" + _FIT,
        raises=_TOLD.format(2, 1),
    ),
]
