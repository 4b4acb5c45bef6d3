import importlib.util
from pathlib import Path

import pytest

from kdoctor.keras_api import newest_target, oracle, resolve_target, signature, tables
from kdoctor.keras_api.returns import LAYERS_OF_SEVERAL, TENSOR, TENSORS
from kdoctor.value_types import EAGER_TENSOR, Context, Kind, Type
from tests.frameworks import keras

KNOWN = oracle(newest_target())


@pytest.mark.parametrize(
    ("qualified", "kind", "cls"),
    [
        ("keras.layers.Dense", Kind.LAYER, "Dense"),
        ("keras.layers.core.Dense", Kind.LAYER, "Dense"),
        ("keras.layers.Convolution2D", Kind.LAYER, "Conv2D"),
        ("keras.layers.Merge", Kind.LAYER, "Merge"),
        ("tensorflow.python.keras.layers.Conv2D", Kind.LAYER, "Conv2D"),
        ("tensorflow.compat.v1.keras.layers.CuDNNLSTM", Kind.LAYER, "CuDNNLSTM"),
        ("tensorflow.keras.Sequential", Kind.MODEL, "Sequential"),
        ("keras.Model", Kind.MODEL, "Functional"),
        ("keras.optimizers.legacy.Adam", Kind.OPTIMIZER, "Adam"),
        ("keras.losses.Huber", Kind.LOSS, "Huber"),
        ("keras.metrics.Mean", Kind.METRIC, "Mean"),
        ("tf_keras.callbacks.EarlyStopping", Kind.CALLBACK, "EarlyStopping"),
        ("keras.Variable", Kind.VARIABLE, "Variable"),
    ],
)
def test_a_class_of_any_release_under_any_root_makes_what_it_made(qualified, kind, cls):
    assert KNOWN.class_type(qualified) == Type(kind, cls, qualified)


@pytest.mark.parametrize("name", ["keras.backend.sum", "keras.layers.Nope", "numpy.ndarray"])
def test_what_is_no_keras_class_makes_nothing_known(name):
    assert KNOWN.class_type(name) is None


@pytest.mark.parametrize(
    ("qualified", "kind"),
    [
        ("keras.Input", Kind.TENSOR),
        ("keras.models.Input", Kind.TENSOR),
        ("keras.engine.topology.Input", Kind.TENSOR),
        ("tensorflow.compat.v1.keras.Input", Kind.TENSOR),
        ("keras.models.load_model", Kind.MODEL),
        ("keras.optimizers.get", Kind.OPTIMIZER),
        ("tensorflow.keras.optimizers.deserialize", Kind.OPTIMIZER),
        ("tensorflow.keras.applications.ResNet50", Kind.MODEL),
        ("keras.applications.vgg16.VGG16", Kind.MODEL),
        ("segmentation_models.Unet", Kind.MODEL),
        ("keras.backend.variable", Kind.VARIABLE),
        ("tensorflow.random.normal", Kind.EAGER),
    ],
)
def test_a_function_gives_what_it_gives_under_any_root(qualified, kind):
    assert KNOWN.result_type(qualified).kind is kind


def test_helpers_beside_the_applications_give_no_model():
    assert KNOWN.result_type("keras.applications.vgg16.preprocess_input") is None


def test_members_of_models_layers_and_tensors_have_types():
    model, layer = Type(Kind.MODEL, "Sequential"), Type(Kind.LAYER, "Dense")
    assert KNOWN.member_type(model, "fit", called=True).kind is Kind.HISTORY
    assert KNOWN.member_type(model, "fit", called=False) is None
    layers = KNOWN.member_type(model, "layers", called=False)
    assert KNOWN.member_type(layers, "__getitem__", called=True).kind is Kind.LAYER
    assert KNOWN.member_type(layers, "__iter__", called=True).kind is Kind.LAYER
    assert KNOWN.member_type(layers, "pop", called=True).kind is Kind.LAYER
    assert KNOWN.member_type(layers, "pop", called=False) is None
    assert KNOWN.member_type(model, "get_layer", called=True).kind is Kind.LAYER
    tensor = KNOWN.member_type(layer, "__call__", called=True)
    history = KNOWN.member_type(tensor, "_keras_history", called=False)
    assert history.kind is Kind.KERAS_HISTORY
    assert KNOWN.member_type(layer, "nonsense", called=False) is None


@pytest.mark.parametrize("name", ["layers.add", "layers.merge.concatenate", "layers.dot"])
@pytest.mark.parametrize("given", [TENSOR, EAGER_TENSOR])
def test_a_function_that_merges_makes_the_sort_of_tensor_that_goes_in(name, given):
    assert KNOWN.result_type(f"keras.{name}") is None
    assert KNOWN.applied_type(f"keras.{name}", given) == given


def test_a_star_import_binds_what_any_release_had_but_not_what_it_imported_itself():
    names = KNOWN.star_names("keras.layers")
    assert {"Dense", "CuDNNLSTM", "concatenate"} <= set(names)
    assert {"np", "K", "tf", "os"}.isdisjoint(KNOWN.star_names("keras.backend"))
    assert "sum" in KNOWN.star_names("keras.backend")
    assert KNOWN.star_names("keras.nowhere") is None
    assert KNOWN.star_names("numpy") is None


