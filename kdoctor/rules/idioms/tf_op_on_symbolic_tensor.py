"""TensorFlow functions called with a symbolic tensor while a model is built.

## What it does
Reports each call of a TensorFlow function (`tf.reduce_sum`, `tf.concat`, `tf.nn.relu`, …) if one of
its arguments is known to be a symbolic tensor: a `keras.Input`, the output of a layer, or the
parameter of a function or method that is called with one, or of a function that itself creates
layers. If a function in another file of the project is known to do so, its call is reported. In
`Layer.call`, in losses and metrics, and in the function of a `Lambda` layer tensors are TensorFlow
tensors, and nothing is reported; but a tensor that a loss takes from the model around it (`z_mean`
of an encoder) is symbolic.

## Why it breaks
The symbolic tensors of Keras 2 were TensorFlow tensors, and each function became a layer. Those of
Keras 3 belong to no framework: `ValueError: A KerasTensor cannot be used as input to a TensorFlow
function.`

## What to write instead
The function of `keras.ops`. Most have the same name; these do not, or behave differently:

- `tf.reduce_sum`, `tf.reduce_mean`, … are `sum`, `mean`, …; the mean of integers is a float.
- `tf.concat` is `concatenate`, `tf.reverse` is `flip`, `tf.gather` is `take`, `tf.pow` is `power`.
- `tf.argmax` uses the first axis by default, and returns int64.
- `tf.split(x, [2, 3])` takes the sizes of the pieces, `keras.ops.split(x, [2])` the split points.
- `tf.shape(x)[0]` has no value yet: write -1 for the batch in `keras.ops.reshape`.
- What `keras.ops` lacks (`tf.gather_nd`, `tf.image.crop_and_resize`) goes into a layer:

      class Crop(keras.layers.Layer):
          def call(self, images, boxes, indices):
              return tf.image.crop_and_resize(images, boxes, indices, (14, 14))

Operators (`x + 1`, `x[:, 0]`, `x @ y`) work on symbolic tensors as they are.

In a loss `keras.ops` does not help: `y_true` and `y_pred` have values there, a symbolic tensor of
the model has none. Compute this part in the `call` of a layer, and pass it to `self.add_loss`.

## How we know
Run on Keras 3.15.1: each public function of TensorFlow's math modules was called with a symbolic
tensor; those that raised are listed in a generated table (`tools/tensorflow_names.py`).
`make prove` runs both sides of every rewrite, the left on TensorFlow and on symbolic tensors of
tf_keras, the right on Keras 3.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.dataflow.captures import read_in_a_loss, read_in_a_possible_loss
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import (
    REFUSED,
    RUN_WITH_VALUES,
    SYMBOLIC,
    has_other_sizes_known,
    holds_symbolic,
    infer_size_fix,
    is_inferable_reshape_size,
)
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import Presence
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.idioms._tensorflow import (
    BY_HAND,
    REWRITES,
    canonical,
    forgets,
    is_of_tensorflow_1,
    only_1,
    refuses_symbolic_tensors,
)
from kdoctor.rules.idioms._tensorflow.differences import DIFFERENCES
from kdoctor.rules.idioms._tensorflow.examples import (
    CLOSURES,
    IN_LOOPS,
    IN_LOOPS_OF_VALUES,
    LOSS,
    THROUGH_OWN_CODE,
)
from kdoctor.rules.idioms._tensorflow.forwarded_tensors import as_layer, handed_over
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.quick_facts import QuickFacts

_NEW = pattern(r"\bkeras(?:\.\w+)+")
# What fails for another reason, as measured on Keras 3.15.1.
_OTHER_ERRORS = {
    "constant": "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype.",
    "map_fn": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported type",
    "scan": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported type",
    "while_loop": "TypeError: Could not build a TypeSpec for <KerasTensor shape=…> of unsupported "
    "type",
    "cond": REFUSED,
    "Variable": REFUSED,
}
_NOT_EQUAL = "for some arguments TensorFlow returns something else, see `kdoctor rules KD503`"
_MAY_BE_NONE = (
    "a size that depends on the data, such as the batch size, is None while the model is built"
)
_NAMELESS = "the operation loses its name, which other code may look for"
_NO_CURE = "a loss gets values, but `{}` has none: `keras.ops` would fail there too"
_MAY_BE_NO_CURE = (
    "if the function is a loss or a metric, it would fail with `keras.ops` too: `{}` has no "
    "value there"
)
_LAYER_WITH_LOSS = (
    "compute it in the `call` of a custom layer, and pass it to `self.add_loss(value)`; `kdoctor "
    "explain KD213` shows a complete one"
)
_LAYER_OF_ITS_OWN = "move it into the `call` of a custom layer"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call with a symbolic tensor."""
    for reference in module.references:
        error = error_of_symbolic(module, reference)
        if error and reference.call and not module.is_guarded(reference.node):
            yield _finding(module, facts, reference, reference.call, error)
    for call, name in handed_over(module, error_of_name):
        if module.context_of(call) not in RUN_WITH_VALUES and not module.is_guarded(call):
            yield _of_own_function(module, call, name)


