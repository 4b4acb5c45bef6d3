"""TensorFlow has other names for some dtypes; what is rewritten has the one that Keras 3 knows."""

import pytest

from kdoctor.engine import fix
from kdoctor.rewrite.attempt import _SHORT_DTYPES

tf_keras = pytest.importorskip("tf_keras")
keras = pytest.importorskip("keras")

CALLS = [
    "K.cast([0.5], '{}')",
    "K.cast(dtype='{}', x=[0.5])",
    "K.sum(K.cast(K.equal([1, 2], 1), dtype='{}'))",
    "K.constant([0.5], dtype='{}')",
    "K.variable([0.5], dtype='{}')",
    "K.arange(0, 3, dtype='{}')",
    "K.zeros_like([0.5], dtype='{}')",
]


@pytest.mark.parametrize("dtype", ["half", "float", "double", "float32"])
@pytest.mark.parametrize("call", CALLS)
def test_a_short_name_of_a_dtype_gives_what_keras_2_gives(call, dtype):
    source = f"from keras import backend as K\n\nx = {call.format(dtype)}\n"
    after = fix(["-"], stdin=source.encode(), unsafe=True).files[0].after.decode()
    old, new = {}, {}
    exec(source.replace("keras", "tf_keras"), old)  # noqa: S102 - our own text
    exec(after, new)  # noqa: S102 - our own text
    assert keras.backend.standardize_dtype(new["x"].dtype) == old["x"].dtype.name
    assert keras.ops.convert_to_numpy(new["x"]).tolist() == old["x"].numpy().tolist()


def test_the_short_names_are_all_those_of_tensorflow():
    dtypes = pytest.importorskip("tensorflow.python.framework.dtypes")
    known = {name: dtype.name for name, dtype in dtypes._STRING_TO_TF.items()}
    short = {name: full for name, full in known.items() if name != full}
    assert {
        name: full for name, full in short.items() if not name.endswith("_ref")
    } == _SHORT_DTYPES
    for name, full in _SHORT_DTYPES.items():
        assert keras.backend.standardize_dtype(full) == full
        with pytest.raises(ValueError, match="Invalid dtype"):
            keras.backend.standardize_dtype(name)
