"""The optimizers that KD512 shows, and KD511 names it for: they train as they should."""

import textwrap

import pytest

from kdoctor.rules import rule_by_code

pytestmark = pytest.mark.frameworks


def shown(name):
    """The class as it stands in the rule's documentation."""
    _, found, rest = rule_by_code("KD512").docs.partition(f"    class {name}")
    assert found
    lines = []
    for line in f"{found}{rest}".splitlines():
        if line and not line.startswith("    "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines))


def made(name):
    keras = pytest.importorskip("keras")
    namespace = {"keras": keras}
    exec(shown(name), namespace)  # noqa: S102 - the project's own documentation
    return namespace[name]


def trained(optimizer, epochs=3):
    import keras  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(optimizer, "mse")
    x, y = np.arange(8.0).reshape(4, 2), np.ones((4, 1))
    model.fit(x, y, verbose=0, epochs=epochs, shuffle=False)
    return model.get_weights()


def test_who_reads_of_slots_is_sent_to_the_class_that_is_shown():
    assert "kdoctor explain KD512" in rule_by_code("KD511").docs


def test_the_optimizer_that_is_shown_trains_as_stochastic_descent_with_momentum():
    keras = pytest.importorskip("keras")
    import numpy as np  # noqa: PLC0415

    momentum = made("Momentum")
    ours, theirs = trained(momentum(0.01)), trained(keras.optimizers.SGD(0.01, momentum=0.9))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert momentum.from_config(momentum(momentum=0.5).get_config()).momentum == 0.5


def test_the_wrapper_that_is_shown_goes_half_the_way_back_when_its_period_is_over():
    keras = pytest.importorskip("keras")
    import numpy as np  # noqa: PLC0415

    lookahead = made("Lookahead")
    start = trained(keras.optimizers.SGD(0.0), epochs=1)
    for epochs in (1, 2, 3):
        ours = trained(lookahead(keras.optimizers.SGD(0.01), period=3), epochs)
        plain = trained(keras.optimizers.SGD(0.01), epochs)
        for one, fast, slow in zip(ours, plain, start, strict=True):
            wanted = fast if epochs < 3 else (fast + slow) / 2
            np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=1e-6)
