"""Functions of `keras.backend` that Keras 3 does not have, or that no Keras ever had.

## What it does
Reports each use of a function that is missing from the `keras.backend` of the target, and rewrites
it where the arguments, the place and what is known of the tensors allow. `tf.keras.backend` of
Keras 3 still has most of these functions; of it only the missing ones are reported.

## Why it breaks
`keras.backend` had 148 public functions in Keras 2 and has 14 in Keras 3:
`AttributeError: module 'keras.backend' has no attribute 'sum'`. Some names were public by accident
(`unique_object_name`), and some are written though no Keras ever had them (`K.multiply`).

## What to write instead
Mostly the function of the same name in `keras.ops`. Not always: these differ without a word.

- `K.sqrt` takes negative numbers for 0, `keras.ops.sqrt` makes NaN of them.
- `K.argmax`, `K.concatenate`, `K.softmax` go along the last axis, `K.cumsum` along the first;
  `keras.ops` has other defaults. `K.argmax` counts in int64, `keras.ops.argmax` in int32.
- `K.constant([1, 2])` holds floats, `keras.ops.convert_to_tensor([1, 2])` integers.
- `K.repeat` adds an axis, `keras.ops.repeat` does not; `keras.ops.in_top_k` takes targets first.
- `K.hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`, `keras.ops.hard_sigmoid` is `relu6(x + 3) / 6`.
- `K.mean` cuts the mean of integers to an integer, `keras.ops.mean` gives a float. The fix is safe
  where the tensor surely holds floats or bools: what it is made of says so, or it is made of
  `y_pred`, as in every loss.
- `K.switch` lines up a condition of lower rank with the first axes, `keras.ops.where` with the
  last. The fix is safe where condition and branches are made, element by element, of the same
  tensors. A parameter with a number as its default (`delta=1.0`) counts as a number.
- `K.get_value(0.5)` gave a plain number back, `keras.ops.convert_to_numpy(0.5)` makes an array.
- `keras.ops.shape(x)` is a tuple, and holds None while a functional model is built.

What was built into a graph runs at once now. `K.function([model.input], [layer.output])` made a
model of both and gave NumPy arrays; `keras.Function` gives tensors, and takes nothing but the
structure of its inputs. For the learning phase call a model:
`keras.Model(model.input, layer.output)(x, training=True)`. `K.in_train_phase(a, b)`
is `a if training else b`, with `training` as an argument of `call`. `K.gradients(loss, x)` is

    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(model(x))
    gradients = tape.gradient(loss, x)

`K.batch_dot(x, y, axes=(2, 2))` of two stacks of matrices is
`keras.ops.einsum("bij,bkj->bik", x, y)`, of other tensors `keras.layers.dot([x, y], axes=(2, 2))`;
`K.ctc_batch_cost` is `keras.ops.ctc_loss`, whose blank is `mask_index`, the last class in Keras 2.

## How we know
`make prove` runs both sides of every rewrite: the left on tf_keras (Keras 2), the right on Keras 3,
on the same TensorFlow, eagerly, in `tf.function` and on symbolic tensors, with a fixed and with an
unknown batch; and compares kind, dtype, shape, values and gradients. Inputs have 0 to 4 axes, are
float16, bfloat16, float32, float64, int32, int64 and bool, with zeros, negatives, NaN, infinities,
without elements, broadcast against each other, as tensors, variables and NumPy arrays. Where Keras
2 raises there is nothing to compare. A rewrite is safe only if it holds in every case that its
guard lets through. Names that Keras never had are held against the function of TensorFlow or NumPy
of that name. The record says for each rewrite what it was held against, and where it differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rewrite import ONLY_IN_DEAD_CODE, Refusal, RewriteTable
from kdoctor.rules.facts import Facts
from kdoctor.rules.names._backend import BY_HAND, REWRITES, statements
from kdoctor.rules.names._backend.dots import EXAMPLES as DOTS
from kdoctor.rules.names._backend.functions import as_function
from kdoctor.rules.names._backend.orderings import compared_ordering
from kdoctor.rules.names._backend.phase_inputs import with_phase
from kdoctor.rules.names._backend.phases import decorator_fix, phase_fix
from kdoctor.rules.names._backend.running import session_fix
from kdoctor.rules.names._backend.session_examples import FUNCTION, SESSIONS
from kdoctor.rules.names._missing import (
    another_star_may_bind_it,
    error_of,
    is_closed,
    is_given,
)
from kdoctor.rules.names._told import told_once
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import names, word
from kdoctor.syntax import Module, Reference, ReferenceKind

_MODULE = "backend."
_WITH_PHASE = frozenset({"function", "learning_phase"})
_NOT_EQUAL = "for some arguments Keras 2 gives something else, see `kdoctor rules KD101`"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each missing function once: where it is read, or at an import that nothing reads."""
    missing = [
        reference
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and function(reference.name) is not None
        and facts.lookup(reference.name).presence is Presence.MISSING
        and not module.is_guarded(reference.node)
        and not is_closed(reference)
        and not another_star_may_bind_it(module, reference)
        and not is_given(module, reference)
    ]
    rows = table(facts)
    for reference in told_once(missing):
        yield _finding(module, facts, reference, rows)


