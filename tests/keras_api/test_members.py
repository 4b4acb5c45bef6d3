import gc

import pytest

from kdoctor.keras_api import (
    Presence,
    member_error,
    member_lookup,
    member_until,
    newest_target,
    resolve_target,
)
from kdoctor.keras_api.members import classes_of
from kdoctor.keras_api.surface import known_releases
from kdoctor.keras_api.tables import ClassSpan
from kdoctor.value_types import Kind, Type

KERAS_3 = newest_target()
KERAS_2_15 = resolve_target("keras==2.15", "test")


@pytest.mark.parametrize("owner", ["keras.Sequential", "Sequential", "Functional", Kind.MODEL])
def test_no_model_has_a_backend(owner):
    assert member_lookup(owner, "backend", KERAS_3) is Presence.MISSING


@pytest.mark.parametrize(
    ("owner", "member"),
    [
        (Kind.MODEL, "fit"),
        (Kind.MODEL, "stop_training"),
        ("keras.Model", "layers"),
        (Kind.LAYER, "get_weights"),
        (Kind.TENSOR, "shape"),
        (Kind.TENSOR, "_keras_history"),
        (Kind.VARIABLE, "assign"),
        (Kind.KERAS_HISTORY, "operation"),
        (Kind.HISTORY, "history"),
        ("keras.layers.LSTM", "units"),
        ("tensorflow.keras.optimizers.Adam", "learning_rate"),
    ],
)
def test_inherited_and_assigned_members_exist(owner, member):
    assert member_lookup(owner, member, KERAS_3) is Presence.EXISTS


@pytest.mark.parametrize(
    ("owner", "member"),
    [
        (Kind.MODEL, "predict_classes"),
        (Kind.MODEL, "fit_generator"),
        (Kind.LAYER, "output_shape"),
        (Kind.LAYER, "get_output_at"),
        (Kind.TENSOR, "get_shape"),
        (Kind.TENSOR, "unique_object_name"),
        (Kind.VARIABLE, "unique_object_name"),
        (Kind.OPTIMIZER, "lr"),
        (Kind.OPTIMIZER, "get_updates"),
        (Kind.KERAS_HISTORY, "layer"),
        (Kind.METRIC, "reset_states"),
    ],
)
def test_what_keras_3_took_away_is_missing(owner, member):
    assert member_lookup(owner, member, KERAS_3) is Presence.MISSING


@pytest.mark.parametrize(
    ("owner", "member"),
    [(Kind.MODEL, "fit_generator"), (Kind.LAYER, "output_shape"), (Kind.KERAS_HISTORY, "layer")],
)
def test_the_target_decides_whether_a_member_exists(owner, member):
    assert member_lookup(owner, member, KERAS_2_15) is Presence.EXISTS


@pytest.mark.parametrize(
    ("owner", "member"),
    [
        (Kind.EAGER, "numpy"),
        (Kind.LIST, "append"),
        (Kind.MODEL, "_whatever"),
        (Kind.MODEL, "output_shape"),  # a Functional has it, a subclassed Model has not
        (Kind.MODEL, "history"),  # the History callback sets it
        (Kind.MODEL, "parameters"),  # on the PyTorch backend
        ("keras.layers.Nope", "units"),
        ("numpy.ndarray", "shape"),
        ("keras.utils.Config", "anything"),  # answers through __getattr__
    ],
)
def test_a_member_in_doubt_is_unknown(owner, member):
    assert member_lookup(owner, member, KERAS_3) is Presence.UNKNOWN


def test_an_own_subclass_may_define_what_its_base_lacks():
    own = Type(Kind.MODEL, "Mine", "keras.Model")
    assert member_lookup(own, "backend", KERAS_3) is Presence.UNKNOWN
    assert member_lookup(own, "fit", KERAS_3) is Presence.EXISTS
    base = Type(Kind.MODEL, qualified="keras.Model")
    assert member_lookup(base, "backend", KERAS_3) is Presence.MISSING


def test_an_alias_of_a_class_is_that_class():
    convolution = Type(Kind.LAYER, "Conv2D", "keras.layers.Convolution2D")
    assert member_lookup(convolution, "output_shape", KERAS_3) is Presence.MISSING


