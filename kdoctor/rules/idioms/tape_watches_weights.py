"""`tape.watch(model.trainable_variables)`: a tape only accepts TensorFlow tensors and variables.

## What it does
Reports `watch` of a `tf.GradientTape` called with weights of a model or layer: a list of them, or
one.

## Why it breaks
The weights of Keras 3 are Keras variables, which wrap a TensorFlow variable: `ValueError: Passed in
object <Variable path=dense/kernel, …> of type 'Variable', not tf.Tensor or tf.Variable or
ExtensionType.` Up to Keras 2 they were TensorFlow variables.

## What to write instead
Nothing: a tape watches trainable variables when they are read. For a tape created with
`watch_accessed_variables=False`, and for weights that are not trainable, watch the wrapped
variables: `tape.watch([weight.value for weight in model.weights])`. `tape.gradient` accepts the
weights themselves.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: the gradients are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal, value_of
from kdoctor.analysis.dataflow.statements import free_name, remove_statement
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, member, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_TAPE: Final = "GradientTape"
_TAPES: Final = ways_also_by_1(f"tensorflow.{_TAPE}")
_TRAINABLE: Final = frozenset({"trainable_variables", "trainable_weights"})
_ALL: Final = frozenset({
    *("non_trainable_variables", "non_trainable_weights", "variables", "weights"),
    *_TRAINABLE,
})  # fmt: skip
_SAYS = "ValueError: Passed in object <Variable"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such call."""
    lists = {
        id(use.node): use
        for use in module.members
        if use.member in _ALL
        and use.owner.kind in (Kind.MODEL, Kind.LAYER)
        and not use.owner_defines
    }
    for call in module.nodes(cst.Call):
        match call:
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="watch")),
                args=[cst.Arg(star="", value=given)],
            ):
                tape = _tape(module, owner)
            case _:
                continue
        if tape is None or module.is_guarded(call):
            continue
        use = lists.get(id(value_of(module, given)))
        if use is None and not _is_weight(module, given):
            continue
        shown = module.source(given)
        yield rule.finding(
            module.place(given),
            f"a tape does not accept Keras weights: {_SAYS} …> of type 'Variable', not tf.Tensor",
            symbol=f"{_TAPE}.watch",
            confidence=use.confidence if use else Confidence.LIKELY,
            help="Trainable weights are watched automatically; otherwise watch the values of "
            f"`{shown}`.",
            fix=_fix(module, call, given, tape, use.member if use else None),
        )


def _tape(module: Module, node: cst.BaseExpression) -> cst.Call | None:
    """Return the call that made a tape, of a name that holds nothing else."""
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    if len(bound) != 1 or bound[0].path:
        return None
    if bound[0].kind not in (BindingKind.WITH, BindingKind.ASSIGN):
        return None
    made = bound[0].value
    return made if isinstance(made, cst.Call) and module.qualified(made.func) in _TAPES else None


def _is_weight(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is Kind.VARIABLE and not found.is_tf_variable


def _fix(
    module: Module,
    call: cst.Call,
    given: cst.BaseExpression,
    tape: cst.Call,
    of: str | None,
) -> Fix:
    """Return the fix: no call, where the tape watches them by itself; else what they hold."""
    if of in _TRAINABLE and _watches_all(tape) and isinstance(module.parent(call), cst.Expr):
        return rule.fix("Remove it", remove_statement(module, call))
    hole = Hole(module.outer_span(given))
    if of is None:
        parts: tuple[str | Hole, ...] = (hole, ".value")
    else:
        weight = free_name(module, call, "weight")
        parts = (f"[{weight}.value for {weight} in ", hole, "]")
    return rule.fix("Watch their values", Edit(module.outer_span(given), parts))


def _watches_all(tape: cst.Call) -> bool:
    """Say whether a tape watches what is trainable when it is read, as it does unless told."""
    told = argument(tape, "watch_accessed_variables", 1)
    return not is_hidden(tape) and (told is None or literal(told.value) is True)


def _may_watch(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        len(each.node.args) == 1 and isinstance(each.node.func, ast.Attribute)
        for each in quick.calls_of("watch")
    )


rule = Rule(
    code="KD522",
    name="tape-watches-weights",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_TAPE) & member("watch") & Trigger(_may_watch),
    since="3.0",
)

