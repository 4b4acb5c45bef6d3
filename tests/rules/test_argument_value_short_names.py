"""The names that short ones became: Keras takes them, and they give what the short ones gave."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import numpy as np
import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.diagnose.identifiers import NOT_BY_NAME
from kdoctor.keras_api import newest_target
from kdoctor.keras_api.surface import known_releases, surface_at
from kdoctor.rules.arguments._short_names import CROSSENTROPIES, LOSSES, METRICS
from kdoctor.rules.arguments._string_identifiers import is_gone, is_known
from tests.frameworks import keras, tf_keras

TRUE, GIVEN = np.array([[0.2, 0.7], [0.5, 0.4]]), np.array([[0.3, 0.6], [0.1, 0.8]])
# What the last Keras 2 does not take itself.
_LOST_BEFORE = {
    *(("loss", "cosine"), ("loss", "cosine_proximity")),
    *(("metric", "cosine"), ("metric", "cosine_proximity"), ("metric", "kld")),
    ("metric", "KLD"),
}


def of_loss(root, name):
    return np.mean(np.array(root.losses.get(name)(TRUE, GIVEN)))


def of_metric(root, name):
    model = root.Sequential([root.layers.Activation("linear")])
    model.compile("sgd", "mse", metrics=[name])
    told = model.evaluate(GIVEN, TRUE, verbose=0, return_dict=True)
    (value,) = (value for key, value in told.items() if key != "loss")
    return value


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("what", "old", "new", "measured"),
    [
        *(("loss", old, new, of_loss) for old, new in LOSSES.items()),
        *(("metric", old, new, of_metric) for old, new in METRICS.items()),
    ],
)
def test_a_name_of_today_gives_what_the_short_one_gave(what, old, new, measured):
    with pytest.raises(ValueError, match=f"Could not interpret {what} identifier: {old}"):
        measured(keras, old)
    today = measured(keras, new)
    if (what, old) not in _LOST_BEFORE:
        assert today == pytest.approx(measured(tf_keras, old), rel=1e-5)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(CROSSENTROPIES))
def test_the_crossentropy_that_goes_with_the_outputs_went(name):
    with pytest.raises(ValueError, match=f"Could not interpret metric identifier: {name}"):
        of_metric(keras, name)
    assert of_metric(tf_keras, name) == pytest.approx(
        of_metric(tf_keras, "categorical_crossentropy"), rel=1e-5
    )


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("what", "plural"),
    [
        ("loss", "losses"),
        ("metric", "metrics"),
        ("optimizer", "optimizers"),
        ("activation", "activations"),
        ("initializer", "initializers"),
        ("regularizer", "regularizers"),
        ("constraint", "constraints"),
    ],
)
def test_what_keras_has_and_does_not_find_by_its_name_is_known(what, plural):
    module, refused = getattr(keras, plural), []
    for name in dir(module):
        public = not name.startswith("_") and name not in {"get", "serialize", "deserialize"}
        if not public or not callable(getattr(module, name)):
            continue
        try:
            module.get(name)
        except ValueError as error:
            if "Could not interpret" in str(error):
                refused.append(name)
        except (TypeError, KeyError):
            pass  # it was found, and wants arguments
    assert tuple(refused) == NOT_BY_NAME.get(what, ())


_MODULES = ("activations", "constraints", "losses", "metrics", "regularizers")


@pytest.mark.frameworks
@pytest.mark.parametrize("module", _MODULES)
def test_what_keras_knows_by_name_is_never_told_to_be_unknown(module):
    facts = TargetFacts(newest_target())
    names = importlib.import_module(f"keras.src.{module}").ALL_OBJECTS_DICT

    assert not [each for each in names if not is_known(facts, module, each)]
    assert not [each for each in names if is_gone(facts, module, each)]


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("choose", "module"),
    [("get_loss", "losses"), ("get_metric", "metrics")],
)
def test_what_compile_chooses_by_the_targets_is_known(choose, module):
    compile_utils = importlib.import_module("keras.src.trainers.compile_utils")
    source = inspect.getsource(getattr(compile_utils, choose))
    listed = re.search(r"lower\(\) not in (\[.+\])", source)
    names = ast.literal_eval(listed[1])

    assert len(names) == 2
    for name in names:
        assert is_known(TargetFacts(newest_target()), module, name)
        assert is_known(TargetFacts(newest_target()), module, name.upper())


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("module", "some"),
    [("activations", "LeakyReLU"), ("constraints", "radial_constraint"), ("regularizers", "six")],
)
def test_names_that_only_keras_2_had_are_refused(module, some):
    facts = TargetFacts(newest_target())
    olds = [surface_at("keras", each) for each in known_releases("keras") if each[0] == "2"]
    places = (module, "layers") if module == "activations" else (module,)
    names = {name.rpartition(".")[2] for old in olds for at in places for name in old.children(at)}
    gone = [each for each in names if is_gone(facts, module, each)]

    assert some in gone
    for each in gone:
        with pytest.raises(ValueError, match="Could not interpret"):
            getattr(keras, module).get(each)