def _may_be_gone(facts: Facts, dotted: str) -> bool:
    return function(dotted) is not None and facts.lookup(dotted).presence is Presence.MISSING


@cache
def table(facts: Facts) -> RewriteTable:
    """Return what stands for the functions of ``keras.backend``."""
    return RewriteTable(REWRITES, facts.signature)


def _finding(module: Module, facts: Facts, reference: Reference, rows: RewriteTable) -> Finding:
    name = function(reference.name)
    assert name is not None
    attempt = attempted(module, facts, reference, rows, name)
    found = facts.lookup(reference.name)
    last = found.periods[-1][1] if found.periods else None
    history = f"is gone (it was last in {found.root} {last})" if last else "does not exist"
    return rule.finding(
        module.place(reference.node),
        f"`{found.missing_prefix}` {history}: {error_of(reference, found)}",
        symbol=reference.name,
        confidence=reference.confidence,
        help=help_for(name, attempt),
        fix=attempt if isinstance(attempt, Fix) else None,
        no_fix_because=_reason(name, attempt, rows) if isinstance(attempt, Refusal) else None,
    )


def attempted(
    module: Module, facts: Facts, reference: Reference, rows: RewriteTable, name: str
) -> Fix | Refusal:
    """Return the fix of one use of ``keras.backend.<name>``, or why there is none."""
    proven = {each: facts.applicability(example) for each, example in _SPECIAL.items()}
    leaf = reference.name.rpartition(".")[2]  # of `backend.tensorflow_backend.set_session`
    special: Fix | Refusal | None
    if reference.call is not None:
        special = statements.special_fix(module, leaf, reference.call, proven)
    else:
        special = decorator_fix(module, leaf, reference.node, proven["symbolic"])
    if special is None and leaf in _WITH_PHASE:
        special = with_phase(module, reference)
    if special is None and leaf == "get_session":
        special = session_fix(module, reference)
    if special is None and leaf == "function":
        special = as_function(module, reference, proven["function"])
    if special is None and leaf == "image_dim_ordering":
        special = compared_ordering(module, reference, proven["image_dim_ordering"])
    if special is not None:
        return special
    attempt = rows.attempt(
        module,
        reference,
        facts.applicability,
        lambda use: attempted(module, facts, use, rows, name),
    )
    if isinstance(attempt, Fix):
        told = replace(attempt, unsafe_because=BY_HAND.get(name, _NOT_EQUAL))
        return statements.with_the_name_of_today(module, reference.call, told)
    phase = phase_fix(module, leaf, reference.call) if reference.call is not None else None
    return phase or attempt


def function(name: str) -> str | None:
    """Return ``sum`` for ``keras.backend.sum``, under any root; None for all else."""
    split = split_root(name)
    if split is None or not split[1].startswith(_MODULE):
        return None
    return split[1].removeprefix(_MODULE).partition(".")[0]


def help_for(name: str, attempt: Fix | Refusal) -> str:
    """Return what to write instead of ``keras.backend.<name>``."""
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    text = BY_HAND.get(name, "")
    if text.startswith("keras."):
        return f"{text}."
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _reason(name: str, refusal: Refusal, rows: RewriteTable) -> str:
    if rows.rows_for(f"keras.backend.{name}") or refusal == ONLY_IN_DEAD_CODE:
        return refusal.reason
    return "no single expression stands for it in Keras 3"


rule = Rule(
    code="KD101",
    name="backend-function-gone",
    family="names",
    severity=Severity.ERROR,
    check=check,
    triggers=word("backend") & names(_may_be_gone),
    since="3.0",
)

