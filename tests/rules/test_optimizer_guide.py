"""The optimizer that KD501 shows trains as Keras' own of the same formula does."""

import textwrap

import pytest

from kdoctor.rules import rule_by_code

pytestmark = pytest.mark.frameworks


def shown():
    """The class as it stands in the rule's documentation."""
    _, _, rest = rule_by_code("KD501").docs.partition("    class Momentum")
    code, _, _ = rest.partition("\nClipping")
    return textwrap.dedent(f"    class Momentum{code}")


def test_the_optimizer_that_is_shown_trains_as_stochastic_descent_with_momentum():
    keras = pytest.importorskip("keras")
    import numpy as np  # noqa: PLC0415

    namespace = {"keras": keras}
    exec(shown(), namespace)  # noqa: S102 - the project's own documentation
    made = namespace["Momentum"]

    def trained(optimizer):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(optimizer, "mse")
        x, y = np.arange(8.0).reshape(4, 2), np.ones((4, 1))
        model.fit(x, y, verbose=0, epochs=3, shuffle=False)
        return model.get_weights()

    ours, theirs = trained(made(0.01)), trained(keras.optimizers.SGD(0.01, momentum=0.9))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert made.from_config(made(momentum=0.5).get_config()).momentum == 0.5
