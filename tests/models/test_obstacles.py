"""What keeps Keras 3 from making a layer is told with its place; what it makes is not accused."""

import pytest

from kdoctor.keras_api import resolve_target
from kdoctor.models.obstacles import obstacles

TARGET = resolve_target("keras==3.15.1", "--target")


def found(*layers):
    made = [{"class_name": each, "config": config} for each, config in layers]
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": made}}
    return list(obstacles(model, TARGET))


@pytest.mark.parametrize(
    ("layer", "config", "cause"),
    [
        ("LSTM", {"units": 4, "time_major": False}, "`LSTM` takes no `time_major`"),
        ("TFOpLambda", {"function": "math.add"}, "keras 3.15.1 has no `TFOpLambda`"),
    ],
)
def test_each_obstacle_is_told_with_its_place(layer, config, cause):
    wrapped = {"class_name": layer, "config": {"name": "b", **config}}
    inside = ("Bidirectional", {"name": "a", "layer": wrapped})
    assert [(each.place, each.cause) for each in found(inside)] == [("m/a/b", cause)]


def test_what_a_base_takes_is_no_obstacle():
    assert not found(("LSTM", {"units": 4, "unroll": False, "zero_output_for_mask": False}))
    assert not found(("Dense", {"units": 4, "batch_input_shape": [None, 3]}))
    assert not found(("StringLookup", {"vocabulary_size": 3}))
