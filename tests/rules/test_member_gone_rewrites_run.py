"""The commonest rewrites of members, run on models of several sorts: Keras 2 and 3 agree.

The examples show one model each. Here the old code runs on tf_keras, what the fixes make of it on
Keras 3, with the same weights and data, for each sort of model, and sizes and types in turn.
"""

import numpy as np
import pytest

from kdoctor.engine import fix

HEAD = """\
import numpy as np
import keras

drawn = np.random.default_rng(3)
x = drawn.normal(size=(12, 4)).astype("{dtype}")
y = drawn.integers(0, 2, size=(12, {units})).astype("float32")


def batches(size=4):
    while True:
        for start in range(0, 12, size):
            yield x[start : start + size], y[start : start + size]


"""
MODELS = {
    "sequential": (
        "model = keras.Sequential([keras.layers.Dense(5, 'tanh', input_shape=(4,)),\\n"
        "                          keras.layers.Dense({units}, '{last}')])\n"
    ).replace("\\n", "\n"),
    "added": (
        "model = keras.Sequential()\nmodel.add(keras.layers.Dense(5, 'tanh', input_shape=(4,)))\n"
        "model.add(keras.layers.Dense({units}))\nmodel.add(keras.layers.Activation('{last}'))\n"
    ),
    "functional": (
        "inputs = keras.Input((4,))\nhidden = keras.layers.Dense(5, 'tanh')(inputs)\n"
        "model = keras.Model(inputs, keras.layers.Dense({units}, '{last}')(hidden))\n"
    ),
}
TAIL = """\
start = [np.linspace(-1, 1, w.size).reshape(w.shape) for w in model.get_weights()]
model.set_weights(start)
model.compile("sgd", "mse", metrics=["mae"])
"""
CODE = {
    "fit_generator": "history = model.fit_generator(batches(), 3, epochs=2, verbose=0)\n"
    "result = [history.history['loss'], history.history['mae'], *model.get_weights()]\n",
    "fit_generator by keyword": (
        "history = model.fit_generator(\n    epochs=3, generator=batches(6), steps_per_epoch=2,\n"
        "    validation_data=(x, y), verbose=0, initial_epoch=1\n)\n"
        "result = [history.history[name] for name in sorted(history.history)]\n"
    ),
    "evaluate_generator": "result = [model.evaluate_generator(batches(), 3)]\n",
    "predict_generator": ("result = [model.predict_generator(batches(2), steps=5, verbose=0)]\n"),
    "the rate": (
        "model.optimizer.lr = 0.25\nhistory = model.fit(x, y, verbose=0, shuffle=False)\n"
        "result = [float(model.optimizer.lr), *model.get_weights()]\n"
    ),
    "shapes": "result = [[1 + size for size in model.layers[-1].output_shape[1:]]]\n",
    "shapes of outputs": (
        "result = [[size for size in model.outputs[0].shape.as_list() if size]]\n"
    ),
}
CLASSES = {
    "predict_classes": "result = [model.predict_classes(x)]\n",
    "predict_classes in batches": "result = [model.predict_classes(x, 5, verbose=0)]\n",
    "predict_proba": "result = [model.predict_proba(x, batch_size=3)]\n",
}
OLD_METHODS = """\


def _classes(model, x, batch_size=32, verbose=0):
    found = model.predict(x, batch_size=batch_size, verbose=verbose)
    return found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


keras.Sequential.predict_classes = _classes  # as Keras 2.5 had it, word for word
keras.Sequential.predict_proba = keras.Sequential.predict
"""
CASES = [
    *((kind, name, CODE[name]) for kind in MODELS for name in CODE),
    *((kind, name, CLASSES[name]) for kind in ("sequential", "added") for name in CLASSES),
]


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("kind", "code", "units", "dtype"),
    [
        # Each with both sizes of output, over the three sorts of models; with both types, too.
        pytest.param(
            kind, code, (1, 3)[number % 2], ("float32", "float64")[number % 3 == 0],
            id=f"{name}, {kind}",
        )
        for number, (kind, name, code) in enumerate(CASES)
    ],
)  # fmt: skip
def test_keras_3_gives_what_keras_2_gave(kind, code, units, dtype):
    last = "softmax" if units > 1 else "sigmoid"
    source = HEAD.format(dtype=dtype, units=units) + MODELS[kind].format(units=units, last=last)
    source += TAIL + code
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    fixed = result.files[0].after.decode()
    assert code not in fixed

    on_keras_2 = source.replace("import keras\n", f"import tf_keras as keras\n{OLD_METHODS}")
    expected, given = {}, {}
    exec(on_keras_2, expected)  # noqa: S102
    exec(fixed, given)  # noqa: S102
    for ours, theirs in zip(given["result"], expected["result"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
        assert np.asarray(ours).dtype.kind == np.asarray(theirs).dtype.kind
