"""Optimizers that are written for tf_keras, made and stepped on it and on Keras 3."""

import importlib

OWN = {
    "adadelta": "Adadelta",
    "adafactor": "Adafactor",
    "adagrad": "Adagrad",
    "adam": "Adam",
    "adamax": "Adamax",
    "adamw": "AdamW",
    "ftrl": "Ftrl",
    "lion": "Lion",
    "nadam": "Nadam",
    "rmsprop": "RMSprop",
    "sgd": "SGD",
}


def made(source, keras, name, arguments):
    namespace = {"tf_keras": importlib.import_module("tf_keras")}
    if keras.__name__ == "tf_keras":
        source = source.replace("tf.keras.", "tf_keras.")
    exec(source, namespace)  # noqa: S102 - the sources of tf_keras
    given = dict(arguments)
    if given.pop("schedule", False):
        given["learning_rate"] = keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.8)
    first = namespace[name](**given)
    return namespace[name].from_config(first.get_config())


def stepped(keras, optimizer, variables):
    """Return the variables after 20 steps; rows occur twice in each third gradient."""
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    draw = np.random.default_rng(0)
    for step in range(20):
        table, bias = draw.normal(size=(4, 3)), draw.normal(size=3)
        gradient = tf.constant(table.astype("float32"))
        if step % 3 == 0:
            gradient = tf.IndexedSlices(gradient, tf.constant([0, 2, 0, 3]), tf.constant([4, 3]))
        pairs = [(gradient, variables[0]), (tf.constant(bias.astype("float32")), variables[1])]
        optimizer.apply_gradients(pairs)
    del keras
    return [np.array(each) for each in variables]
