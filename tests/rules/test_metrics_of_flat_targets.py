"""KD491: which metrics, and how they are given."""

import numpy as np
import pytest

from kdoctor import fix, scan
from kdoctor.rules.behaviour.metrics_of_flat_targets import _CLASSES, _FUNCTIONS
from tests.frameworks import keras

SOURCE = """import keras
import numpy as np
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics={metrics})
model.fit(np.ones((8, 3)), np.ones({shape}))
"""


def severities(metrics, shape="8"):
    source = SOURCE.format(metrics=metrics, shape=shape)
    found = scan(["-"], stdin=source.encode(), select=["KD491"], target="keras==3.15.1").findings
    return [each.severity for each in found]


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ('["binary_crossentropy"]', ["error"]),
        ('"BinaryCrossentropy"', ["error"]),
        ('("acc", "poisson")', ["change"]),
        ("[keras.metrics.hinge, keras.losses.squared_hinge]", ["change", "change"]),
        ('[keras.metrics.KLDivergence(name="k")]', ["change"]),
        ('["accuracy", "mae", keras.metrics.AUC(), keras.losses.MeanSquaredError()]', []),
        ("[mine.hinge]", []),
    ],
)
def test_each_way_to_name_such_a_metric(metrics, expected):
    assert severities(metrics) == expected
    assert severities(metrics, "(8, 1)") == []


def test_one_function_serves_all_models_of_a_file():
    again = 'model.compile("adam", "mse", ["binary_crossentropy"])\n'
    source = SOURCE.format(metrics='["binary_crossentropy"]', shape="8") + again
    fixed = fix(["-"], stdin=source.encode(), select=["KD491"], unsafe=True)
    text = fixed.files[0].after.decode()
    assert text.count("def binary_crossentropy") == 1
    assert text.count("[binary_crossentropy]") == 2


def test_no_function_is_written_where_the_name_is_taken():
    source = "from mine import hinge\n" + SOURCE.format(metrics='["hinge"]', shape="8")
    (found,) = scan(["-"], stdin=source.encode(), select=["KD491"]).findings
    assert found.fix is None


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
def test_keras_measures_these_otherwise_where_the_targets_have_one_axis(name):
    function = getattr(keras.losses, name)
    targets = np.array([0.0, 1.0, 1.0, 0.0], "float32")
    predictions = np.array([[0.2], [0.3], [0.9], [0.6]], "float32")

    def measured(given):
        metric = keras.metrics.MeanMetricWrapper(function)
        metric.update_state(given, predictions)
        return round(float(metric.result()), 4)

    if "ValueError" in _FUNCTIONS[name]:
        with pytest.raises(ValueError, match="must have the same rank"):
            measured(targets)
    else:
        assert measured(targets) != measured(targets[:, None])


@pytest.mark.frameworks
@pytest.mark.parametrize(("cls", "name"), sorted(_CLASSES.items()))
def test_the_classes_measure_by_these_functions(cls, name):
    assert getattr(keras.metrics, cls)().name == name
