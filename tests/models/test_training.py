"""What a model was compiled with is judged as Keras 3 reads it, and compile=False gets past it."""

import pytest

from kdoctor.keras_api import resolve_target
from kdoctor.models import Fault, Gravity, Part, Remedy
from kdoctor.models.training import compile_obstacles, training_obstacles

TARGET = resolve_target("keras==3.15.1", "--target")
SGD = {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 0.0, "name": "SGD"}}
SAME = {"optimizer_config": SGD, "loss": None, "loss_weights": None, "metrics": None}


def found(**given):
    return list(training_obstacles({**SAME, **given}, TARGET))


def causes(**given):
    return [each.cause for each in found(**given)]


def test_what_keras_3_reads_is_no_obstacle():
    mean = {"class_name": "MeanSquaredError", "config": {"name": "m", "reduction": "sum"}}
    assert not found()
    assert not found(loss=mean, metrics=["accuracy", ["mean_squared_error"]])
    assert not found(loss="mean_squared_error")
    assert not found(loss={"a": "mean_squared_error", "b": None})
    assert not found(metrics=["mse", {"a": ["MAE"]}], weighted_metrics=["mse"])  # classes


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        ({"class_name": "SGD", "config": {"lr": 0.1}}, "it is `learning_rate` now"),
        ({"class_name": "Adam", "config": {"jit_compile": True}}, "takes no `jit_compile`"),
        ({"class_name": "Mine", "config": {"name": "mine"}}, "`Mine` is no class of Keras"),
    ],
)
def test_an_optimizer(optimizer, said):
    (each,) = found(optimizer_config=optimizer)
    assert said in each.cause
    assert (each.remedy, each.part) == (Remedy.COMPILE_FALSE, Part.TRAINING)
    assert each.path[0] == "optimizer_config"
    assert each.cure.startswith("Pass `compile=False`")


@pytest.mark.parametrize(
    "given",
    [
        {"loss": "mse"},
        {"loss": "mine"},
        {"loss": ["mse", "mean_absolute_error"]},
        {"loss": {"a": "MAE"}},
        {"loss": {"class_name": "MeanSquaredError", "config": {"reduction": "auto"}}},
        {"metrics": [{"class_name": "MeanSquaredError", "config": {"no_such": 1}}]},
    ],
)
def test_a_loss_or_a_metric_that_is_not_found(given):
    (each,) = found(**given)
    assert each.path[0] in given
    assert each.remedy is Remedy.COMPILE_FALSE


def test_a_short_name_that_compile_takes_by_the_shape_is_none():
    assert not found(metrics=["acc", "accuracy", "ce", "crossentropy"])


def test_a_decay_is_taken_and_ignored():
    optimizer = {"class_name": "SGD", "config": {"learning_rate": 0.1, "decay": 0.01}}
    (each,) = found(optimizer_config=optimizer)
    assert (each.gravity, each.subject) == (Gravity.DIFFERS, "decay")
    assert not found(optimizer_config={"class_name": "SGD", "config": {"decay": 0.0}})
    (each,) = compile_obstacles({"optimizer": {"module": "keras.optimizers", **optimizer}}, TARGET)
    assert each.gravity is Gravity.DIFFERS


def test_what_is_missing():
    (each,) = training_obstacles({"optimizer_config": SGD}, TARGET)
    assert each.subject == "loss_weights"


@pytest.mark.parametrize(
    ("compiled", "fault"),
    [
        ({"optimizer": "sgd", "loss": "mse", "metrics": ["mae"]}, None),
        ({"optimizer": "mine"}, Fault.OWN_FUNCTION),
        ({"sample_weight_mode": None}, Fault.ARGUMENT),
        (
            {"loss": {"module": "train", "class_name": "function", "config": "f"}},
            Fault.OWN_FUNCTION,
        ),
        ({"loss": {"a": {"module": "train", "class_name": "F", "config": {}}}}, Fault.OWN_CLASS),
    ],
)
def test_what_a_keras_archive_was_compiled_with(compiled, fault):
    told = list(compile_obstacles(compiled, TARGET))
    assert [each.fault for each in told] == ([fault] if fault else [])
    assert all(each.remedy is Remedy.COMPILE_FALSE for each in told)