def _may_be_called_with_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    by_pytest = "parametrize" in quick.attributes
    named = (called for called in quick.calls if isinstance(called.node.func, ast.Name))
    refused = (
        called
        for name, calls in quick.calls_by_meaning.items()
        if _may_refuse(quick, name)
        for called in calls
    )
    return any(
        may_get_a_tensor(quick, facts, called)
        for called in chain(refused, named if by_pytest else ())
    )


def _may_refuse(quick: QuickFacts, name: str) -> bool:
    return error_of_name(name) is not None or any(
        error_of_name(callee) is not None for _, callee in quick.parameter_callees(name)
    )


def error_of_symbolic(module: Module, reference: Reference) -> str | None:
    """Return what a call raises because of a symbolic tensor, None of all else."""
    call = reference.call
    if reference.kind is not ReferenceKind.LOAD or call is None:
        return None
    error = error_of_name(reference.name)
    if error is None or not any(holds_symbolic(module, each.value) for each in call.args):
        return None
    if module.context_of(call) not in RUN_WITH_VALUES or read_in_a_loss(module, call):
        return error
    return None


@lru_cache(maxsize=2048)
def error_of_name(name: str) -> str | None:
    """Return what a function of TensorFlow raises that gets a symbolic tensor, None if nothing."""
    rest = re.sub(r"^tensorflow\.(compat\.v[12]\.)?", "", name)
    gone = only_1(name) if is_of_tensorflow_1(name) else None
    if gone is not None:
        return f"AttributeError: module '{gone.parent}' has no attribute '{gone.leaf}'"
    if rest in _OTHER_ERRORS:
        return _OTHER_ERRORS[rest] if name.startswith("tensorflow.") else None
    return REFUSED if refuses_symbolic_tensors(name) else None


def _of_own_function(module: Module, call: cst.Call, name: str) -> Finding:
    shown = canonical(name).replace("tensorflow.", "tf.", 1)
    fix = as_layer(module, call)
    return rule.finding(
        module.place(call.func),
        f"`{module.source(call.func)}` passes its symbolic tensor to `{shown}`: "
        f"{error_of_name(name)}",
        symbol=name,
        confidence=Confidence.LIKELY,
        help="Turn it into a layer, `keras.layers.Lambda(function)(x)`; or write the function "
        "with `keras.ops`, which accept both kinds of tensors.",
        fix=fix or NoFix("it takes more arguments than the tensor"),
    )


def _finding(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call, error: str
) -> Finding:
    known = canonical(reference.name)
    attempt = _attempt(module, facts, replace(reference, name=known, names=(known,)), call)
    name = known.removeprefix("tensorflow.")
    by_hand = BY_HAND.get(name, _LAYER_OF_ITS_OWN)
    outer = read_in_a_loss(module, call)
    if outer is not None:
        by_hand, attempt = _LAYER_WITH_LOSS, NoFix(_NO_CURE.format(outer))
    elif isinstance(attempt, Fix) and (outer := read_in_a_possible_loss(module, call)):
        attempt = replace(
            attempt,
            applicability=Applicability.UNSAFE,
            unsafe_because=_MAY_BE_NO_CURE.format(outer),
        )
    return rule.finding(
        module.place(reference.node),
        f"`{module.source(reference.node)}` is called with a symbolic tensor: {error}",
        symbol=reference.name,
        confidence=Confidence.LIKELY,
        help=f"{attempt.title}." if isinstance(attempt, Fix) else f"{_sentence(by_hand)}.",
        fix=attempt if isinstance(attempt, Fix) else _reason(attempt, known, facts),
    )


def _attempt(
    module: Module, facts: TargetFacts, reference: Reference, call: cst.Call
) -> Fix | NoFix:
    size = is_inferable_reshape_size(module, call) if reference.name == "tensorflow.shape" else None
    if size is not None:
        sure = has_other_sizes_known(module, size)
        return infer_size_fix(
            module, size, rule.applicability([_OPEN_SIZE]) if sure else Applicability.UNSAFE
        )
    table, nameless = _tables(facts)
    attempt = table.attempt(module, reference, facts.applicability)
    if isinstance(attempt, Fix):
        is_size = reference.name == "tensorflow.shape"
        known = DIFFERENCES.get(reference.name.rpartition(".")[2], _NOT_EQUAL)
        return replace(attempt, unsafe_because=_MAY_BE_NONE if is_size else known)
    unnamed = nameless.attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(unnamed, Fix):
        return replace(unnamed, title=f"{unnamed.title}, without name=", unsafe_because=_NAMELESS)
    return attempt


