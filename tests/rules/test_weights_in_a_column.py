"""The metrics of the tables do with weights of shape (n, 1) what the rule says, on both Keras."""

import pytest

from kdoctor.rules.arguments.weights_in_a_column import _OF_CONFUSION, _OF_MEANS

TARGETS, PREDICTIONS = [0.0, 1.0, 1.0, 0.0, 1.0], [0.1, 0.6, 0.4, 0.7, 0.9]
WEIGHTS = [[1.0], [2.0], [5.0], [3.0], [4.0]]
ASKED = {
    "PrecisionAtRecall": (0.5,),
    "RecallAtPrecision": (0.5,),
    "SensitivityAtSpecificity": (0.5,),
    "SpecificityAtSensitivity": (0.5,),
}


def measured(framework, name, weights):
    """Return the metric of the targets."""
    import numpy as np  # noqa: PLC0415

    metric = getattr(framework.metrics, name)(*ASKED.get(name, ()))
    targets, predictions = (np.array(each, "float32") for each in (TARGETS, PREDICTIONS))
    given = None if weights is None else np.array(weights, "float32")
    metric.update_state(targets, predictions, sample_weight=given)
    return float(np.asarray(metric.result()))


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(_OF_CONFUSION))
def test_a_column_was_one_axis_of_weights(name):
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    flat = [each for (each,) in WEIGHTS]
    assert measured(tf_keras, name, WEIGHTS) == pytest.approx(measured(tf_keras, name, flat))
    assert measured(keras, name, flat) == pytest.approx(measured(tf_keras, name, WEIGHTS))
    with pytest.raises(Exception, match="BroadcastTo"):
        measured(keras, name, WEIGHTS)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(_OF_MEANS))
def test_a_column_changed_nothing_of_a_mean(name):
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    before = [measured(tf_keras, name, each) for each in (WEIGHTS, None)]
    assert before[0] == pytest.approx(before[1])
    with pytest.raises(Exception, match="BroadcastTo"):
        measured(keras, name, WEIGHTS)