_COMPILED = (
    "import keras\nfrom keras import backend as K\n\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    'model.compile("sgd", "mse")\n'
)
# What no template can say; how safe it is, these runs show.
_SPECIAL = {
    "function": FUNCTION,
    "image_dim_ordering": Example(
        before="from keras import backend as K\n\n"
        "axis = 1 if K.image_dim_ordering() == 'th' else -1\n"
        'last = "tf" == K.image_dim_ordering()\n',
        after="from keras import config\n\n"
        "axis = 1 if config.image_data_format() == 'channels_first' else -1\n"
        'last = "channels_last" == config.image_data_format()\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'image_dim_ordering'",
        findings=2,
        check="assert (axis, last) == (-1, True)",
    ),
    "set_value": Example(
        before=_COMPILED + "K.set_value(model.optimizer.learning_rate, 0.5)\n",
        after=_COMPILED.replace("from keras import backend as K\n", "")
        + "model.optimizer.learning_rate = 0.5\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_value'",
        check="assert float(model.optimizer.learning_rate) == 0.5",
    ),
    "shape": Example(
        before="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.backend.reshape(x, (keras.backend.shape(x)[0], 2, 2))\n",
        after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.reshape(x, (-1, 2, 2))\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'reshape'",
        findings=2,
        check="assert y.shape == (None, 2, 2)",
    ),
    # Keras 2.3.1: a function so marked ran in Keras' graph, which was the only one it had.
    "symbolic": Example(
        before="from keras import backend as K\n\n\n@K.symbolic\ndef double(x):\n"
        "    return x * 2\n",
        after="def double(x):\n    return x * 2\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'symbolic'",
        check="assert double(2) == 4",
    ),
}
_IMPORT = "from keras import backend as K\n"
_NOISE = (
    f"import keras\n{_IMPORT}\n\nclass Noise(keras.layers.Layer):\n"
    "    def call(self, x, training=None):\n        def noisy():\n            return x + 1\n\n"
    "        return {}\n\n\ny = Noise()(keras.ops.ones(()), training=True)\n"
)
_NOISE_CHECK = "assert float(y) == 2.0 and float(Noise()(keras.ops.ones(()))) == 1.0"
_PHASE = (
    f"import keras\n{_IMPORT}\n\nclass Twice(keras.layers.Layer):\n"
    "    def call(self, x, training=None):\n        if training is None:\n"
    "            training = {}\n        return x * 2 if training else x\n\n\n"
    "y = Twice()(keras.ops.ones(()))\n"
)