def _reason(refused: NoFix, name: str, facts: TargetFacts) -> NoFix:
    if _tables(facts)[0].rows_for(name):
        return refused
    return NoFix("there is no single replacement expression in Keras 3")


def _sentence(text: str) -> str:
    return text if text.startswith(("keras.", "tf.")) else f"{text[:1].upper()}{text[1:]}"


@cache
def _tables(facts: TargetFacts) -> tuple[RewriteTable, RewriteTable]:
    """Return the rows whose right sides the target has; and the same for calls with ``name=``."""
    rows = [
        row
        for row in REWRITES
        if all(
            facts.lookup(name).presence is not Presence.MISSING for name in _NEW.findall(row.right)
        )
    ]
    named = [row for row in rows if "name" in row.left and "name" in row.pattern.parameters]
    nameless = [
        rewrite(row.left, row.right, forgets() if row.when is None else row.when & forgets())
        for row in named
    ]
    return RewriteTable(rows, facts.signature), RewriteTable(nameless, facts.signature)


rule = Rule(
    code="KD503",
    name="tf-op-on-symbolic-tensor",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & Trigger(_may_be_called_with_one),
    since="3.0",
)

_HEAD = "import keras\nimport tensorflow as tf\n\nx = keras.Input((4,))\n"

_OPEN_SIZE = Example(
    before=_HEAD + "y = tf.reshape(x, (tf.shape(x)[0], 2, 2))\n",
    after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.reshape(x, (-1, 2, 2))\n",
    raises=REFUSED,
    findings=2,
    check="assert y.shape == (None, 2, 2)",
)

