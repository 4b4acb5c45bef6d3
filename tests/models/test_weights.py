"""What becomes of weights: what is said of a file is what Keras 3 does with them."""

import warnings

import numpy as np
import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import Fault, Gravity, Verdict, explained
from tests.frameworks import keras, tf_keras
from tools.model_files.judging import EXPLAINED, EXPLAINED_WEIGHTS, explanation
from tools.model_files.loading import name_alike, weights_error
from tools.model_files.models import models
from tools.model_files.writing import WEIGHTS, write_weights

TARGET = newest_target()
CASES = 120


def small(*layers):
    return tf_keras.Sequential([tf_keras.Input((4,)), *layers])


def refused(path):
    try:
        keras.models.load_model(path)
    except Exception:  # noqa: BLE001 - whatever it is
        return True
    return False


def trained(optimizer):
    model = small(tf_keras.layers.Dense(2))
    model.compile(optimizer, "mean_squared_error")
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    return model


def with_its_own_weight():
    start = tf_keras.Input((4,))
    model = tf_keras.Model(start, tf_keras.layers.Dense(2)(start))
    model.extra = model.add_weight(name="extra", shape=(3,))
    return model


def with_slashes():
    layers = [tf_keras.Input((4,)), tf_keras.layers.Dense(2, name="c/d")]
    return small(tf_keras.Sequential(layers, name="in/side"), tf_keras.layers.Dense(2, name="a/b"))


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_a_slash_in_a_name_is_told_for_layers_and_models(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    with_slashes().save(path)
    found = explained(path, TARGET)
    named = [each.cause.split("`")[1] for each in found.obstacles if each.subject == "name"]
    assert refused(path)
    assert found.verdict is Verdict.CONVERTS
    assert named == ["in/side", "c/d", "a/b"]


@pytest.mark.frameworks
def test_weights_of_the_model_itself_are_told(tmp_path):
    path = tmp_path / "a.h5"
    with_its_own_weight().save(path)
    found = explained(path, TARGET)
    assert refused(path)
    assert found.verdict is Verdict.CONVERTS
    assert [each.fault for each in found.obstacles] == [Fault.WEIGHTS]
    assert "`extra:0`" in found.obstacles[0].cause


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_the_state_of_an_optimizer_is_lost_and_that_is_told(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    model = trained("rmsprop")
    model.save(path)
    (lost,) = explained(path, TARGET).obstacles
    assert (lost.gravity, lost.subject) == (Gravity.DIFFERS, "optimizer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = [each.numpy() for each in keras.models.load_model(path).optimizer.variables]
    gathered = [each.numpy() for each in model.optimizer.variables if each.shape == (4, 2)]
    assert np.abs(gathered[0]).min() > 0
    assert not any(np.array_equal(each, gathered[0]) for each in held)


@pytest.mark.frameworks
def test_an_optimizer_that_only_raises_is_no_optimizer(tmp_path):
    path = tmp_path / "a.keras"
    trained(tf_keras.optimizers.legacy.Adam()).save(path)
    found = explained(path, TARGET)
    assert refused(path)
    assert found.arguments == {"compile": "False"}
    assert "`keras.optimizers.legacy`: `Adam` is" in found.obstacles[-1].cause


@pytest.mark.frameworks
@pytest.mark.sampled(12)
@pytest.mark.parametrize("number", range(CASES))
def test_weights_alone_are_read_by_the_same_model(number, tmp_path):
    """Of each layer, in both forms, by order and by name: no value is lost or misplaced."""
    warnings.simplefilter("ignore")
    everything = [*models(tf_keras)]
    name, make = everything[number * len(everything) // CASES]
    makers = dict(models(keras))
    try:
        old = make()
        new = makers[name]()
    except Exception:  # noqa: BLE001 - one of both has no such model
        return
    if explanation(name, EXPLAINED | EXPLAINED_WEIGHTS):
        return
    write_weights(old, str(tmp_path / name), {})
    for ending in WEIGHTS:
        path = tmp_path / f"{name}.{ending}"
        if not path.exists():
            continue
        said = explained(path, TARGET)
        error = weights_error(new, path, {})
        assert said.is_known is bool(error), (path.name, error)
        if ending == WEIGHTS[0]:
            name_alike(new, path)
            assert not weights_error(new, path, {"by_name": True}), path.name