def test_existence_is_told_on_the_target():
    assert KNOWN.exists("keras.layers.Dense") is True
    assert KNOWN.exists("keras.backend.sum") is False
    assert KNOWN.exists("numpy.sum") is None


def test_versions_are_those_of_the_target():
    assert KNOWN.version("keras") == "3.15.1"
    assert KNOWN.version("tensorflow").startswith("2.")
    assert oracle(resolve_target("keras==2.3.1", "x")).version("tensorflow") is None
    assert oracle(resolve_target("tensorflow==2.10", "x")).version("tensorflow") == "2.10"
    assert KNOWN.version("numpy") is None


@pytest.mark.frameworks
def test_the_engines_are_those_that_keras_has():
    folders = Path(importlib.util.find_spec("keras").origin).with_name("src") / "backend"
    there = {each.parent.name for each in folders.glob("*/__init__.py")} - {"common", "tests"}

    assert KNOWN.answers("keras.backend.backend") == KNOWN.answers("keras.config.backend") == there
    assert KNOWN.answers("keras.backend.floatx") is None


def test_keras_2_had_other_engines_until_it_had_one():
    def engines(target, function="keras.backend.backend"):
        return oracle(resolve_target(target, "x")).answers(function)

    assert engines("keras==2.3.1") is None
    assert engines("keras==2.10.0") == {"tensorflow"}
    assert engines("tensorflow==2.3.0", "tensorflow.keras.backend.backend") is not None


def test_the_context_of_a_body_follows_from_where_it_is_called():
    layer, model, loss = Type(Kind.LAYER), Type(Kind.MODEL), Type(Kind.LOSS)
    assert KNOWN.method_context(layer, "call") is Context.CALL
    assert KNOWN.method_context(model, "train_step") is Context.TRAIN_LOOP
    assert KNOWN.method_context(loss, "call") is Context.LOSS_OR_METRIC
    assert KNOWN.method_context(layer, "build") is None
    assert KNOWN.argument_context("keras.layers.Lambda", 0) is Context.CALL
    assert KNOWN.argument_context("tensorflow.keras.layers.Dense", "activation") is Context.CALL
    assert KNOWN.argument_context("compile", "loss") is Context.LOSS_OR_METRIC
    assert KNOWN.argument_context("keras.callbacks.LearningRateScheduler", 0) is Context.EAGER
    assert KNOWN.argument_context("print", 0) is None
    assert KNOWN.function_context(("y_true", "y_pred")) is Context.LOSS_OR_METRIC
    assert KNOWN.function_context(("x", "y")) is None
    assert KNOWN.block_context("tensorflow.GradientTape") is Context.TRAIN_LOOP


def test_every_layer_that_wraps_others_or_returns_states_may_give_several_tensors():
    wrapping = {"return_state", "layer", "layers", "function", "cell", "cells"}
    returning = {"states", "return_attention_scores"}
    several = set()
    for name in tables.names_table("keras").names:
        made = KNOWN.class_type(f"keras.{name}")
        if made is None or made.kind is not Kind.LAYER or not name.startswith("layers."):
            continue
        for target in (newest_target(), resolve_target("keras==2.15.0", "test")):
            own = signature(f"keras.{name}", target)
            call = signature(f"keras.{name}.call", target)
            if (own and wrapping.intersection(each.name for each in own.parameters)) or (
                call and returning.intersection(each.name for each in call.parameters)
            ):
                several.add(made.cls)
    assert len(several) > 15
    assert several <= LAYERS_OF_SEVERAL
    called = {
        cls: KNOWN.member_type(
            Type(Kind.LAYER, cls, f"keras.layers.{cls}"), "__call__", called=True
        )
        for cls in ("Dense", "LSTM")
    }
    assert called == {"Dense": TENSOR, "LSTM": TENSORS}


@pytest.mark.parametrize(
    ("cls", "member", "is_layer"),
    [
        ("Wrapper", "layer", True),
        ("TimeDistributed", "layer", True),
        ("Bidirectional", "backward_layer", True),
        ("RNN", "cell", True),
        ("RNN", "layer", False),
        ("Layer", "layer", False),
        ("Dense", "cell", False),
    ],
)
def test_what_a_wrapper_or_a_recurrent_layer_holds_is_a_layer(cls, member, is_layer):
    own = Type(Kind.LAYER, "Mine", f"tensorflow.keras.layers.{cls}")
    found = KNOWN.member_type(own, member, called=False)
    assert (found is not None and found.kind is Kind.LAYER) is is_layer
    assert KNOWN.member_type(Type(Kind.LAYER), member, called=False) is None


@pytest.mark.frameworks
def test_wrappers_and_recurrent_layers_of_keras_hold_layers():
    dense, cell = keras.layers.Dense(1), keras.layers.LSTMCell(1)
    held = [
        keras.layers.Wrapper(dense).layer,
        keras.layers.TimeDistributed(dense).layer,
        keras.layers.SpectralNormalization(dense).layer,
        keras.layers.Bidirectional(keras.layers.RNN(cell)).backward_layer,
        keras.layers.RNN(cell).cell,
    ]
    assert all(isinstance(each, keras.layers.Layer) for each in held)
