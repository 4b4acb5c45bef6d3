"""Small saved models that Keras 2 and Keras 3 write, and what their cures say to do."""

import json
import textwrap

import numpy as np

from tests.frameworks import tf

X = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
TWO = {"left": X, "right": X[:, :2]}


def one_input(framework):
    layers = framework.layers
    stack = [layers.Dense(3, activation="relu", name="a"), layers.Dense(2, name="b")]
    return framework.Sequential([framework.Input((4,)), *stack])


def two_inputs(framework):
    inputs = [framework.Input((4,), name="left"), framework.Input((2,), name="right")]
    joined = framework.layers.Concatenate()(inputs)
    return framework.Model(inputs, framework.layers.Dense(2, name="score")(joined))


def frozen(model, path):
    """Write the graph of a model of Keras 2 with its weights in it."""
    from tensorflow.python.framework.convert_to_constants import (  # noqa: PLC0415
        convert_variables_to_constants_v2,
    )

    called = tf.function(lambda x: model(x))  # noqa: PLW0108 - a model has no name to trace it by
    traced = called.get_concrete_function(tf.TensorSpec((None, 4)))
    graph = convert_variables_to_constants_v2(traced).graph.as_graph_def()
    path.write_bytes(graph.SerializeToString())


def lite(model, path):
    path.write_bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())


def of_tensorflow_js(model, folder):
    """Write what tensorflowjs writes of a model of Keras 2: it is not installed here."""
    told = json.loads(model.to_json())
    topology = {
        "keras_version": told["keras_version"],
        "backend": "tensorflow",
        "model_config": {key: told[key] for key in ("class_name", "config")},
    }
    manifest = [
        {"name": each.name, "shape": list(each.shape), "dtype": "float32"} for each in model.weights
    ]
    folder.mkdir()
    made = {
        "format": "layers-model",
        "generatedBy": f"keras v{told['keras_version']}",
        "convertedBy": "TensorFlow.js Converter v4.22.0",
        "modelTopology": topology,
        "weightsManifest": [{"paths": ["group1-shard1of1.bin"], "weights": manifest}],
    }
    (folder / "model.json").write_text(json.dumps(made))
    arrays = b"".join(each.tobytes() for each in model.get_weights())
    (folder / "group1-shard1of1.bin").write_bytes(arrays)


def weights_of_tensorflow_js(path):
    """Return the arrays that the manifest names, one after the other."""
    groups = json.loads(path.read_text())["weightsManifest"]
    data = np.frombuffer((path.parent / groups[0]["paths"][0]).read_bytes(), "float32")
    arrays, at = [], 0
    for each in groups[0]["weights"]:
        size = int(np.prod(each["shape"]))
        arrays.append(data[at : at + size].reshape(each["shape"]))
        at += size
    return arrays


def code_of(cure):
    """Return the pieces of code of a cure: its indented lines."""
    pieces = [[]]
    for line in cure.splitlines():
        if line.startswith("    "):
            pieces[-1].append(line)
        elif pieces[-1]:
            pieces.append([])
    return [textwrap.dedent("\n".join(each)) for each in pieces if each]


def run(code, **names):
    exec(compile(code, "cure.py", "exec"), names)  # noqa: S102
    return names