def test_the_error_names_the_class_as_keras_does():
    text = "'Sequential' object has no attribute 'backend'"
    assert member_error("Sequential", "backend") == text


TENSORFLOW = {v: resolve_target(f"tensorflow=={v}", "test") for v in ("1.15", "2.3", "2.5", "2.6")}


@pytest.mark.parametrize(
    ("owner", "member", "version", "presence"),
    [
        ("tensorflow.keras.Sequential", "predict_classes", "1.15", Presence.EXISTS),
        ("tensorflow.keras.Sequential", "predict_classes", "2.5", Presence.EXISTS),
        ("tensorflow.keras.Sequential", "predict_classes", "2.6", Presence.MISSING),
        ("tensorflow.keras.Model", "predict_classes", "2.3", Presence.MISSING),
        ("tensorflow.keras.Model", "sample_weights", "1.15", Presence.EXISTS),
        ("tensorflow.keras.Model", "train_step", "2.3", Presence.EXISTS),
        ("tensorflow.keras.Model", "compute_loss", "2.5", Presence.MISSING),
        (Kind.MODEL, "fit_generator", "2.3", Presence.EXISTS),
        ("tensorflow.keras.layers.Dense", "name_scope", "2.3", Presence.EXISTS),  # of tf.Module
        ("tensorflow.keras.layers.Dense", "output_shape", "1.15", Presence.EXISTS),
        ("tensorflow.keras.optimizers.Adam", "get_updates", "2.5", Presence.EXISTS),
        ("tensorflow.keras.optimizers.Adam", "build", "2.5", Presence.UNKNOWN),  # __getattribute__
        ("tensorflow.keras.callbacks.EarlyStopping", "model_", "1.15", Presence.MISSING),
        ("tensorflow.python.keras.optimizer_v2.adam.Adam", "minimize", "2.6", Presence.EXISTS),
    ],
)
def test_members_of_tensorflows_own_keras_are_known(owner, member, version, presence):
    assert member_lookup(owner, member, TENSORFLOW[version]) is presence


@pytest.mark.parametrize(
    ("owner", "member", "last"),
    [
        (Type(Kind.MODEL, cls="Sequential"), "fit_generator", "2.15.0"),
        (Type(Kind.MODEL, cls="Sequential"), "predict_classes", "2.4.3"),
        (Type(Kind.LAYER, cls="LSTM"), "kernel_i", "2.0.0"),
        (Type(Kind.OPTIMIZER, cls="Adam"), "lr", "2.15.0"),
        (Type(Kind.LAYER, cls="Dense"), "W", None),
    ],
)
def test_a_member_was_there_until_the_last_release_whose_class_had_it(owner, member, last):
    before = known_releases("keras")[: known_releases("keras").index(KERAS_3.keras_version)]
    having = [
        release
        for release in before
        if (classes := classes_of("keras", release)) is not None
        and any(member in each.members for each in classes.by_leaf(owner.cls))
    ]
    assert member_until(owner, member, KERAS_3) == last == (having[-1] if having else None)


@pytest.mark.parametrize(
    ("owner", "member", "last"),
    [
        # `BaseLossScaleOptimizer` by that name in 2.13 to 2.15.
        (
            Type(Kind.OPTIMIZER, qualified="keras.mixed_precision.LossScaleOptimizer"),
            *("get_scaled_loss", "2.15.0"),
        ),
        (Type(Kind.LAYER, "MaxPooling2D", "keras.layers.MaxPool2D"), "get_output_at", "2.15.0"),
        (Type(Kind.LAYER, "Conv2D", "tf.keras.layers.Convolution2D"), "dynamic", "2.15.0"),
        (Type(Kind.LAYER, "MaxPooling2D", "keras.layers.MaxPool2D"), "gone", None),
    ],
)
def test_what_a_public_name_led_to_counts_whatever_it_was_called(owner, member, last):
    assert member_until(owner, member, KERAS_3) == last


def test_of_all_classes_that_were_asked_few_stay_decoded():
    for kind in Kind:
        member_lookup(kind, "backend", KERAS_3)
        member_until(Type(kind), "backend", KERAS_3)

    # A class has several; of all that were asked, there are thousands.
    assert sum(type(each) is ClassSpan for each in gc.get_objects()) < 1000
