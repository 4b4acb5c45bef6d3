"""Operations that the function of a `Lambda` comes to compute what it computed on Keras 2."""

import inspect
import re

import numpy as np
import pytest

from kdoctor.models.convert import Lambdas, convert
from kdoctor.models.convert.lambda_operations import BACKEND, TENSORFLOW
from tests.frameworks import keras, tf, tf_keras
from tests.models.convert.made import TARGET

IMPORTS = "import tensorflow as tf\nfrom tf_keras import backend as K\n"
# What a function that is not named below is called with.
_CALLS = {
    "math.add": "x, y",
    "math.subtract": "x, y",
    "math.multiply": "x, y",
    "math.divide": "x, y",
    "math.pow": "x, 2.0",
    "math.maximum": "x, y",
    "math.minimum": "x, y",
    "math.reduce_mean": "x, axis=1",
    "math.reduce_sum": "x, [1, 2], keepdims=True",
    "math.reduce_max": "x, -1",
    "math.reduce_min": "x, axis=-1, keepdims=True",
    "math.reduce_prod": "x, 1",
    "nn.softmax": "x, axis=1",
    "expand_dims": "x, -1",
    "squeeze": "x[:, :1], axis=1",
    "transpose": "x, perm=[0, 2, 1]",
    "reshape": "x, (-1, 12)",
    "concat": "[x, y], axis=-1",
    "stack": "[x, y], axis=1",
    "linalg.matmul": "x, tf.transpose(y, [0, 2, 1])",
    "clip_by_value": "x, 0.2, 0.6",
    "backend.mean": "x, axis=1",
    "backend.sum": "x, 1, True",
    "backend.max": "x, axis=-1",
    "backend.min": "x, axis=1",
    "backend.prod": "x, axis=1",
    "backend.pow": "x, 3",
    "backend.maximum": "x, y",
    "backend.minimum": "x, y",
    "backend.expand_dims": "x",
    "backend.squeeze": "x[:, :1], 1",
    "backend.softmax": "x",
    "backend.concatenate": "[x, y]",
    "backend.stack": "[x, y]",
    "backend.permute_dimensions": "x, (0, 2, 1)",
    "backend.reshape": "x, (-1, 12)",
    "backend.clip": "x, 0.2, 0.6",
}
CASES = [
    *(f"tf.{name}({_CALLS.get(name, 'x')})" for name in TENSORFLOW),
    *(f"K.{name}({_CALLS.get(f'backend.{name}', 'x')})" for name in BACKEND),
    *("1 / x - y ** 2", "-x * (3 - 1)", "x[:, 1:, ::2]", "x[..., 0] + y[:, :, -1]"),
    *("x[:, None, 0]", "tf.reduce_sum(x * y, axis=(1, 2))"),
]


def of_pair(case):
    """Return a case as a function of a list of two tensors."""
    body = re.sub(r"\b[xy]\b", lambda found: f"t[{'xy'.index(found[0])}]", case)
    return f"lambda t: {body}"


@pytest.mark.frameworks
def test_each_computes_the_same(tmp_path):
    lines = [f"Lambda({of_pair(case)}, name='f{n}')\n" for n, case in enumerate(CASES)]
    (tmp_path / "train.py").write_text(f"{IMPORTS}{''.join(lines)}")
    known = {"K": tf_keras.backend, "tf": tf}
    inputs = [tf_keras.Input((4, 3)), tf_keras.Input((4, 3))]
    outputs = [
        tf_keras.layers.Lambda(eval(of_pair(case), known), name=f"f{number}")(inputs)  # noqa: S307
        for number, case in enumerate(CASES)
    ]
    old = tf_keras.Model(inputs, outputs)
    old.save(tmp_path / "old.h5")
    lambdas = Lambdas([str(tmp_path / "train.py")])
    made = convert(tmp_path / "old.h5", tmp_path / "new.keras", TARGET, lambdas=lambdas)
    assert made.refusals == ()
    assert made.needed == ()
    new = keras.models.load_model(tmp_path / "new.keras")
    rng = np.random.default_rng(0)
    x = [rng.uniform(0.1, 0.9, size=(2, 4, 3)).astype("float32") for _ in inputs]
    for case, before, after in zip(CASES, old(x), new(x), strict=True):
        assert before.shape == after.shape, case
        assert np.allclose(before, after, atol=1e-5), case


@pytest.mark.frameworks
@pytest.mark.parametrize("name", TENSORFLOW)
def test_the_parameters_are_those_of_tensorflow_in_its_order(name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    found = list(inspect.signature(function).parameters)
    assert found[: len(TENSORFLOW[name])] == list(TENSORFLOW[name])


@pytest.mark.frameworks
@pytest.mark.parametrize("name", BACKEND)
def test_the_parameters_are_those_of_the_backend_in_its_order(name):
    _, parameters, defaults = BACKEND[name]
    found = inspect.signature(getattr(tf_keras.backend, name)).parameters
    assert [*found][: len(parameters)] == list(parameters)
    for key, value in defaults.items():
        (own,) = (own for own, other in parameters.items() if other == key)
        assert found[own].default == value


@pytest.mark.frameworks
@pytest.mark.parametrize("dtype", ["int32", "mixed_float16"])
def test_what_computes_in_other_numbers_is_left_to_a_function(dtype, tmp_path):
    is_whole = dtype == "int32"
    start = tf_keras.Input((4,), dtype="int32" if is_whole else "float32")
    layer = tf_keras.layers.Lambda(lambda x: x / 2, name="half", dtype=None if is_whole else dtype)
    tf_keras.Model(start, layer(start)).save(tmp_path / "old.h5")
    (tmp_path / "train.py").write_text("Lambda(lambda x: x / 2)")
    lambdas = Lambdas([str(tmp_path / "train.py")], "code.py")
    made = convert(tmp_path / "old.h5", tmp_path / "new.keras", TARGET, lambdas=lambdas)
    assert [each.subject for each in made.needed] == ["kdoctor>half"]
