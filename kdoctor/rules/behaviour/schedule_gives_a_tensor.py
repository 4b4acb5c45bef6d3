"""The function of a `LearningRateScheduler` returns a tensor: `return lr * tf.math.exp(-0.1)`.

## What it does
Reports the return value of a function or lambda passed to `LearningRateScheduler` if it is a
tensor: the result of a TensorFlow or `keras.ops` function, or of arithmetic with one. Also a Keras
schedule (`ExponentialDecay(…)`) in place of the function.

## Why it breaks
Keras 2 accepted a float tensor as the rate. Keras 3 requires a Python or NumPy float: `ValueError:
The output of the `schedule` function should be a float.` It is raised in the first epoch for which
the function returns a tensor, which may be the tenth.

## What to write instead
`return float(lr * tf.math.exp(-0.1))`, and `lambda epoch: float(schedule(epoch))` for a schedule.
Both run on Keras 2 too. `np.exp` returns a float that both accept.

## How we know
The documentation of TensorFlow had `lr * tf.math.exp(-0.1)` up to 2.15. Each function was run on
Keras 3.15.1 and tf_keras 2.21; the code of 3.0 checks for a float too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import (
    argument,
    has_builtin,
    hidden_builtin,
    instances,
    is_hidden,
    is_keras_3,
    value_of,
)
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.analysis.triggers import Trigger, calls_that_make, word
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.libcst_walk import own_nodes, returned_in
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_CALLBACK: Final = "LearningRateScheduler"
_FLOAT: Final = "float"
_SCHEDULES: Final = "optimizers.schedules."
_ERROR: Final = "ValueError: The output of the `schedule` function should be a float."
_MAX_DEPTH: Final = 6  # steps from name to name, and from one operand to another
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Power)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each rate that is a tensor, and each schedule that gives one."""
    told: set[cst.CSTNode] = set()
    for reference, call, made in instances(module, Kind.CALLBACK, facts):
        given = argument(call, "schedule", 0)
        if made.cls != _CALLBACK or given is None or is_hidden(call) or module.is_guarded(call):
            continue
        if _is_schedule(module, facts, value_of(module, given.value)):
            yield _of_a_schedule(module, reference, given.value)
        for rate in _tensors(module, given.value):
            if rate not in told and not module.is_guarded(rate):
                told.add(rate)
                yield _of_a_tensor(module, reference, rate)


def _is_schedule(module: Module, facts: TargetFacts, made: cst.BaseExpression) -> bool:
    """Say whether it is one of Keras' own schedules."""
    name = module.qualified(made.func) if isinstance(made, cst.Call) else None
    return name is not None and is_keras_3(facts, name) and _names_a_schedule(name)


def _names_a_schedule(name: str) -> bool:
    split = split_root(name)
    if split is None or not split[1].startswith(_SCHEDULES):
        return False
    leaf = split[1].removeprefix(_SCHEDULES)
    return leaf[:1].isupper() and leaf != "LearningRateSchedule"


