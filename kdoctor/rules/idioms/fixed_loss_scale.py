"""A fixed loss scale: `LossScaleOptimizer(optimizer, dynamic=False)`.

## What it does
Reports `dynamic=False` when a `LossScaleOptimizer` is created.

## Why it breaks
In Keras 3 it always adapts its scale: `ValueError: LossScaleOptimizer no longer supports
`dynamic=False`. Instead, simply set `loss_scale_factor` directly on the `inner_optimizer`.`

## What to write instead
Each optimizer supports a fixed scale: `SGD(0.1, loss_scale_factor=128)`. A custom training loop
looks the same with both:

    with tf.GradientTape() as tape:
        loss = keras.ops.mean((model(x, training=True) - y) ** 2)
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)

`scale_loss` multiplies, and `apply` (`apply_gradients`, too) divides again.

## How we know
Run on Keras 3.15.1: the error is quoted from there; after a step with `loss_scale_factor=128` the
weights have moved by the learning rate times the gradient of the unscaled loss.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, instances, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = "ValueError: LossScaleOptimizer no longer supports `dynamic=False`."
_ANOTHER_OBJECT = (
    "the optimizer is no longer a LossScaleOptimizer: code that reads `inner_optimizer` fails"
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each fixed scale."""
    for reference, call, made in instances(module, Kind.OPTIMIZER, facts):
        dynamic = argument(call, "dynamic")
        if made.cls != "LossScaleOptimizer" or dynamic is None or is_hidden(call):
            continue
        if literal(dynamic.value) is not False or module.is_guarded(call):
            continue
        fix = _fix(module, call)
        yield rule.finding(
            module.place(dynamic),
            f"the scale of a LossScaleOptimizer is always dynamic: {_ERROR}",
            symbol=reference.name,
            confidence=reference.confidence,
            help=f"{fix.title}."
            if fix
            else "Pass `loss_scale_factor=…` to the inner optimizer, and use that one.",
            fix=fix or NoFix("the inner optimizer is created elsewhere"),
        )


def _fix(module: Module, call: cst.Call) -> Fix | None:
    """``LossScaleOptimizer(SGD(), dynamic=False, initial_scale=x)`` → ``SGD(loss_scale_factor=x)``.

    Only where that is all that is passed.
    """
    inner, scale = argument(call, "inner_optimizer", 0), argument(call, "initial_scale")
    if inner is None or scale is None or len(call.args) != 3 or "#" in module.source(call):
        return None
    made = module.type_of(inner.value)
    if not isinstance(inner.value, cst.Call) or made is None or made.kind is not Kind.OPTIMIZER:
        return None
    if is_hidden(inner.value) or argument(inner.value, "loss_scale_factor"):
        return None
    kept = Edit(module.span(call), (Hole(module.span(inner.value)),))
    added = add_keyword(module, inner.value, f"loss_scale_factor={module.source(scale.value)}")
    return rule.fix(
        "Pass `loss_scale_factor=` to the optimizer", kept, added, unsafe_because=_ANOTHER_OBJECT
    )


rule = Rule(
    code="KD507",
    name="fixed-loss-scale",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers={"LossScaleOptimizer"},
    since="3.0",
)

_HEAD = "import keras\n\n"
VALID = [
    _HEAD + "keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(), initial_scale=8.0)",
    _HEAD + "keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), dynamic=True)",
    _HEAD + "keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), dynamic=asked)",
    (
        "import tf_keras\n\n"
        "tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD(), dynamic=False)"
    ),
]
_STEP = (
    "weight = keras.Variable(1.0)\nwith __import__('tensorflow').GradientTape() as tape:\n"
    "    loss = optimizer.scale_loss(weight * 2.0)\n"
    "optimizer.apply([tape.gradient(loss, weight.value)], [weight])\n"
    "assert float(loss) == 16.0 and float(weight) == 0.0"
)
INVALID = [
    Example(
        before=_HEAD + "optimizer = keras.mixed_precision.LossScaleOptimizer(\n"
        "    keras.optimizers.SGD(0.5,), dynamic=False, initial_scale=8.0\n)\n",
        after=_HEAD + "optimizer = keras.optimizers.SGD(0.5, loss_scale_factor=8.0,)\n",
        raises=_ERROR,
        check=_STEP,
        unsafe=True,
    ),
    Example(
        before=_HEAD + "inner = keras.optimizers.SGD(0.5)\n"
        "optimizer = keras.optimizers.LossScaleOptimizer(inner, dynamic=False, initial_scale=8)\n",
        raises=_ERROR,
    ),
]
