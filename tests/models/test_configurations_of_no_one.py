"""Configurations that no Keras wrote: nothing of them makes the verdict fail, or take long."""

import copy
import random
from pathlib import Path

import pytest

from kdoctor.keras_api import resolve_target
from kdoctor.models import Fault, FileKind
from kdoctor.models.contents import Contents, Weight, WeightGroup, Writer
from kdoctor.models.obstacles import obstacles

TARGETS = [resolve_target(f"keras=={each}", "--target") for each in ("3.15.1", "3.0.0", "2.15.0")]
NAMED = {"module": "keras.initializers", "class_name": "GlorotUniform", "config": {"seed": None}}
CELL = {"module": "keras.layers", "class_name": "LSTM", "config": {"name": "c", "units": 2}}
LAYERS = [
    ("InputLayer", {"batch_input_shape": [None, 3]}, []),
    (
        "Dense",
        {"units": 2, "activation": "relu", "kernel_initializer": NAMED},
        [[["l0", 0, 0, {}]]],
    ),
    ("Bidirectional", {"layer": CELL}, [[["l1", 0, 0, {"mask": ["l0", 0, 0]}]]]),
    ("Lambda", {"function": ["4wIA", None, None]}, [[["l2", 0, 0, {}], ["l1", 0, 0, {}]]]),
    ("TFOpLambda", {"function": "math.add"}, [["l3", 0, 0, {"y": 2}]]),
    ("Mine", {"activation": {"class_name": "function", "config": "f"}}, [[["l4", 0, 0, {}]]]),
]
MODEL = {
    "class_name": "Functional",
    "config": {
        "name": "m",
        "layers": [
            {
                "class_name": kind,
                "config": {"name": f"l{at}", **config},
                "name": f"l{at}",
                "inbound_nodes": nodes,
            }
            for at, (kind, config, nodes) in enumerate(LAYERS)
        ],
        "input_layers": [["l0", 0, 0]],
        "output_layers": [["l5", 0, 0]],
    },
}
TRAINING = {
    "optimizer_config": {"class_name": "Adam", "config": {"lr": 0.1}},
    "loss": {"a": "mse", "b": {"class_name": "MeanSquaredError", "config": {}}},
    "metrics": ["acc", ["mine"]],
    "loss_weights": None,
}
STRANGE = [None, True, 0, -1, 10**30, 0.5, "", "x", "__lambda__", [], {}, [[]], [None], ["a", 0, 0]]
STRANGE += [{"class_name": []}, {"class_name": "function", "config": None}, {"class_name": "Dense"}]


def places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


def spoiled(value, draw):
    made = copy.deepcopy(value)
    for _ in range(draw.randrange(1, 4)):
        *path, last = draw.choice([each for each in places(made) if each])
        owner = made
        for key in path:
            owner = owner[key]
        owner[last] = copy.deepcopy(draw.choice(STRANGE))
    return made


def told(kind, model, training, target):
    weights = (WeightGroup("a", "a", (Weight("k", (2,), "float32"),)),)
    contents = Contents(Path("m"), kind, Writer("2.15.0"), model, training, weights)
    return list(obstacles(contents, target))


@pytest.mark.parametrize("kind", [FileKind.HDF5, FileKind.KERAS_ARCHIVE])
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_spoiled_configuration_is_judged(kind, target):
    draw = random.Random(f"{kind} {target}")  # noqa: S311
    for _ in range(400):
        for each in told(kind, spoiled(MODEL, draw), spoiled(TRAINING, draw), target):
            assert isinstance(each.place, str)
            assert isinstance(each.subject, str)


def test_layers_in_the_reverse_order_are_followed_in_one_go():
    count = 20_000
    layers = [
        {
            "class_name": "ReLU",
            "config": {},
            "name": f"l{at}",
            "inbound_nodes": [[[f"l{at - 1}", 0, 0, {}]]],
        }
        for at in range(1, count)
    ]
    layers = [
        *layers[::-1],
        {"class_name": "InputLayer", "config": {}, "name": "l0", "inbound_nodes": []},
    ]
    model = {
        "class_name": "Model",
        "config": {"layers": layers, "output_layers": [[f"l{count - 1}", 0, 0]]},
    }
    assert not told(FileKind.HDF5, model, None, TARGETS[0])


def test_a_loop_is_told():
    layers = [
        {"class_name": "ReLU", "config": {}, "name": one, "inbound_nodes": [[[other, 0, 0, {}]]]}
        for one, other in (("a", "b"), ("b", "a"))
    ]
    model = {"class_name": "Model", "config": {"layers": layers}}
    (each,) = told(FileKind.HDF5, model, None, TARGETS[0])
    assert (each.fault, each.cause) == (Fault.STRUCTURE, "its layers are connected in a loop")