def _tensors(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what a function returns that is a tensor."""
    for each in _returned(module, given):
        branches = [each.body, each.orelse] if isinstance(each, cst.IfExp) else [each]
        yield from (branch for branch in branches if _is_tensor(module, branch))


def _returned(module: Module, given: cst.BaseExpression) -> list[cst.BaseExpression]:
    value = value_of(module, given)
    if isinstance(value, cst.Lambda):
        return [value.body]
    function = points_to_of(module).function_called(given)
    if function is None or function.decorators or function.asynchronous is not None:
        return []
    # A class is called for its instance; a generator function gives no rate at all.
    is_another = function.name.value == "__init__"
    if is_another or any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
        return []
    return [each for each in returned_in(function) if each is not None]


def _is_tensor(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether an expression surely gives a tensor, at least where one way leads to it."""
    if depth > _MAX_DEPTH:
        return False
    match node:
        case cst.Call():
            name = module.qualified(node.func)
            return name is not None and computes_tensor(name)
        case cst.UnaryOperation(operator=cst.Minus()):
            return _is_tensor(module, node.expression, depth + 1)
        case cst.BinaryOperation() if isinstance(node.operator, _ARITHMETIC):
            return any(_is_tensor(module, each, depth + 1) for each in (node.left, node.right))
        case cst.Name():
            return any(
                bound.kind in {BindingKind.ASSIGN, BindingKind.AUGMENT}
                and not bound.path
                and bound.value is not None
                and _is_tensor(module, bound.value, depth + 1)
                for bound in module.bindings_at(node)
            )
    return False


def _of_a_tensor(module: Module, reference: Reference, rate: cst.BaseExpression) -> Finding:
    span = module.outer_span(rate)
    fix = rule.fix("Convert it to a float", Edit(span, ("float(", Hole(span), ")")))
    is_free = has_builtin(module, rate, _FLOAT)
    return rule.finding(
        module.place(rate),
        f"the rate is a tensor, but Keras 3 requires a float: {_ERROR}",
        symbol=_CALLBACK,
        confidence=reference.confidence,
        help="Wrap it in `float(…)`.",
        fix=fix if is_free else NoFix(hidden_builtin(_FLOAT)),
    )


def _of_a_schedule(module: Module, reference: Reference, given: cst.BaseExpression) -> Finding:
    return rule.finding(
        module.place(given),
        f"a schedule returns a tensor, but Keras 3 requires a float: {_ERROR}",
        symbol=_CALLBACK,
        confidence=reference.confidence,
        help="Write `lambda epoch: float(schedule(epoch))`; or pass the schedule to the "
        "optimizer, which counts steps instead of epochs.",
        fix=_converted(module, given),
    )


def _converted(module: Module, given: cst.BaseExpression) -> Fix | NoFix:
    if not has_builtin(module, given, _FLOAT):
        return NoFix(hidden_builtin(_FLOAT))
    if not _stays(module, given):
        return NoFix("the name of the schedule is also used for something else")
    span = module.outer_span(given)
    return rule.fix(
        "Convert its result to a float",
        Edit(span, ("lambda epoch: float(", Hole(span), "(epoch))")),
    )


def _stays(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether a function that is run later finds the same schedule."""
    if isinstance(given, cst.Call):
        return True
    if not isinstance(given, cst.Name) or given.value == "epoch":
        return False
    owner = module.scope_of(given).owner(given.value)
    return owner is not None and len(owner.bindings[given.value]) == 1


def _may_be_given(quick: QuickFacts, facts: TargetFacts) -> bool:
    called = calls_that_make(quick, facts, Kind.CALLBACK, _CALLBACK)
    if not any(each.argument("schedule", 0) is not None for _, each in called):
        return False
    names = quick.calls_by_meaning
    return any(computes_tensor(each) or _names_a_schedule(each) for each in names)


rule = Rule(
    code="KD468",
    name="schedule-gives-a-tensor",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_CALLBACK) & Trigger(_may_be_given),
    since="3.0",
)

_KERAS = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n\n"
_MODEL = (
    "model = keras.Sequential([keras.layers.Dense(1)])\n"
    "model.compile(keras.optimizers.SGD(0.1), 'mse')\n"
)
_FIT = "model.fit(np.ones((4, 3)), np.ones((4, 1)), epochs=3, verbose=0, callbacks=[scheduler])\n"
_GIVEN = "scheduler = keras.callbacks.LearningRateScheduler({})\n"
_SAME = "round(float(model.optimizer.learning_rate), 6)"
_SLOWER = "def slower(epoch, lr):\n    if epoch < 1:\n        return lr\n    return {}\n\n\n"
_HALVING = (
    "def slower(epoch):\n    rate = 0.1\n    rate *= tf.pow(0.5, float(epoch))\n    return {}\n\n\n"
)
_DECAY = "keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)"
_OF_A_TRAINER = (
    _KERAS + "class Trainer:\n    def rate(self, epoch):\n        return {}\n\n"
    "    def train(self, model):\n"
    "        scheduler = keras.callbacks.LearningRateScheduler(self.rate)\n"
    "        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0, callbacks=[scheduler])\n\n\n"
    + _MODEL + "Trainer().train(model)\n"
)  # fmt: skip


def _program(given: str, function: str = "") -> str:
    return _KERAS + function + _GIVEN.format(given) + _MODEL + _FIT


def _example(before: str, after: str, given: str = "slower", then: str = "") -> Example:
    return Example(
        before=_program(given, before),
        after=_program(then or given, after),
        raises=_ERROR,
        on_keras_2=True,
        same=_SAME,
    )


VALID = [
    _program("slower", _SLOWER.format("lr * 0.9")),
    _program("slower", _SLOWER.format("lr * np.exp(-0.1)")),
    _program("slower", _SLOWER.format("float(lr * tf.math.exp(-0.1))")),
    _program("slower", _SLOWER.format("(lr * tf.math.exp(-0.1)).numpy()")),
    _program("slower", _SLOWER.format("rates[tf.size(rates)]")),
    _program("slower", _SLOWER.format("lr if tf.reduce_any(done) else lr / 2")),
    _program("lambda epoch: float(tf.exp(-0.1 * epoch))"),
    # A function inside of the function, and one that is not this callback's.
    _program(
        "slower",
        "def slower(epoch):\n    def rate(x):\n        return tf.exp(-x)\n\n"
        "    return float(rate(0.1 * epoch))\n\n\n",
    ),
    _KERAS + _SLOWER.format("lr * tf.math.exp(-0.1)") + "keras.optimizers.SGD(slower)\n",
    # Something is made of what it gives.
    _KERAS + "from mine import as_float\n\n\n@as_float\n" + _SLOWER.format("lr * tf.exp(-0.1)")
    + _GIVEN.format("slower"),
    # A schedule of one's own may give a float, and the optimizer takes any.
    _program(
        "Slower()",
        "class Slower(keras.optimizers.schedules.LearningRateSchedule):\n"
        "    def __call__(self, step):\n        return 0.1 / (step + 1)\n\n\n",
    ),
    f"import keras\n\nkeras.optimizers.SGD({_DECAY})\n",
    # Another callback, and Keras 2.
    _KERAS + "class LearningRateScheduler:\n    def __init__(self, schedule):\n        pass\n\n\n"
    + f"LearningRateScheduler({_DECAY})\n",
    _program("slower", _SLOWER.format("lr * tf.exp(-0.1)")).replace(
        "import keras", "import tf_keras as keras"
    ),
    # It is tried.
    _KERAS + f"try:\n    scheduler = keras.callbacks.LearningRateScheduler({_DECAY})\n"
    "except ValueError:\n    scheduler = None\n",
]  # fmt: skip
INVALID = [
    _example(
        _SLOWER.format("lr * tf.math.exp(-0.1)"), _SLOWER.format("float(lr * tf.math.exp(-0.1))")
    ),
    # By another way: a name, an operation on itself, one of two branches.
    _example(
        _HALVING.format("rate"),
        _HALVING.format("float(rate)"),
        "schedule=slower, verbose=0",
    ),
    _example(
        "",
        "",
        "lambda epoch, lr: lr if epoch < 1 else tf.maximum(lr / 2, 1e-4)",
        "lambda epoch, lr: lr if epoch < 1 else float(tf.maximum(lr / 2, 1e-4))",
    ),
    Example(
        before=_OF_A_TRAINER.format("0.5 * (1.0 + tf.cos(0.1 * epoch))"),
        after=_OF_A_TRAINER.format("float(0.5 * (1.0 + tf.cos(0.1 * epoch)))"),
        raises=_ERROR,
        on_keras_2=True,
        same=_SAME,
    ),
    _example("", "", _DECAY, f"lambda epoch: float({_DECAY}(epoch))"),
    _example(
        f"decay = {_DECAY}\n",
        f"decay = {_DECAY}\n",
        "decay",
        "lambda epoch: float(decay(epoch))",
    ),
    # The name is soon the callback itself.
    Example(
        before=_KERAS + f"scheduler = {_DECAY}\n" + _GIVEN.format("scheduler") + _MODEL + _FIT,
        raises=_ERROR,
        on_keras_2=True,
    ),
]  # fmt: skip
