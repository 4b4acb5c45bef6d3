"""Saved models of Keras 2, made without Keras."""

import json
import zipfile

import h5py
import numpy as np

from kdoctor.keras_api import resolve_target

TARGET = resolve_target("keras==3.15.1", "--target")


def layer(cls, name, **config):
    return {"class_name": cls, "config": {"name": name, **config}}


def sequential(*layers, name="model"):
    return {"class_name": "Sequential", "config": {"name": name, "layers": [*layers]}}


def dense(name, units=2, **config):
    return layer("Dense", name, units=units, **config)


def functional(*layers, inputs, outputs, name="model"):
    """Return a functional model: each layer with its inbound nodes, as Keras 2 writes it."""
    made = [
        {**each, "name": each["config"]["name"], "inbound_nodes": nodes} for each, nodes in layers
    ]
    config = {"name": name, "layers": made, "input_layers": inputs, "output_layers": outputs}
    return {"class_name": "Functional", "config": config}


def hdf5(path, model, weights=None, training=None, keras="2.15.0"):
    """Write an HDF5 model: ``weights`` are arrays by name, by layer."""
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = keras
        file.attrs["model_config"] = json.dumps(model)
        if training is not None:
            file.attrs["training_config"] = json.dumps(training)
        group = file.create_group("model_weights")
        weights = weights or {}
        group.attrs["layer_names"] = [name.encode() for name in weights]
        for name, arrays in weights.items():
            below = group.create_group(name)
            below.attrs["weight_names"] = [each.encode() for each in arrays]
            for each, value in arrays.items():
                below[each] = value
    return path


def of_dense(name, shape=(3, 2)):
    kernel = np.arange(shape[0] * shape[1], dtype="float32").reshape(shape)
    return {name: {f"{name}/kernel:0": kernel, f"{name}/bias:0": np.ones(shape[1], "float32")}}


def input_layer(name="x", shape=(None, 3)):
    return layer("InputLayer", name, batch_input_shape=[*shape], dtype="float32")


def config_in(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("config.json"))


def metadata_in(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("metadata.json"))


def weights_in(path):
    """Return the arrays of a `.keras` archive, by their paths."""
    found = {}

    def keep(name, each):
        if isinstance(each, h5py.Dataset):
            found[name] = each[()]

    with (
        zipfile.ZipFile(path) as archive,
        archive.open("model.weights.h5") as member,
        h5py.File(member, "r") as file,
    ):
        file.visititems(keep)
    return found
