"""Classes and functions of the user's stay in a converted file, which loads with them."""

import numpy as np
import pytest

from kdoctor.models import Fault, explained
from kdoctor.models.convert import convert, write_code
from tests.frameworks import keras, tf_keras
from tests.models.convert.made import (
    TARGET,
    config_in,
    dense,
    hdf5,
    input_layer,
    layer,
    metadata_in,
    of_dense,
    sequential,
    weights_in,
)

RNG = np.random.default_rng(0)


def classes(framework):
    """Return a layer, one with layers in it, a cell and a function, written for a Keras."""
    layers = framework.layers

    class Scale(layers.Layer):
        def __init__(self, by=1.0, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def build(self, shape):
            self.w = self.add_weight(name="w", shape=(shape[-1],))
            self.n = self.add_weight(name="n", shape=(), trainable=False)
            self.v = self.add_weight(name="v", shape=(shape[-1],))

        def call(self, x):
            return x * self.w * self.by + self.v + self.n

        def get_config(self):
            return {**super().get_config(), "by": self.by}

    class Block(layers.Layer):
        def __init__(self, regularizer=None, **kwargs):
            super().__init__(**kwargs)
            self.regularizer = framework.regularizers.get(regularizer)
            self.attention = layers.MultiHeadAttention(2, 3)
            self.many = [layers.Dense(4, kernel_regularizer=self.regularizer) for _ in range(2)]
            self.norm = layers.BatchNormalization()

        def build(self, shape):
            if framework is keras:
                self.attention.build(shape, shape)
                for each in (*self.many, self.norm):
                    each.build(shape)

        def call(self, x):
            x = self.norm(self.attention(x, x))
            for each in self.many:
                x = each(x)
            return x

        def compute_output_shape(self, shape):
            return shape

        def get_config(self):
            given = framework.regularizers.serialize(self.regularizer)
            return {**super().get_config(), "regularizer": given}

    class Cell(layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.state_size = units

        def build(self, shape):
            self.k = self.add_weight(name="k", shape=(shape[-1], self.units))

        def call(self, x, states):
            x = x @ self.k + 0.1 * states[0]
            return x, [x]

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    def twice(x):
        return x * 2

    return {"Scale": Scale, "Block": Block, "Cell": Cell, "twice": twice}


def _in_a_sequential(framework, mine):
    scale = mine["Scale"](2.0, input_shape=(4,)) if framework is tf_keras else mine["Scale"](2.0)
    return framework.Sequential([scale, framework.layers.Dense(3, activation=mine["twice"])])


def _in_an_inner_model(framework, mine):
    start = framework.Input((4,))
    inside = mine["Scale"](3.0, name="two")(
        framework.layers.Dense(4)(mine["Scale"](name="one")(start))
    )
    begin = framework.Input((4,))
    return framework.Model(begin, framework.Model(start, inside)(begin))


def _with_layers_inside(framework, mine):
    return framework.Sequential([framework.Input((5, 4)), mine["Block"]("l2")])


def _in_wrappers(framework, mine):
    layers = framework.layers
    cell = layers.RNN(mine["Cell"](3), return_sequences=True)
    scale = layers.TimeDistributed(mine["Scale"]())
    return framework.Sequential([framework.Input((5, 4)), layers.Bidirectional(cell), scale])


MODELS = (_in_a_sequential, _in_an_inner_model, _with_layers_inside, _in_wrappers)


@pytest.fixture
def registered():
    """Register classes for a Keras, and forget them in the end."""
    kept = []

    def register(framework, mine):
        known = framework.saving.get_custom_objects()
        kept.append((known, {**known}))
        for each in mine.values():
            framework.saving.register_keras_serializable("mine")(each)

    yield register
    for known, before in reversed(kept):
        known.clear()
        known.update(before)


@pytest.mark.frameworks
@pytest.mark.sampled(4)
@pytest.mark.parametrize("is_registered", [False, True])
@pytest.mark.parametrize("ending", [".h5", ".keras"])
@pytest.mark.parametrize("make", MODELS)
def test_the_new_file_loads_with_them_and_is_equal(
    make, ending, is_registered, registered, tmp_path
):
    old_classes, new_classes = classes(tf_keras), classes(keras)
    if is_registered:
        registered(tf_keras, old_classes)
        registered(keras, new_classes)
    old = make(tf_keras, old_classes)
    old.set_weights([RNG.uniform(0.5, 1, size=each.shape) for each in old.get_weights()])
    old.save(tmp_path / f"old{ending}")
    made = convert(tmp_path / f"old{ending}", tmp_path / f"new{ending}", TARGET)
    assert made.refusals == ()
    given = {each.subject: new_classes[each.subject.rpartition(">")[2]] for each in made.needed}
    given = {} if is_registered else given
    new = keras.models.load_model(tmp_path / f"new{ending}", custom_objects=given)
    x = RNG.normal(size=(2, *old.input_shape[1:])).astype("float32")
    assert np.allclose(old(x), new(x), atol=1e-5)


def of_scale(name="s", inside=""):
    path = f"{name}/{inside}" if inside else name
    return {name: {f"{path}/{each}:0": np.ones(3, "float32") for each in ("w", "v")}}


def scaled(cls="Scale", **more):
    return sequential(input_layer(), {**layer(cls, "s", by=2.0), **more}, dense("d"))


def converted(tmp_path, model, weights, to="new.keras"):
    path = hdf5(tmp_path / "old.h5", model, {**weights, **of_dense("d")})
    return convert(path, tmp_path / to, TARGET)


def test_what_loading_takes_is_said_and_written_into_the_file(tmp_path):
    made = converted(tmp_path, scaled(), of_scale())
    (needed,) = made.needed
    assert (needed.place, needed.fault, needed.subject) == ("model/s", Fault.OWN_CLASS, "Scale")
    assert made.load_arguments == {"custom_objects": '{"Scale": Scale}'}
    assert metadata_in(tmp_path / "new.keras")["kdoctor"]["custom_objects"] == ["Scale"]
    kept = config_in(tmp_path / "new.keras")["config"]["layers"][1]
    assert kept["config"] == {"name": "s", "by": 2.0}
    assert "layers/scale/vars/1" in weights_in(tmp_path / "new.keras")


@pytest.mark.parametrize("cls", ["mine>Dense", "Custom>Dense"])
def test_a_class_of_the_users_that_is_called_as_one_of_keras_is_the_users(tmp_path, cls):
    made = converted(tmp_path, scaled(cls), of_scale())
    assert [each.subject for each in made.needed] == [cls]
    kept = config_in(tmp_path / "new.keras")["config"]["layers"][1]
    assert (kept["class_name"], kept["registered_name"]) == ("Dense", cls)


def test_weights_inside_of_a_layer_are_put_where_only_their_order_counts(tmp_path):
    weights = of_scale(inside="dense")
    assert "Convert to .h5" in converted(tmp_path, scaled(), weights).refusals[0].cure
    assert converted(tmp_path, scaled(), weights, "new.h5").is_written


def test_a_class_that_keras_had_once_is_none_of_the_users(tmp_path):
    made = converted(tmp_path, scaled("MaxoutDense"), of_scale())
    assert [each.fault for each in made.refusals] == [Fault.CLASS]


def test_code_names_what_is_to_be_imported(tmp_path):
    path = hdf5(tmp_path / "old.h5", scaled(), of_scale())
    made = write_code(path, tmp_path / "code.py", TARGET)
    text = (tmp_path / "code.py").read_text()
    assert "# TODO: import these, which are yours: Scale" in text
    assert 'Scale.from_config({"name": "s", "by": 2.0})' in text
    assert [each.subject for each in made.by_hand] == ["Scale"]


def test_the_verdict_names_a_registered_class_by_its_own_name(tmp_path):
    found = explained(hdf5(tmp_path / "old.h5", scaled("mine>Gate"), of_scale()), TARGET)
    (cure,) = [each.cure for each in found.obstacles if each.fault is Fault.OWN_CLASS]
    assert 'custom_objects={"mine>Gate": Gate}' in cure
    assert 'register_keras_serializable(package="mine")`' in cure
