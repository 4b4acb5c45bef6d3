"""Run functions of an old keras.backend: jobs come in as JSON, results go out as such.

Runs on Python 3.7 with TensorFlow 1.15, and imports nothing of kdoctor.
"""

import json
import sys

import keras.backend as K  # noqa: N812 - its name of old
import numpy as np
import tensorflow as tf


def _argument(value):  # noqa: ANN001, ANN202
    if isinstance(value, dict):
        data = np.array(value["data"], value["dtype"]).reshape(value["shape"])
        if value["role"] == "variable":
            return K.variable(data, dtype=value["dtype"])
        return data if value["role"] == "numpy" else tf.constant(data)
    return [_argument(each) for each in value] if isinstance(value, list) else value


def _taken_apart(result):  # noqa: ANN001, ANN202
    if isinstance(result, (tf.Tensor, tf.Variable)):
        kind = "variable" if isinstance(result, tf.Variable) else "tensor"
        data = np.asarray(K.get_session().run(result))
        numbers = {"data": data.ravel().tolist(), "shape": list(data.shape)}
        return dict(numbers, kind=kind, dtype=data.dtype.name)
    if isinstance(result, tuple):
        return {"kind": "tuple", "parts": [_taken_apart(each) for each in result]}
    kind = "whole number" if type(result) is int else "value"
    return {"kind": kind, "value": result}


def _run(job):  # noqa: ANN001, ANN202
    K.clear_session()
    K.set_image_data_format("channels_last")
    arguments = {name: _argument(value) for name, value in job["arguments"].items()}
    result = getattr(K, job["function"])(**arguments)
    if job["function"].startswith("set_image"):
        result = K.image_data_format()
    return _taken_apart(result)


def main():  # noqa: ANN201
    """Answer all jobs; None where the old function raises."""
    answers = []
    for job in json.load(sys.stdin):
        try:
            answers.append(_run(job))
        except Exception:  # noqa: BLE001 - it does not take these inputs
            answers.append(None)
    print(json.dumps(answers))


main()
