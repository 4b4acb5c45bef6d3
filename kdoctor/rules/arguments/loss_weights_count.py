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

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, call_of_super, literal, value_of
from kdoctor.analysis.dataflow.escapes import is_read_once, unmutated_value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.method_calls import model_method_calls
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.analysis.triggers import Trigger, attribute, keyword
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts

_WEIGHTS = "loss_weights"
_PLACE = 1  # of `loss`, after the optimizer
# A class of one's own may work its loss out without them.
_BUILT = (None, "Functional", "Sequential")
_Display = cst.List | cst.Tuple | cst.Dict


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such call."""
    for use, call in model_method_calls(module, {"compile"}):
        if use.owner.cls not in _BUILT or call_of_super(call) is not None:
            continue
        loss, given = argument(call, "loss", _PLACE), argument(call, _WEIGHTS)
        weights = None if given is None else unmutated_value_of(module, given.value)
        if given is None or loss is None or not isinstance(weights, _Display):
            continue
        losses, count = count_losses(module, loss.value), count_elements(weights)
        if losses is None or count is None:
            continue
        if isinstance(value_of(module, loss.value), cst.Dict) and isinstance(weights, cst.Dict):
            # It looks up those that it needs.
            missing = _without_weight(module, loss.value, weights)
            if missing and use.owner.cls == "Functional":
                yield _of_dicts(module, use, given.value, weights, missing)
        elif losses != count and max(losses, count) > 1:
            yield _of_counts(module, use, loss.value, losses, weights, count)


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


def _of_dicts(
    module: Module,
    use: MemberUse,
    given: cst.BaseExpression,
    weights: _Display,
    missing: list[str],
) -> Finding:
    fix: Fix | NoFix
    if not weights.elements:
        fix = NoFix("the dict is empty")
    elif not is_read_once(module, given):
        fix = NoFix("the dict is also used elsewhere")
    else:
        start = module.span(weights.elements[0]).start
        added = "".join(f'"{each}": 1.0, ' for each in missing)
        fix = rule.fix(
            "Add a weight of 1 for each missing output", Edit(Span(start, start), (added,))
        )
    return rule.finding(
        module.place(weights),
        f"`loss_weights` has no entry for `{missing[0]}`: KeyError: '{missing[0]}'",
        symbol=f"{use.owner.cls or 'Model'}.compile({_WEIGHTS})",
        confidence=use.confidence,
        help="Give each output a weight; Keras 2 used 1.0 for missing ones.",
        fix=fix,
    )


def _of_counts(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    use: MemberUse,
    loss: cst.BaseExpression,
    losses: int,
    weights: _Display,
    count: int,
) -> Finding:
    entries = "1 entry" if count == 1 else f"{count} entries"
    have = "is 1 loss" if losses == 1 else f"are {losses} losses"
    return rule.finding(
        module.place(weights),
        f"`loss_weights` has {entries}, but there {have}: ValueError: `loss_weights` must match "
        f"the number of losses, got {losses} losses and {count} weights.",
        symbol=f"{use.owner.cls or 'Model'}.compile({_WEIGHTS})",
        confidence=use.confidence,
        help="Pass a list of losses, one for each output.",
        fix=_repeated(module, loss, weights, count),
    )


def _repeated(
    module: Module, loss: cst.BaseExpression, weights: _Display, count: int
) -> Fix | NoFix:
    if isinstance(value_of(module, loss), _Display):
        return NoFix("kdoctor cannot tell which loss or weight is the extra one")
    if isinstance(weights, cst.Dict):
        return NoFix("kdoctor cannot tell whether each output has a weight")
    if not isinstance(loss, cst.SimpleString | cst.Name | cst.Attribute):
        return NoFix("each output needs its own loss")
    span = module.outer_span(loss)
    repeated = [part for _ in range(count) for part in (Hole(span), ", ")][:-1]
    return rule.fix(
        f"Repeat the loss for each of the {count} outputs", Edit(span, ("[", *repeated, "]"))
    )


def _may_differ(quick: QuickFacts, _: TargetFacts) -> bool:
    for called in quick.calls_with(_WEIGHTS):
        loss = called.argument("loss", _PLACE)
        counts = {_count_of(each) for each in quick.values_of(loss)}
        if isinstance(loss, ast.Name):
            counts.add(1)  # a function, or what is imported
        weights = quick.values_of(called.argument(_WEIGHTS))
        if any({_count_of(each)} != counts for each in weights if _is_display(each)):
            return True
    return False


def _is_display(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Dict)


def _count_of(node: ast.expr) -> int:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Dict(values=elements):
            return len(elements)
    return 1


rule = Rule(
    code="KD320",
    name="loss-weights-count",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_WEIGHTS) & attribute("compile") & Trigger(_may_differ),
    since="3.7",
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