VALID = [
    # Of whether it is another object, True or False is the answer.
    _HEAD + "y = tf.cast(x == 0, 'float32'), tf.cast(x is None, 'float32')",
    # Operators, and what makes no difference to symbolic tensors.
    _HEAD + "y = x + tf.constant(1.0)\nprint(tf.is_tensor(x), tf.print(x))",
    # On tensors with values.
    "import keras\nimport tensorflow as tf\n\ny = tf.reduce_sum(tf.ones((2, 3)))",
    (
        "import keras\nimport tensorflow as tf\n\nx = keras.layers.add([tf.ones((2, 3))] * 2)\n"
        "y = tf.reduce_sum(keras.layers.maximum([x, tf.zeros((2, 3))]))"
    ),
    # Inside a layer, a loss, a metric, the function of a Lambda.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Sum(keras.layers.Layer):\n"
        "    def call(self, x):\n        return tf.reduce_sum(x, axis=-1)"
    ),
    _HEAD + "y = keras.layers.Lambda(lambda t: tf.reduce_sum(t, axis=-1))(x)",
    (
        "import keras\nimport tensorflow as tf\n\n\ndef total(t):\n"
        "    return tf.reduce_sum(t, axis=-1)\n\n\n"
        "y = keras.layers.Lambda(total)(keras.Input((4,)))"
    ),
    (
        "import tensorflow as tf\nfrom tensorflow import keras\n\n\n"
        "def loss(y_true, y_pred):\n    return tf.reduce_mean(tf.square(y_true - y_pred))"
    ),
    # A loss that works out by itself what it takes from a model.
    LOSS.format("tf.reduce_sum(model(y_true))"),
    # A method that takes others, too.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Net:\n    def act(self, x):\n"
        "        return tf.nn.relu(x)\n\n    def build(self, data):\n        self.act(data)\n\n\n"
        "Net().build(tf.ones(3))\ny = keras.Input((2,))"
    ),
    # A function inside of a layer's call.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def call(self, x):\n        def total(t):\n            return tf.reduce_sum(t)\n\n"
        "        return total(keras.layers.Dense(2)(x))"
    ),
    # A function that gets both, or of which nobody knows what it gets.
    (
        "import keras\nimport tensorflow as tf\n\n\ndef total(t):\n    return tf.reduce_sum(t)"
        "\n\n\ntotal(keras.Input((4,)))\ntotal(tf.ones(3))"
    ),
    "import keras\nimport tensorflow as tf\n\n\ndef total(t):\n    return tf.reduce_sum(t)",
    *IN_LOOPS_OF_VALUES,
    # Keras 2, for good.
    "import tensorflow as tf\nimport tf_keras\n\ny = tf.reduce_sum(tf_keras.Input((4,)))",
]
INVALID = [
    Example(
        before=_HEAD + "y = tf.reduce_sum(x, axis=-1)\n",
        after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.sum(x, axis=-1)\n",
        raises=REFUSED,
        check="assert keras.Model(x, y)(keras.ops.ones((2, 4))).numpy().tolist() == [4.0, 4.0]",
    ),
    Example(
        before="import tensorflow as tf\nfrom tensorflow.keras import layers\n\n\n"
        "def block(x, units):\n    x = layers.Dense(units)(x)\n"
        "    return tf.concat([x, tf.nn.relu(x)], axis=-1)\n\n\n"
        "y = block(layers.Input((4,)), 3)\n",
        after="from tensorflow.keras import layers, ops\n\n\n"
        "def block(x, units):\n    x = layers.Dense(units)(x)\n"
        "    return ops.concatenate([x, ops.relu(x)], axis=-1)\n\n\n"
        "y = block(layers.Input((4,)), 3)\n",
        raises=REFUSED,
        findings=2,
        check="assert y.shape == (None, 6)",
    ),
    Example(
        before="from tensorflow.compat import v2 as tf\n\nx = tf.keras.Input((4,))\n"
        "y = tf.math.reduce_sum(x, axis=-1)\n",
        after="from tensorflow.compat import v2 as tf\n\nx = tf.keras.Input((4,))\n"
        "y = tf.keras.ops.sum(x, axis=-1)\n",
        raises=REFUSED,
        check="assert y.shape == (None,)",
    ),
    # A parameter that may go through another layer first.
    Example(
        before="import tensorflow as tf\n\n\ndef block(x, smaller=False):\n    if smaller:\n"
        "        x = tf.keras.layers.ZeroPadding2D(1)(x)\n"
        "    x = tf.keras.layers.Conv2D(3, 2)(x)\n    return tf.nn.leaky_relu(x)\n",
        after="import tensorflow as tf\n\n\ndef block(x, smaller=False):\n    if smaller:\n"
        "        x = tf.keras.layers.ZeroPadding2D(1)(x)\n"
        "    x = tf.keras.layers.Conv2D(3, 2)(x)\n    return tf.keras.ops.leaky_relu(x)\n",
        check="x = tf.keras.Input((4, 4, 1))\nassert block(x, smaller=True).shape[1:] == (5, 5, 3)",
        on_keras_2=True,
    ),
    # Comparisons of symbolic tensors are symbolic tensors.
    Example(
        before=_HEAD + "y = tf.cast(x > 0, 'int32') + tf.cast(~(x != 2), 'int32')\n",
        after="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.ops.cast(x > 0, 'int32') + keras.ops.cast(~(x != 2), 'int32')\n",
        raises=REFUSED,
        findings=2,
        check="given = keras.ops.array([[-1.0, 0.0, 2.0, 3.0]])\n"
        "assert keras.Model(x, y)(given).numpy().tolist() == [[0, 0, 2, 1]]",
    ),
    # Whatever its parameters are called.
    Example(
        before=_HEAD + "\n\ndef loss(y_true, y_pred):\n"
        "    return tf.reduce_mean((y_true - y_pred) ** 2)\n\n\n"
        "y = loss(x, keras.layers.Dense(4)(x))\n",
        after="import keras\n\nx = keras.Input((4,))\n\n\ndef loss(y_true, y_pred):\n"
        "    return keras.ops.mean((y_true - y_pred) ** 2)\n\n\n"
        "y = loss(x, keras.layers.Dense(4)(x))\n",
        raises=REFUSED,
        unsafe=True,
        check="assert y.shape == ()",
    ),
    _OPEN_SIZE,
    Example(
        before=_HEAD + 'y = tf.identity(x, name="out")\n',
        after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.copy(x)\n",
        raises=REFUSED,
        unsafe=True,
        check="assert y.shape == (None, 4)",
    ),
    Example(
        before=_HEAD + "y = tf.log(x)\n",
        after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.log(x)\n",
        raises="AttributeError: module 'tensorflow' has no attribute 'log'",
        check="assert y.shape == (None, 4)",
    ),
    # Right for this size; that of the batch would be None.
    Example(
        before=_HEAD + "size = tf.shape(x)[1]\n",
        after="import keras\n\nx = keras.Input((4,))\nsize = keras.ops.shape(x)[1]\n",
        raises=REFUSED,
        unsafe=True,
        check="assert size == 4",
    ),
    *CLOSURES,
    *IN_LOOPS,
    *THROUGH_OWN_CODE,
    # There is nothing like it in keras.ops.
    Example(before=_HEAD + "y = tf.gather_nd(x, [[0]])\n", raises=REFUSED),
]
