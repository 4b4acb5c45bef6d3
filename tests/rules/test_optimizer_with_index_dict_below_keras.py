"""Optimizers for TensorFlow 2.11 to 2.15 right below Adam, SGD and the others."""

import pytest

from kdoctor.engine import fix, scan
from tests.rules.optimizer_steps import OWN, made, stepped

BELOW = """import tensorflow as tf


class Slow(tf.keras.optimizers.{base}):
    def __init__(self, learning_rate=0.1, pull=0.5, name="Slow", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.pull = pull

    def build(self, var_list):
        super().build(var_list)
        if hasattr(self, "_slow"):
            return
        self._slow = []
        for var in var_list:
            self._slow.append(self.add_variable_from_reference(var, "slow", initial_value=var))

    def update_step(self, gradient, variable):
        super().update_step(gradient, variable)
        slow = self._slow[self._index_dict[self._var_key(variable)]]
        slow.assign(slow + self.pull * (variable - slow))
        variable.assign(slow - 0.1 * tf.cast(self.learning_rate, variable.dtype))

    def get_config(self):
        return {{**super().get_config(), "pull": self.pull}}
"""
READING = """import tensorflow as tf


class Slow(tf.keras.optimizers.{base}):
    def update_step(self, gradient, variable):
        super().update_step(gradient, variable)
        held = self.{held}[self._index_dict[self._var_key(variable)]]
        held.assign(0.9 * held)
"""


def of_the_class(source):
    found = scan(["-"], stdin=source.encode()).findings
    (finding,) = [each for each in found if each.code == "KD524"]
    return finding


def mended(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    return result.files[0].after.decode()


@pytest.mark.frameworks
@pytest.mark.parametrize("base", OWN.values())
def test_a_class_below_one_of_keras_steps_to_the_same_weights(base):
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    source = BELOW.format(base=base)
    fixed = mended(source)
    assert "learning_rate)\n        slow = self._slow[self._get_variable_index" in fixed
    start = [np.full((4, 3), 0.5, "float32"), np.full(3, -0.5, "float32")]
    for arguments in ({"learning_rate": 0.05, "clipnorm": 0.5}, {"schedule": True}):
        old = made(source, tf_keras, "Slow", arguments)
        new = made(fixed, keras, "Slow", arguments)
        theirs = stepped(tf_keras, old, [tf.Variable(each) for each in start])
        ours = stepped(keras, new, [keras.Variable(each) for each in start])
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert not np.allclose(ours[0], start[0])


@pytest.mark.frameworks
def test_the_lists_of_variables_are_those_of_both():
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415

    from kdoctor.rules.idioms._optimizers.concrete_base import STATE_LISTS  # noqa: PLC0415

    held = [
        _lists(each.optimizers, each.Variable if each is keras else None)
        for each in (tf_keras, keras)
    ]
    for base, names in held[0].items():
        of_both = names & STATE_LISTS & held[1][base]
        assert of_both == names or (base, names - of_both) == ("Lion", {"momentums"})
    assert set().union(*held[0].values()) == STATE_LISTS


def _lists(optimizers, variable):
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    found = {}
    for base in OWN.values():
        optimizer = getattr(optimizers, base)(0.1)
        for switch in ("amsgrad", "centered"):
            if hasattr(optimizer, switch):
                setattr(optimizer, switch, True)
        if hasattr(optimizer, "momentum"):
            optimizer.momentum = 0.5
        make = variable or tf.Variable
        optimizer.build([make(np.ones(shape, "float32")) for shape in ((2, 3), (3,))])
        found[base] = {
            name
            for name, held in vars(optimizer).items()
            if isinstance(held, list) and len(held) == 2 and all(hasattr(e, "assign") for e in held)
        }
    return found


@pytest.mark.parametrize(("base", "held"), [("Adam", "_velocities"), ("SGD", "momentums")])
def test_the_state_of_the_base_is_found_by_the_index_of_the_variable(base, held):
    fixed = mended(READING.format(base=base, held=held))
    assert f"held = self.{held}[self._get_variable_index(variable)]" in fixed
    assert "super().update_step(gradient, variable, learning_rate)" in fixed


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (READING.format(base="Nadam", held="_u_product"), "it is a member of `Nadam` alone"),
        (READING.format(base="Lion", held="momentums"), "has no `momentums`"),
        (BELOW.format(base="Adam").replace("name=name, **", "decay=0.1, **"), "no counterpart"),
        (BELOW.format(base="Adam").replace("(gradient, variable)\n        s", "(*pair)\n        s"), "what is passed"),
        (BELOW.format(base="Adam").replace("        super().__init__(", "        self.a = 1\n        super().__init__(", 1), "before `super().__init__`"),
        (BELOW.format(base="Adam").replace("build_learning_rate(learning_rate)", "build_learning_rate(2.0)"), "_build_learning_rate"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named(source, why):
    finding = of_the_class(source)
    assert finding.fix is None
    assert why in finding.no_fix_because


def test_what_compiles_a_step_is_left_out():
    source = BELOW.format(base="Adam").replace("name=name, **", "jit_compile=False, **")
    assert "super().__init__(learning_rate=learning_rate, **kwargs)" in mended(source)
