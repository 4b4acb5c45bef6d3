"""TensorFlow has other names for some dtypes; what is rewritten has the one that Keras 3 knows."""

import inspect

import pytest

from kdoctor.engine import fix, scan
from kdoctor.rewrite.dtypes import SHORT_DTYPES
from tests.frameworks import keras

CALLS = [
    "K.cast([0.5], '{}')",
    "K.cast(dtype='{}', x=[0.5])",
    "K.sum(K.cast(K.equal([1, 2], 1), dtype='{}'))",
    "K.constant([0.5], dtype='{}')",
    "K.variable([0.5], dtype='{}')",
    "K.arange(0, 3, dtype='{}')",
    "K.zeros_like([0.5], dtype='{}')",
]


@pytest.mark.frameworks
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


@pytest.mark.frameworks
def test_the_short_names_are_all_those_of_tensorflow():
    dtypes = pytest.importorskip("tensorflow.python.framework.dtypes")
    known = {name: dtype.name for name, dtype in dtypes._STRING_TO_TF.items()}
    short = {name: full for name, full in known.items() if name != full}
    assert {name: full for name, full in short.items() if not name.endswith("_ref")} == SHORT_DTYPES
    for name, full in SHORT_DTYPES.items():
        assert keras.backend.standardize_dtype(full) == full
        with pytest.raises(ValueError, match="Invalid dtype"):
            keras.backend.standardize_dtype(name)


# What some layers and metrics must be given.
NEEDED = {
    "num_heads": 2, "key_dim": 2, "output_dim": 2, "input_dim": 2, "num_bins": 2, "num_tokens": 2,
    "pool_size": 2, "filters": 2, "kernel_size": 2, "units": 2, "n": 2, "rate": 0.5, "stddev": 0.5,
    "scale": 1.0, "height": 2, "width": 2, "factor": 0.5, "function": abs, "fn": abs, "axes": 1,
    "dims": 1, "target_shape": (1,), "num_classes": 2, "target_class_ids": [0], "target_class_id": 0,
    "precision": 0.5, "recall": 0.5, "sensitivity": 0.5, "specificity": 0.5,
}  # fmt: skip


def _made(cls, dtype):
    """Make one, or return what is raised."""
    taken = inspect.signature(cls.__init__).parameters.values()
    needed = {each.name: NEEDED.get(each.name) for each in taken if each.default is each.empty}
    needed = {name: value for name, value in needed.items() if value is not None}
    try:
        return cls(**needed, dtype=dtype)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error


@pytest.mark.frameworks
@pytest.mark.parametrize("module", ["layers", "metrics"])
def test_a_class_that_refuses_a_short_name_is_reported_and_no_other_is(module):
    classes = {
        name: cls
        for name, cls in vars(getattr(keras, module)).items()
        if inspect.isclass(cls) and not isinstance(_made(cls, "float32"), Exception)
    }
    assert len(classes) > 40
    names = sorted(classes)
    lines = [f"keras.{module}.{name}(dtype='double')\n" for name in names]
    found = scan(
        ["-"], stdin="".join(["import keras\n", *lines]).encode(), select=["KD305"]
    ).findings
    reported = {names[each.place.line - 2] for each in found}
    refused = {name: str(_made(cls, "double")) for name, cls in classes.items()}
    told = ("Invalid dtype: double", "Cannot convert 'double' to a mixed precision DTypePolicy")
    assert reported == {name for name in names if refused[name].startswith(told)}


@pytest.mark.parametrize(
    "code",
    [
        "keras.Input((3,), dtype=b'double')",
        "keras.layers.Dense(3, name='double')",
        "keras.backend.set_floatx('double')",  # Keras 2 refuses it, too
        "keras.initializers.RandomUniform()((3,), dtype='double')",
        "keras.utils.pad_sequences([[1]], dtype='double')",  # NumPy's
        "Mine((3,), dtype='double')",
    ],
)
def test_a_short_name_elsewhere_is_not_reported(code):
    source = f"import keras\nfrom mine import Mine\n{code}\n"
    assert scan(["-"], stdin=source.encode()).findings == ()