_HEAD = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"
    "x = np.linspace(-1.0, 1.0, 6).reshape(2, 3).astype('float32')\n"
    "model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, "
    "kernel_initializer='ones')])\n"
)
_TAPED = "with tf.GradientTape({}) as tape:\n{}    loss = tf.reduce_sum(model(x) ** 2)\n"
_GRADIENTS = (
    "gradients = tape.gradient(loss, model.{})\n"
    "found = [np.round(np.asarray(each), 3).tolist() for each in gradients]\n"
)
_LOOP = f"{_HEAD}{_TAPED}{_GRADIENTS.format('trainable_variables')}"
_WATCH = "    tape.watch({})\n"
_SELF = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\n\n\nclass Net(keras.Model):\n"
    "    def __init__(self):\n        super().__init__()\n"
    "        self.dense = keras.layers.Dense(1, kernel_initializer='ones')\n\n"
    "    def call(self, x):\n        return self.dense(x)\n\n"
    "    def gradients(self, x):\n        tape = tf.GradientTape(persistent=True)\n"
    "        with tape:\n{}            loss = tf.reduce_sum(self(x))\n"
    "        return tape.gradient(loss, self.trainable_weights)\n\n\n"
    "net, x = Net(), np.ones((2, 3), 'float32')\nnet(x)\n"
    "found = [np.asarray(each).tolist() for each in net.gradients(x)]\n"
)
_LAYER = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\n\nx = np.ones((2, 3), 'float32')\n"
    "layer = keras.layers.Dense(2)\nlayer.build((None, 3))\nweight = None\n"
    "with tf.GradientTape(watch_accessed_variables=False) as tape:\n"
    "    tape.watch({})\n    loss = tf.reduce_sum(layer(x))\n"
    "found = np.asarray(tape.gradient(loss, layer.kernel)).tolist()\n"
)

VALID = [
    # Tensors, what the weights hold, variables of TensorFlow.
    _LOOP.format("", "    tape.watch(tf.constant(x))\n"),
    _LOOP.format("", _WATCH.format("[each.value for each in model.trainable_variables]")),
    _LOOP.format("", "    tape.watch(tf.Variable(x))\n"),
    _LOOP.format("", "    mine = [*model.trainable_weights, 1]\n    tape.watch(mine)\n"),
    # Another's `watch`, or another's weights.
    _LOOP.format("", _WATCH.format("model.trainable_variables")).replace("tf.Gra", "mine.Gra"),
    _LOOP.format("", "    watcher.watch(model.trainable_variables)\n"),
    _LOOP.format("", "    tape.watch(agent.trainable_variables)\n"),
    (
        f"{_LOOP.format('', _WATCH.format('own.weights'))}\n\nclass Own(keras.Model):\n"
        "    weights = ()\n\n\nown = Own()\n"
    ),
    (
        "import tf_keras as "
        + _LOOP.format("", _WATCH.format("model.trainable_variables")).removeprefix("import ")
    ),
    _LOOP.format("", "    tape.watched_variables()\n"),
]
INVALID = [
    Example(
        before=_LOOP.format("", _WATCH.format("model.trainable_variables")),
        after=_LOOP.format("", ""),
        raises=_SAYS,
        same="found",
    ),
    Example(
        before=_SELF.format("            tape.watch(self.trainable_weights)\n"),
        after=_SELF.format(""),
        raises=_SAYS,
        same="found",
    ),
    # By a name.
    Example(
        before=_LOOP.format("", "    mine = model.trainable_weights\n    tape.watch(mine)\n"),
        after=_LOOP.format("", "    mine = model.trainable_weights\n"),
        raises=_SAYS,
        same="found",
    ),
    # It watches nothing by itself; the weights are not trainable.
    Example(
        before=_LOOP.format(
            "watch_accessed_variables=False", _WATCH.format("model.trainable_variables")
        ),
        after=_LOOP.format(
            "watch_accessed_variables=False",
            _WATCH.format("[weight.value for weight in model.trainable_variables]"),
        ),
        raises=_SAYS,
        same="found",
    ),
    Example(
        before=(f"{_HEAD}model.trainable = False\n{_TAPED}{_GRADIENTS.format('weights')}").format(
            "True", _WATCH.format("model.weights")
        ),
        after=(f"{_HEAD}model.trainable = False\n{_TAPED}{_GRADIENTS.format('weights')}").format(
            "True", _WATCH.format("[weight.value for weight in model.weights]")
        ),
        raises=_SAYS,
        same="found",
    ),
    # One; the name `weight` is taken.
    Example(
        before=_LAYER.format("layer.kernel"),
        after=_LAYER.format("layer.kernel.value"),
        raises=_SAYS,
        same="found",
    ),
    Example(
        before=_LAYER.format("layer.trainable_weights"),
        after=_LAYER.format("[weight_2.value for weight_2 in layer.trainable_weights]"),
        raises=_SAYS,
        same="found",
    ),
]