VALID = [
    # Put there by hand.
    "from keras import backend as K\nK.dtype = str\nK.dtype(1.0)",
    "from keras import backend as K\ndef f(x): return K.dtype(x)\nK.dtype = str",
    "from keras import backend as K\nsetattr(K, 'dtype', str)\nK.dtype(1.0)",
    # These are still there.
    "from keras import backend as K\nK.epsilon() + float(K.floatx() == 'float32')",
    # The root decides.
    "from tensorflow.keras import backend as K\nK.sum(1.0)",
    "import tf_keras.backend as K\nK.sum(1.0)",
    # A fallback that works.
    (
        "from keras import backend as K\ntry:\n    total = K.sum\n"
        "except AttributeError:\n    from keras.ops import sum as total"
    ),
    # Not Keras' backend.
    "class K:\n    sum = sum\n\nK.sum([1])",
]
INVALID = [
    Example(
        before="from keras import backend as K\n\n"
        "def loss(y_true, y_pred):\n"
        "    return K.mean(K.square(y_pred - y_true), axis=-1)\n",
        after="from keras import ops\n\n"
        "def loss(y_true, y_pred):\n"
        "    return ops.mean(ops.square(y_pred - y_true), axis=-1)\n",
        raises=None,
        findings=2,
        check="assert float(loss(ops.ones((2,)), ops.zeros((2,)))) == 1.0",
    ),
    Example(
        before="import keras.backend as K\n\nx = K.constant([1, 2])\n",
        after="from keras import config, ops\n\n"
        "x = ops.convert_to_tensor([1, 2], dtype=config.floatx())\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'constant'",
        check="import keras\nassert keras.backend.standardize_dtype(x.dtype) == 'float32'",
    ),
    Example(
        before="from keras import backend as K\n\nroot = K.sqrt(K.abs(-4.0))\n",
        after="from keras import ops\n\nroot = ops.sqrt(ops.abs(-4.0))\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'sqrt'",
        findings=2,
        check="assert float(root) == 2.0",
    ),
    Example(
        before="import keras\n\nx = keras.ops.ones((2, 3))\ntop = keras.backend.argmax(x) + 1\n",
        after="import keras\n\nx = keras.ops.ones((2, 3))\n"
        'top = keras.ops.cast(keras.ops.argmax(x, axis=-1), "int64") + 1\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'argmax'",
        check="assert keras.backend.standardize_dtype(top.dtype) == 'int64'",
    ),
    Example(
        before="from tensorflow.keras import backend as K\n\nproduct = K.multiply(2.0, 3.0)\n",
        after="from tensorflow.keras import ops\n\nproduct = ops.multiply(2.0, 3.0)\n",
        raises="AttributeError: module 'keras._tf_keras.keras.backend' has no attribute 'multiply'",
        check="assert float(product) == 6.0",
    ),
    # For integers it would be another number: Keras 2 gives 1.
    Example(
        before="from keras import backend as K\n\ndef centre(x):\n    return K.mean(x, axis=1)\n",
        after="from keras import ops\n\ndef centre(x):\n    return ops.mean(x, axis=1)\n",
        unsafe=True,
        check="assert centre(ops.ones((2, 3))).shape == (2,)",
    ),
    statements.HYPERPARAMETER,
    statements.RATE_BY_NAME,
    *_SPECIAL.values(),
    Example(
        before="from keras import backend as K\n\n\ndef call(x, training=None):\n"
        "    return K.in_train_phase(lambda: x * 2, lambda: x, training=training)\n",
        after="def call(x, training=None):\n"
        "    return (lambda: x * 2)() if training else (lambda: x)()\n",
        check="assert (call(1, True), call(1)) == (2, 1)",
    ),
    Example(
        before=_NOISE.format("K.in_train_phase(noisy, x)"),
        after=_NOISE.format("noisy() if training else x").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
        check=_NOISE_CHECK,
    ),
    Example(
        before=_NOISE.format("(1 + K.in_test_phase(\n            x, lambda: x + 1)) - 1"),
        after=_NOISE.format("(1 + (x + 1 if training else x)) - 1").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
    ),
    Example(
        before=_NOISE.format("K.in_train_phase(noisy, x) * K.learning_phase()"),
        after=_NOISE.format("(noisy() if training else x) * training").replace(_IMPORT, ""),
        unsafe=True,
        findings=2,
        raises="AttributeError: ",
    ),
    Example(
        before=_PHASE.format("K.learning_phase()"),
        after=_PHASE.format("False").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
        check="assert float(Twice()(keras.ops.ones(()))) == 1.0\n"
        "assert float(Twice()(keras.ops.ones(()), training=True)) == 2.0",
    ),
    # A layer makes a weight of what is given to its attributes.
    Example(
        before="import keras\nfrom keras import backend as K\n\n\n"
        "class Scale(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.factor = K.variable(2.0)\n\n"
        "    def call(self, x):\n        return x * self.factor\n",
        after="import keras\n\n\n"
        "class Scale(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.factor = keras.Variable(2.0, dtype=keras.config.floatx())\n\n"
        "    def call(self, x):\n        return x * self.factor\n",
        unsafe=True,
        check="layer = Scale()\nassert float(layer(keras.ops.ones(()))) == 2.0\n"
        "assert len(layer.trainable_weights) == 1",
    ),
    Example(
        before="import keras\nfrom keras import backend as K\n\na = keras.Variable(1.0)\n"
        "pairs = [(a, 3.0)]\nK.batch_set_value(pairs)\n",
        after="import keras\n\na = keras.Variable(1.0)\n"
        "pairs = [(a, 3.0)]\nfor variable, value in pairs:\n    variable.assign(value)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'batch_set_value'",
        check="assert float(a) == 3.0",
    ),
    Example(
        before="import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n"
        "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
        "session = tf.compat.v1.Session(config=config)\nK.set_session(session)\n"
        "print(keras.__version__)\n",
        after="import keras\nimport tensorflow as tf\n\n"
        'for gpu in tf.config.list_physical_devices("GPU"):\n'
        "    tf.config.experimental.set_memory_growth(gpu, True)\n"
        "print(keras.__version__)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    *SESSIONS,
    *DOTS,
    Example(
        before="import keras\nfrom keras import backend as K\n\nx = keras.Input((2,))\n"
        "run = K.function([x, K.learning_phase()], [x])\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'function'",
        findings=2,
    ),
    Example(
        before="import keras\nfrom keras import backend as K\n\n\n"
        "def infer():\n    K.set_learning_phase(0)\n\n\n"
        "K.set_learning_phase(0)\ninfer()\n",
        after="import keras\n\n\ndef infer():\n    pass\n\n\ninfer()\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_learning_phase'",
        findings=2,
    ),
    # Whoever sets it to 1 wants what only `training=True` gives now.
    Example(
        before="from keras import backend as K\n\nK.set_learning_phase(1)\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_learning_phase'",
    ),
    Example(
        before="from keras import backend as K\n\nordering = K.image_dim_ordering()\n",
        after="from keras import config\n\n"
        'ordering = "tf" if config.image_data_format() == "channels_last" else "th"\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'image_dim_ordering'",
        check="assert ordering == 'tf'",
    ),
    # The session is used for more.
    Example(
        before="import tensorflow as tf\nfrom keras import backend as K\n\n"
        "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
        "session = tf.compat.v1.Session(config=config)\nK.set_session(session)\n"
        "session.run([])\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    Example(
        before="from keras import backend as K\n\nK.set_session(None)\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    Example(
        before="from keras import backend as K\n\nprint(K.unique_object_name('dense'))\n",
        after="from keras import backend as K\n\nprint(f\"dense_{K.get_uid('dense')}\")\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'unique_object_name'",
    ),
]
