"""`SGD(learning_rate=1)`: the learning rate must be a Python float.

## What it does
Reports Keras optimizers whose learning rate is an int, a NumPy number other than `float64`
(`np.float32(0.1)`, `np.array(0.1)`), or a tensor or variable (`tf.Variable(0.1)`).

## Why it breaks
Keras 2 accepted any number. Keras 3 requires a Python float, a schedule or a function: `ValueError:
Argument `learning_rate` should be float, or an instance of LearningRateSchedule`.

## What to write instead
`SGD(learning_rate=1.0)`, and `SGD(learning_rate=float(rate))`. Optimizers of Keras 2.10 and earlier
followed later changes of a variable; newer ones read its value once: set `optimizer.learning_rate`
instead. So the fix for a variable is unsafe.

## How we know
Each optimizer of Keras 3.15.1 and of tf_keras 2.21 was created with an int, and Adam with the
result of each of these functions; the check has been in `keras/src/optimizers/base_optimizer.py`
since 3.0.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.queries import Call, constructs
from kdoctor.analysis.queries.forms import Expression, is_plain_int
from kdoctor.analysis.tensors.constructors import FLOATS_OF_NUMPY, INTS_OF_NUMPY
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_OF_NUMPY = frozenset({
    *("array", "asarray", "half", "single"), *INTS_OF_NUMPY,
    *(name for name, is_double in FLOATS_OF_NUMPY.items() if not is_double),
})  # fmt: skip
_VARIABLES = ways_also_by_1("tensorflow.Variable")
_FLOAT = "float"
_FOLLOWED = "Keras 2.10 and earlier followed later changes of a variable's value"
_ERROR = "ValueError: Argument `learning_rate` should be float, or an instance of "


def is_no_float(name: str) -> bool:
    """Say whether what is called gives a number that Keras 3 takes for no float."""
    if name.startswith("numpy."):
        return name.removeprefix("numpy.") in _OF_NUMPY
    return computes_tensor(name) or _is_variable(name)


def _is_variable(name: str) -> bool:
    split = split_root(name)
    of_keras = split is not None and split[1] in {"Variable", "backend.variable"}
    return of_keras or name in _VARIABLES


def _is_refused(form: object) -> bool:
    if isinstance(form, Expression):
        return form.kind == "Call" and any(map(is_no_float, form.meant))
    return is_plain_int(form)


@rule(
    "KD309",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).passing_one_of(
        (("learning_rate", 0), ("lr", None)), where=_is_refused
    ),
)
def check(made: Call) -> Finding | None:
    """Report each learning rate that Keras 3 takes for no float."""
    by_keyword = made.argument("learning_rate") or made.argument("lr")
    given = made.given("learning_rate") or by_keyword
    if given is None or not _is_refused(made.form(given.value)):
        return None
    return made.finding(
        f"the learning rate must be a float: {_ERROR}LearningRateSchedule",
        at=given,
        symbol=f"{made.name}(learning_rate)",
        help="Write a float such as `1.0`, or call `float()` where the rate is read.",
        fix=_as_float(made, given.value),
    )


def _as_float(made: Call, rate: cst.BaseExpression) -> Fix | NoFix:
    is_plain = isinstance(rate, cst.Integer) and rate.value.isdigit() and not rate.lpar
    if not is_plain and not has_builtin(made.module, rate, _FLOAT):
        return NoFix(hidden_builtin(_FLOAT))
    span = made.module.outer_span(rate)
    point, called = (Hole(span), ".0"), (f"{_FLOAT}(", Hole(span), ")")
    form = made.form(rate)
    is_variable = isinstance(form, Expression) and any(map(_is_variable, form.meant))
    return made.fix(
        "Write it as a float",
        Edit(span, point if is_plain else called),
        unsafe_because=_FOLLOWED if is_variable else "",
    )


VALID = [
    "import keras\nkeras.optimizers.SGD(learning_rate=1.0)\nkeras.optimizers.Adam(1e-3)",
    "import keras\n\n\ndef made(rate):\n    return keras.optimizers.SGD(rate)\n\n\nmade(1)",
    "import tf_keras\ntf_keras.optimizers.SGD(1)",
    # Floats of Python and NumPy, and numbers that are made floats.
    (
        "import keras\nimport numpy as np\nkeras.optimizers.SGD(np.float64(0.1))\n"
        "keras.optimizers.Adam(np.exp(-1.0))\nkeras.optimizers.SGD(float(np.float32(0.1)))\n"
        "keras.optimizers.SGD(np.float32(0.1).item())\nkeras.optimizers.SGD(np.linspace(1, 2)[0])"
    ),
    (
        "import keras\nimport tensorflow as tf\nkeras.optimizers.SGD(tf.constant(0.1).numpy())\n"
        "keras.optimizers.SGD(0.1, momentum=tf.Variable(0.9))"
    ),
    "import tensorflow as tf\ntf.compat.v1.train.GradientDescentOptimizer(tf.Variable(0.1))",
    "import numpy as np\nimport tf_keras\ntf_keras.optimizers.SGD(np.float32(0.1))",
]
INVALID = [
    Example(
        before="import keras\nmade = keras.optimizers.SGD(learning_rate=1, momentum=0.9)",
        after="import keras\nmade = keras.optimizers.SGD(learning_rate=1.0, momentum=0.9)",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import keras\nrate = 1\nmade = keras.optimizers.Adadelta(rate)",
        after="import keras\nrate = 1\nmade = keras.optimizers.Adadelta(float(rate))",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import keras\nimport numpy as np\n"
        "made = keras.optimizers.Adam(learning_rate=np.float32(1e-2))",
        after="import keras\nimport numpy as np\n"
        "made = keras.optimizers.Adam(learning_rate=float(np.float32(1e-2)))",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import tensorflow as tf\nrate = tf.constant(0.1)\n"
        "made = tf.keras.optimizers.SGD(rate)",
        after="import tensorflow as tf\nrate = tf.constant(0.1)\n"
        "made = tf.keras.optimizers.SGD(float(rate))",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import tensorflow as tf\nmade = tf.keras.optimizers.Adam(tf.Variable(0.001))",
        after="import tensorflow as tf\nmade = tf.keras.optimizers.Adam(float(tf.Variable(0.001)))",
        raises=_ERROR,
        unsafe=True,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import keras\nrate = keras.Variable(0.1)\nmade = keras.optimizers.SGD(rate)",
        after="import keras\nrate = keras.Variable(0.1)\nmade = keras.optimizers.SGD(float(rate))",
        raises=_ERROR,
        unsafe=True,
    ),
]
