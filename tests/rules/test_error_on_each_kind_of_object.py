"""What is called an error on an object raises on that sort of object: Keras and TensorFlow decide.

A weight of Keras is no `tf.Variable`, and neither is a tensor: what one of them lacks, or refuses,
another may have. So each sort is asked for itself.
"""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Severity
from kdoctor.rules.members._advice import _ADVICE, NOT_PUBLIC
from kdoctor.rules.members._member_rewrites import ROWS
from kdoctor.rules.names.legacy_backend import ON_SYMBOLIC, ON_VARIABLE

pytestmark = pytest.mark.frameworks

HEAD = (
    "import numpy as np\nimport tensorflow as tf\nfrom tensorflow.keras import backend as K\n\n"
    "x = tf.keras.Input((1,))\n"
)
SORTS = {
    "tf.Variable": "v = tf.Variable([[1.0]])",
    "K.variable": "v = K.variable([[1.0]])",
    "keras.Variable": "v = tf.keras.Variable([[1.0]])",
    "weight": "v = tf.keras.layers.Dense(1).add_weight(shape=(1, 1))",
    "learning rate": "v = tf.keras.optimizers.SGD(0.1).learning_rate",
    "KerasTensor": "v = tf.keras.Input((1,))",
    "tensor": "v = tf.constant([[1.0]])",
    "array": "v = np.ones((1, 1), 'float32')",
}
# What some functions want besides the object: elsewhere one argument is enough.
GIVEN = {
    **dict.fromkeys(("set_value", "update", "update_add", "update_sub"), "v, [[2.0]]"),
    **dict.fromkeys(("concatenate", "stack"), "[v, v]"),
    **dict.fromkeys(
        ("batch_dot", "dot", "equal", "greater", "greater_equal", "less", "less_equal"), "v, v"
    ),
    **dict.fromkeys(("maximum", "minimum", "not_equal", "binary_crossentropy"), "v, v"),
    "cast": "v, 'float16'", "clip": "v, 0, 1", "pow": "v, 2", "permute_dimensions": "v, (1, 0)",
    "repeat_elements": "v, 2, 0", "reshape": "v, (1, 1)", "reverse": "v, 0", "squeeze": "v, 0",
    "tile": "v, (2, 1)", "repeat": "v, 2", "switch": "v[0, 0] > 0, v, v", "gather": "v, 0",
    "one_hot": "v, 2", "dropout": "v, 0.5",
}  # fmt: skip
MEMBERS = sorted(
    {*NOT_PUBLIC, *(name for _, name in _ADVICE), *(row.member for row in ROWS)}
    | {"unique_object_name", "name", "path", "value", "numpy", "assign", "shape", "get_shape"}
)
OPERATIONS = (
    *("v + x", "x * v", "v == x", "x < v", "np.float32(1) * v", "np.ones(1) * v", "bool(v)"),
    *("float(v)", "len(v)", "np.array(v)", "tf.reduce_mean(v)", "tf.keras.ops.mean(v)"),
)
LINES = (
    *(f"K.{name}({GIVEN.get(name, 'v')})" for name in {**ON_SYMBOLIC, **ON_VARIABLE}),
    *(f"v.{name}" for name in MEMBERS),
    *(f"v.{name}()" for name in MEMBERS),
    *OPERATIONS,
)


def errors(sort: str, lines: tuple[str, ...] = LINES) -> dict[str, str]:
    """The lines that `scan` calls errors, with what it says, where `v` is of this sort."""
    head = f"{HEAD}{SORTS[sort]}\n"
    source = head + "\n".join(lines)
    found = scan(["-"], stdin=source.encode(), target="tensorflow==2.21").findings
    first = head.count("\n") + 1
    return {
        lines[each.place.line - first]: each.message
        for each in found
        if each.severity is Severity.ERROR and each.place.line >= first
    }


def error_of(sort: str, line: str) -> str:
    """What Python says of a line, "" where it runs."""
    names: dict[str, object] = {}
    exec(f"{HEAD}{SORTS[sort]}\n", names)  # noqa: S102 - what is under test is what it does
    try:
        exec(line, names)  # noqa: S102
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("sort", SORTS)
def test_what_is_called_an_error_raises_on_that_sort_of_object(sort: str) -> None:
    told = errors(sort)
    run = [line for line in told if not error_of(sort, line)]
    assert not run, run


@pytest.mark.parametrize("name", ON_VARIABLE)
def test_the_table_for_variables_of_keras_is_for_no_other_sort(name: str) -> None:
    line = f"K.{name}({GIVEN.get(name, 'v')})"
    for sort in ("keras.Variable", "weight"):
        assert ON_VARIABLE[name] in errors(sort, (line,))[line]
        assert error_of(sort, line).startswith(ON_VARIABLE[name])
    for sort in ("tf.Variable", "K.variable"):
        assert not errors(sort, (line,))
        assert not error_of(sort, line)


def test_a_weight_of_a_keras_2_beside_it_is_a_variable_of_tensorflow() -> None:
    source = (
        "import tensorflow as tf\nimport {}\n\nK = tf.keras.backend\n"
        "weight = {}.layers.Dense(1).add_weight(shape=(1, 1))\nK.set_value(weight, 1.0)\n"
    )
    for keras, is_told in (("tf_keras", False), ("keras", True)):
        text = source.format(keras, keras).encode()
        found = scan(["-"], stdin=text, target="tensorflow==2.21").findings
        assert any(each.severity is Severity.ERROR for each in found) is is_told
