"""The locally connected layer that KD102 shows gives what that of Keras 2 gave, weight by weight."""

import textwrap

import numpy as np
import pytest

from kdoctor.rules import rule_by_code

pytestmark = pytest.mark.frameworks


def shown():
    """The class as it stands in the rule's documentation."""
    import keras  # noqa: PLC0415

    _, found, rest = rule_by_code("KD102").docs.partition("    class LocallyConnected2D")
    source = textwrap.dedent(f"{found}{rest}".partition("\n`LocallyConnected1D")[0])
    namespace = {"keras": keras}
    exec(source, namespace)  # noqa: S102 - the project's own documentation
    return namespace["LocallyConnected2D"]


def with_weights_of(old, inputs, outputs):
    """A model of these, with weights drawn anew for both sides."""
    import keras  # noqa: PLC0415

    drawn = np.random.default_rng(1)
    old.set_weights([drawn.normal(size=each.shape) for each in old.get_weights()])
    model = keras.Model(inputs, outputs)
    model.set_weights(old.get_weights())
    return model


@pytest.mark.parametrize(
    ("size", "strides"), [((2, 3), (1, 1)), ((3, 3), (2, 2)), ((1, 2), (2, 1))]
)
def test_the_layer_gives_what_the_old_one_gave(size, strides):
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    x = np.random.default_rng(0).normal(size=(2, 7, 6, 3)).astype("float32")
    old = tf_keras.layers.LocallyConnected2D(4, size, strides, activation="tanh")
    old.build(x.shape)
    inputs = keras.Input(x.shape[1:])
    outputs = shown()(4, size, strides, activation="tanh")(inputs)
    model = with_weights_of(old, inputs, outputs)

    np.testing.assert_allclose(model.predict(x, verbose=0), old(x), rtol=1e-5, atol=1e-5)


def test_along_one_axis_it_is_the_same_with_one_column():
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    x = np.random.default_rng(0).normal(size=(2, 7, 3)).astype("float32")
    old = tf_keras.layers.LocallyConnected1D(4, 3)
    old.build(x.shape)
    inputs = keras.Input(x.shape[1:])
    outputs = shown()(4, (3, 1))(inputs[:, :, None])[:, :, 0]
    expected = old.get_weights()
    new = keras.Model(inputs, outputs)
    new.set_weights([expected[0], expected[1][:, None]])

    np.testing.assert_allclose(new.predict(x, verbose=0), old(x), rtol=1e-5, atol=1e-5)
