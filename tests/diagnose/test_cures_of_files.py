"""What is told of an argument that a saved model has and Keras 3 does not take: it is run."""

import traceback

import pytest

from kdoctor import explain
from tests.frameworks import keras, tf_keras


@pytest.fixture
def _as_it_was():
    """The cure changes classes of Keras: other tests must not see it."""
    layers = [getattr(keras.layers, each) for each in ("GRU", "LSTM", "SimpleRNN", "RNN")]
    kept = [(each, each.__init__) for each in layers]
    yield
    for each, made in kept:
        each.__init__ = made


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", [".h5", ".keras"])
@pytest.mark.usefixtures("_as_it_was")
def test_an_argument_is_ignored_in_each_class_that_lost_it_and_inside_a_wrapper(tmp_path, ending):
    layers = tf_keras.layers
    old = tf_keras.Sequential(
        [
            tf_keras.Input((4, 3)),
            layers.GRU(3, return_sequences=True),
            layers.Bidirectional(layers.LSTM(2)),
        ]
    )
    path = tmp_path / f"old{ending}"
    old.save(path)
    with pytest.raises(ValueError, match="time_major"):
        keras.models.load_model(path)
    try:
        keras.models.load_model(path)
    except ValueError:
        told = explain(traceback.format_exc(), versions={"keras": "3.15.1"})
    (code,) = [each.text for each in told.steps if "time_major" in each.text]
    names = {"keras": keras, "path": path}
    exec(code, names)  # noqa: S102
    assert names["model"].output_shape == (None, 4)
