"""Optimizers for TensorFlow 2.11 to 2.15: rewritten, they train as before; what stops it."""

import re
from pathlib import Path

import pytest

from kdoctor.engine import fix, scan
from tests.rules.optimizer_steps import OWN, made, stepped

HEAD = """import tensorflow as tf
from tensorflow import keras


class Mine(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, name="Mine", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
"""
STEP = """
    def update_step(self, gradient, variable):
        {body}
"""


def found(source):
    return scan(["-"], stdin=source.encode()).findings


def of_the_class(source):
    (finding,) = [each for each in found(source) if each.code == "KD524"]
    return finding


def mended(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode()


# -- what is told


def test_one_finding_tells_of_a_class_that_is_understood():
    source = HEAD + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
    assert [each.code for each in found(source)] == ["KD524"]
    assert of_the_class(source).fix is not None


def test_the_lines_are_told_as_well_where_something_is_not_understood():
    source = HEAD + STEP.format(body="self.log(variable.assign_sub(self.learning_rate * gradient))")
    source += "\n    def minimize(self, loss, var_list):\n        pass\n"
    assert "Keras 3 never calls it" in of_the_class(source).no_fix_because
    assert {"KD205", "KD516"} <= {each.code for each in found(source)}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("variable.assign_sub(self._deduplicate_sparse_grad([gradient])[0])", "_deduplicate"),
        ("elsewhere(variable)", "elsewhere(variable)"),
        ("elsewhere(self)", "elsewhere(self)"),
        ("super().update_step(gradient, variable)", "super().update_step"),
    ],
)
def test_a_statement_that_is_not_understood_is_named(body, place):
    source = HEAD + STEP.format(body=body) + "\nfrom somewhere import elsewhere\n"
    finding = of_the_class(source)
    assert finding.fix is None
    assert place in finding.no_fix_because


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("var, 'm', initial_value=self.start", "the shape of the initial value is not known"),
        ("*var", "what is passed"),
        ("var, name + '/m'", "Keras 3 allows no `/`"),
        ("var, 'm', initial_value=tf.zeros(shape)", "it reads a variable called `shape`"),
    ],
)
def test_a_variable_whose_start_is_not_understood_stops_the_rewrite(made, why):
    source = (
        HEAD
        + "        self.start = 0.5\n"
        + "\n    def build(self, var_list):\n        super().build(var_list)\n"
        + "        for var in var_list:\n            shape = var.shape\n"
        + f"            self.m = self.add_variable_from_reference({made})\n"
        + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
    )
    assert why in of_the_class(source).no_fix_because


def test_a_configuration_of_its_own_keeps_the_rate():
    source = (
        HEAD
        + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
        + "\n    def get_config(self):\n"
        + "        return {'learning_rate': self._serialize_hyperparameter(self._learning_rate)}\n"
    )
    assert "it does not start from that of the base class" in of_the_class(source).no_fix_because


@pytest.mark.parametrize(
    "config",
    [
        "config.update(learning_rate=self._serialize_hyperparameter(self._learning_rate), x=1)",
        "config.update({'learning_rate': self._serialize_hyperparameter(self._learning_rate)})",
        "config['learning_rate'] = self._serialize_hyperparameter(self._learning_rate)",
        "config = dict(config, learning_rate=float(self.learning_rate.numpy()))",
    ],
)
def test_the_base_class_tells_the_rate_in_the_configuration(config):
    source = HEAD + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
    source += "\n    def get_config(self):\n        config = super().get_config()\n"
    fixed = mended(source + f"        {config}\n        return config\n")
    rest = fixed[fixed.index("def get_config") :]
    assert "learning_rate" not in rest


def test_a_number_is_a_variable_without_a_shape():
    source = (
        HEAD
        + "\n    def build(self, var_list):\n        super().build(var_list)\n"
        + "        self.m = [self.add_variable_from_reference(v, 'm', initial_value=1.5)"
        + " for v in var_list]\n"
        + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
    )
    assert "shape=(), dtype=v.dtype" in mended(source)


def test_the_average_of_the_weights_makes_it_unsafe():
    source = HEAD + STEP.format(body="variable.assign_sub(self.learning_rate * gradient)")
    reason = of_the_class(source + "\nmine = Mine(use_ema=True)\n").fix.unsafe_because
    assert "the average starts" in reason


@pytest.mark.frameworks
def test_what_only_keras_2_had_is_told_apart():
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415

    from kdoctor.rules.idioms._optimizers.names import OF_2_11  # noqa: PLC0415

    old = type("Mine", (tf_keras.optimizers.Optimizer,), {})("old")
    new = type("Mine", (keras.optimizers.Optimizer,), {})(0.1)
    old._build_index_dict([])
    gone = {each for each in dir(old) if not hasattr(new, each) and not each.startswith("__")}
    assert {each for each in gone if "api_names" not in each} == OF_2_11


# -- as the optimizers of tf_keras are written


def source_of(name):
    """Return an optimizer of tf_keras as a program of somebody else's."""
    import tf_keras  # noqa: PLC0415

    place = Path(tf_keras.__file__).parent / "src" / "optimizers" / f"{name}.py"
    text = place.read_text()
    body = text[re.search(r"^class ", text, re.MULTILINE).start() :]
    body = re.sub(r"^\w+\.__doc__ = (?:.|\n)*", "", body, flags=re.MULTILINE)
    for old, new in (
        ("optimizer.Optimizer", "tf.keras.optimizers.Optimizer"),
        ("initializers.", "tf.keras.initializers."),
        ("learning_rate_schedule.", "tf.keras.optimizers.schedules."),
    ):
        body = re.sub(rf"\b{re.escape(old)}", new, body)
    return f"import tensorflow as tf\n\n\n{body}"


@pytest.mark.frameworks
@pytest.mark.parametrize("name", OWN)
def test_an_optimizer_of_tf_keras_steps_to_the_same_weights(name):
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    source = source_of(name)
    fixed = mended(source)
    start = [np.full((4, 3), 0.5, "float32"), np.full(3, -0.5, "float32")]
    for arguments in (
        {"learning_rate": 0.05, "weight_decay": 0.1, "clipnorm": 0.5},
        {"schedule": True, "global_clipnorm": 1.0},
    ):
        old = made(source, tf_keras, OWN[name], arguments)
        new = made(fixed, keras, OWN[name], arguments)
        theirs = stepped(tf_keras, old, [tf.Variable(each) for each in start])
        ours = stepped(keras, new, [keras.Variable(each) for each in start])
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        assert not np.allclose(ours[0], start[0])
