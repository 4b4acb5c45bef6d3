"""Run helpers of keras 2.2.4: jobs come in as JSON, results go out as such.

Runs on Python 3.7 with TensorFlow 1.15, and imports nothing of kdoctor.
"""

import json
import sys

import keras
import numpy as np
from keras.utils import conv_utils, generic_utils, layer_utils


class Mine(keras.layers.Conv2D):
    """A convolution of the user's own."""


class Thing:
    """An object that is equal to no other."""


def _layer(name, settings):  # noqa: ANN001, ANN202
    if name == "Inner":
        return keras.Sequential([keras.layers.Conv2D(1, 2)])
    return Mine(**settings) if name == "Mine" else getattr(keras.layers, name)(**settings)


def _as_json(array):  # noqa: ANN001, ANN202
    array = np.asarray(array)
    return {"data": array.ravel().tolist(), "shape": list(array.shape), "dtype": array.dtype.name}


def _turned_model(layers):  # noqa: ANN001, ANN202
    keras.backend.clear_session()
    model = keras.Sequential([_layer(*each) for each in layers])
    before = model.get_weights()
    layer_utils.convert_all_kernels_in_model(model)
    return [[_as_json(each) for each in weights] for weights in (before, model.get_weights())]


def _listed(given):  # noqa: ANN001, ANN202
    things = [Thing() for _ in range(3)]
    objects = [things[each] for each in given["objects"]]
    if given["kind"] == "alone":
        return things, things[0]
    return things, objects if given["kind"] == "list" else tuple(objects)


def _uid(given):  # noqa: ANN001, ANN202
    things, listed = _listed(given)
    found = generic_utils.object_list_uid(listed)
    for number, thing in enumerate(things):
        found = found.replace(str(abs(id(thing))), str(number))
    return found


def _unpacked(given):  # noqa: ANN001, ANN202
    things, listed = _listed(given)
    found = generic_utils.unpack_singleton(listed)
    return "as it was" if found is listed else things.index(found)


def _kernel(given):  # noqa: ANN001, ANN202
    data = np.array(given["data"], given["dtype"]).reshape(given["shape"])
    return _as_json(conv_utils.convert_kernel(data))


HELPERS = {
    "convert_all_kernels_in_model": _turned_model,
    "convert_kernel": _kernel,
    "object_list_uid": _uid,
    "unpack_singleton": _unpacked,
}


def main():  # noqa: ANN201
    """Answer all jobs; None where the helper raises."""
    answers = []
    for name, given in json.load(sys.stdin):
        try:
            answers.append(HELPERS[name](given))
        except (AttributeError, TypeError, ValueError):
            answers.append(None)
    print(json.dumps(answers))


main()
